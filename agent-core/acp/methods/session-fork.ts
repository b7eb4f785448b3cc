import * as z from "zod";
import { announceCommands } from "../greet.ts";
import type { HermesForkMeta } from "../meta/sessions.ts";
import { modeState } from "../modes.ts";
import { sessionPlace } from "../session-place.ts";
import type { Method } from "./method.ts";

/** Not in the stable part of ACP yet, so its library offers it no name. */
const SESSION_FORK = "session/fork";

const params = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  additionalDirectories: z.array(z.string()).exactOptional(),
  _meta: z.unknown().optional(),
});

const forkMeta = z.object({ hermes: z.object({ position: z.int().min(0).exactOptional() }) });

export const method: Method = {
  register(app, server) {
    app.onRequest(SESSION_FORK, params, async ({ params: { sessionId, ...place }, client }) => {
      const fork: HermesForkMeta = forkMeta.safeParse(place._meta).data?.hermes ?? {};
      const session = await server.forkSession(client, sessionPlace(place), { id: sessionId, ...fork });
      announceCommands(session);
      return { sessionId: session.id, modes: modeState(session.mode), configOptions: session.configOptions };
    });
  },
};
