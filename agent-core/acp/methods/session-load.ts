import { methods } from "@zed-industries/agent-client-protocol";
import { readMeta } from "../../protocol/meta.ts";
import { HermesLoadMeta } from "../../protocol/sessions.ts";
import { earlierUpdate } from "../earlier-messages.ts";
import { announceCommands } from "../greet.ts";
import { modeState } from "../modes.ts";
import { replay } from "../replay.ts";
import { pageBefore } from "../replay-page.ts";
import { sessionPlace } from "../session-place.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.load, async ({ params, client }) => {
      const { session, stored } = await server.loadSession(client, sessionPlace(params), params.sessionId);
      const tail = readMeta(HermesLoadMeta, params._meta)?.tail;
      const { said, earlier } = pageBefore(stored.conversation.transcript, stored.conversation.next, tail);
      if (earlier !== null) session.send(earlierUpdate(earlier));
      await session.sendAll(replay(stored, said));
      if (stored.title !== undefined) session.send({ sessionUpdate: "session_info_update", title: stored.title });
      announceCommands(session);
      return { modes: modeState(session.mode), configOptions: session.configOptions };
    });
  },
};
