import * as z from "zod";
import { editorModelMethods, type HermesChat, type HermesChatDelta } from "../../agent-core/protocol/editor-models.ts";
import { notify } from "../../agent-core/protocol/method.ts";
import { askEditorModel } from "../models/editor-models.ts";
import type { ClientMethod } from "./client-method.ts";

const text = z.object({ type: z.literal("text"), text: z.string() });
const image = z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) });
const call = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const params: z.ZodType<HermesChat> = z.object({
  chatId: z.string(),
  model: z.string(),
  messages: z.array(
    z.discriminatedUnion("role", [
      z.object({ role: z.literal("system"), content: z.string() }),
      z.object({ role: z.literal("user"), content: z.union([z.string(), z.array(z.union([text, image]))]) }),
      z.object({
        role: z.literal("assistant"),
        content: z.string().nullable(),
        tool_calls: z.array(call).exactOptional(),
      }),
      z.object({ role: z.literal("tool"), tool_call_id: z.string(), content: z.string() }),
    ]),
  ),
  tools: z.array(
    z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
  ),
});

export const clientMethod: ClientMethod = {
  register(app) {
    app.onRequest(editorModelMethods.chat.name, params, ({ params: chat, agent, signal }) => {
      const send = (part: HermesChatDelta["parts"][number]): void => {
        const delta: HermesChatDelta = { chatId: chat.chatId, parts: [part] };
        notify(agent, editorModelMethods.delta, delta);
      };
      return askEditorModel(chat, send, signal);
    });
  },
};
