import { RequestError } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { steerMethod } from "../../protocol/conversation.ts";
import { paramsOf } from "../params-of.ts";
import { userMessage } from "../prompt-content.ts";
import type { Method } from "./method.ts";

const params = z.object({
  sessionId: z.string(),
  prompt: z
    .array(
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("text"), text: z.string() }),
        z.object({ type: z.literal("image"), mimeType: z.string(), data: z.string() }),
        z.object({ type: z.literal("resource_link"), uri: z.string(), name: z.string() }),
      ]),
    )
    .min(1),
});

export const method: Method = {
  register(app, server) {
    app.onRequest(steerMethod.name, paramsOf(params), ({ params: { sessionId, prompt } }) => {
      const taken = server.session(sessionId).agent.steer(userMessage(prompt));
      if (!taken) throw new RequestError(-32600, "No turn is running in this session; send a prompt instead.");
      return { queued: true as const };
    });
  },
};
