import { methods } from "@zed-industries/agent-client-protocol";
import type { HermesListedSession, HermesListMeta } from "../meta/sessions.ts";
import type { Method } from "./method.ts";

/** Sessions on a page; the cursor of the next is the id of the last. */
const PAGE = 50;

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.list, async ({ params }) => {
      const filter = { limit: PAGE + 1, cwd: params.cwd ?? undefined, after: params.cursor ?? undefined };
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
          return { sessionId: id, cwd, title, updatedAt: new Date(updatedAt).toISOString(), _meta: { hermes } };
        }),
        ...(last !== undefined && { nextCursor: last.id }),
        ...(building !== undefined && { _meta: { hermes: { building } satisfies HermesListMeta } }),
      };
    });
  },
};
