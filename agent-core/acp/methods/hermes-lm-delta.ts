import * as z from "zod";
import { type HermesChatDelta, LM_DELTA } from "../meta/editor-models.ts";
import type { Method } from "./method.ts";

const params: z.ZodType<HermesChatDelta> = z.object({
  chatId: z.string(),
  parts: z.array(
    z.discriminatedUnion("type", [
      z.object({ type: z.enum(["text", "reasoning"]), text: z.string() }),
      z.object({ type: z.literal("call"), callId: z.string(), name: z.string(), input: z.unknown() }),
    ]),
  ),
});

export const method: Method = {
  register(app, server) {
    app.onNotification(LM_DELTA, params, ({ params: delta }) => server.clientModels?.receive(delta));
  },
};
