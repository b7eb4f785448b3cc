import * as z from "zod";
import type { IndexView } from "../../sessions/index/session-index.ts";
import { HERMES_SESSION_METHODS, type HermesSearch, type HermesSearchHits } from "../meta.ts";
import { snippetOf } from "../snippet.ts";
import type { Method } from "./method.ts";

const DEFAULT_LIMIT = 50;

const params = z.object({
  query: z.string().min(1),
  cwd: z.string().exactOptional(),
  limit: z.int().min(1).max(500).exactOptional(),
}) satisfies z.ZodType<HermesSearch>;

export const method: Method = {
  register(app, server) {
    app.onRequest(HERMES_SESSION_METHODS.search, params, ({ params: search }) =>
      server.index.ask((index) => ({ hits: hitsOf(index, search) })),
    );
  },
};

/** Sessions whose title has the words come first, then those with a message that has them, best first. */
function hitsOf(index: IndexView, { query, cwd, limit = DEFAULT_LIMIT }: HermesSearch): HermesSearchHits["hits"] {
  const titled = index.titled(query, cwd, limit).map(({ id }) => ({ id, hit: undefined }));
  const names = new Set(titled.map(({ id }) => id));
  const said = index
    .search({ query, except: "", roles: ["user", "assistant"] })
    .filter(({ sessionId }) => !names.has(sessionId))
    .map((hit) => ({ id: hit.sessionId, hit }));
  return [...titled, ...said]
    .flatMap(({ id, hit }) => {
      const session = index.find(id);
      if (session === undefined || (cwd !== undefined && session.cwd !== cwd)) return [];
      const { title, updatedAt, messageCount, costUsd } = session;
      return {
        sessionId: id,
        title,
        cwd: session.cwd,
        updatedAt: new Date(updatedAt).toISOString(),
        messages: messageCount,
        ...(costUsd !== null && { costUsd }),
        ...(hit !== undefined && { position: hit.position }),
        ...(hit === undefined ? { snippet: "", marks: [] } : snippetOf(hit.text, query)),
      };
    })
    .slice(0, limit);
}
