import { homedir } from "node:os";
import { methods, RequestError } from "@zed-industries/agent-client-protocol";
import type { HermesListedSession, HermesListMeta } from "../../protocol/sessions.ts";
import type { Method } from "./method.ts";

/** Sessions on a page; the cursor of the next is the time and the id of the last. */
const PAGE = 50;
const CURSOR = /^(-?\d+(?:\.\d+)?)_(\w+)$/;

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.list, async ({ params }) => {
      const filter = { limit: PAGE + 1, cwd: params.cwd ?? undefined, after: placeOf(params.cursor) };
      const { value: found, building } = await server.index.ask("list", filter);
      const page = found.slice(0, PAGE);
      const last = found.length > PAGE ? page.at(-1) : undefined;
      return {
        sessions: page.map(({ id, cwd, title, updatedAt, shownCount, costUsd, source }) => {
          const hermes: HermesListedSession = {
            messages: shownCount,
            ...(source !== null && { source }),
            ...(costUsd !== null && { costUsd }),
          };
          return {
            sessionId: id,
            cwd: cwd === "" ? (params.cwd ?? homedir()) : cwd, // the line that told of it is damaged
            title,
            updatedAt: new Date(updatedAt).toISOString(),
            _meta: { hermes },
          };
        }),
        ...(last !== undefined && { nextCursor: `${last.updatedAt}_${last.id}` }),
        ...(building !== undefined && { _meta: { hermes: { building } satisfies HermesListMeta } }),
      };
    });
  },
};

/** Where the session stood, whatever became of it since. */
function placeOf(cursor: string | null | undefined): { readonly updatedAt: number; readonly id: string } | undefined {
  if (cursor == null) return undefined;
  const [, time, id] = CURSOR.exec(cursor) ?? [];
  if (time !== undefined && id !== undefined) return { updatedAt: Number(time), id };
  throw RequestError.invalidParams({ field: "cursor" }, "cursor: it is none of a page of session/list");
}
