import * as z from "zod";
import type { HermesForkMeta } from "../../protocol/sessions.ts";
import { announceCommands } from "../greet.ts";
import { modeState } from "../modes.ts";
import { paramsOf } from "../params-of.ts";
import { sessionPlace } from "../session-place.ts";
import type { Method } from "./method.ts";

/** Not in the stable part of ACP yet, so its library offers it no name. */
const SESSION_FORK = "session/fork";

const params = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  additionalDirectories: z.array(z.string()).exactOptional(),
  _meta: z
    .looseObject({ hermes: z.looseObject({ position: z.int().min(0).exactOptional() }).exactOptional() })
    .nullable()
    .optional(),
});

export const method: Method = {
  register(app, server) {
    app.onRequest(SESSION_FORK, paramsOf(params), async ({ params: { sessionId, ...place }, client }) => {
      const { position }: HermesForkMeta = place._meta?.hermes ?? {};
      const session = await server.forkSession(client, sessionPlace(place), {
        id: sessionId,
        ...(position !== undefined && { position }),
      });
      announceCommands(session);
      return { sessionId: session.id, modes: modeState(session.mode), configOptions: session.configOptions };
    });
  },
};
