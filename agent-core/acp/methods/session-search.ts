import * as z from "zod";
import { type HermesSearch, type HermesSearchHits, sessionMethods } from "../../protocol/sessions.ts";
import type { FoundSession } from "../../sessions/index/search-messages.ts";
import { paramsOf } from "../params-of.ts";
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
    const { search } = sessionMethods;
    app.onRequest(
      search.name,
      paramsOf(params),
      async ({ params: { query, cwd, limit = DEFAULT_LIMIT } }): Promise<HermesSearchHits> => {
        const { value, building } = await server.index.ask("found", { query, cwd, limit });
        return { hits: value.map((found) => shownHit(found, query)), ...(building !== undefined && { building }) };
      },
    );
  },
};

function shownHit({ session, hit }: FoundSession, query: string): HermesSearchHits["hits"][number] {
  const { id, title, cwd, updatedAt, shownCount, costUsd } = session;
  return {
    sessionId: id,
    title,
    cwd,
    updatedAt: new Date(updatedAt).toISOString(),
    messages: shownCount,
    ...(costUsd !== null && { costUsd }),
    ...(hit === undefined ? { snippet: "", marks: [] } : { position: hit.position, ...snippetOf(hit.text, query) }),
  };
}
