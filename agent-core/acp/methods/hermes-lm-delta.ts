import * as z from "zod";
import { editorModelMethods, type HermesChatDelta } from "../../protocol/editor-models.ts";
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
    app.onNotification(editorModelMethods.delta.name, params, ({ params: delta }) =>
      server.clientModels?.receive(delta),
    );
  },
};
