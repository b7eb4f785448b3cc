/** The conversation: its channel, prompts, answers to what the agent asks. */
import { told } from "../told.ts";
import type { Actions } from "./actions.ts";

export const chatActions: Actions<
  | "ready"
  | "prompt"
  | "cancel"
  | "resend"
  | "fork-here"
  | "earlier"
  | "new-session"
  | "set-config"
  | "permission"
  | "answer"
> = {
  ready: (_message, { chat }) => {
    chat.queue.releaseAll();
    return chat.open();
  },
  prompt: async ({ text, now }, { chat }) => {
    if (text.trim() === "") return;
    await (now ? chat.promptNow(text) : chat.prompt(text));
  },
  cancel: (_message, { chat }) => chat.cancel(),
  resend: async ({ position, text }, { chat }) => {
    if (text.trim() === "") return;
    await chat.resend(position, text);
  },
  "fork-here": async ({ position, text }, { chat, panel }) => {
    const { sessionId } = chat;
    if (sessionId === undefined) return;
    await told("The session cannot be forked", async () => {
      panel.command({ kind: "open-session", sessionId: await chat.fork(sessionId, position) });
      panel.command({ kind: "compose", text });
    });
  },
  earlier: ({ before, all }, { chat }) => chat.earlier.show(before, all === true),
  "new-session": (_message, { chat }) => chat.newSession(),
  "set-config": ({ configId, value }, { chat }) => chat.setConfig(configId, value),
  permission: ({ requestId, optionId, reason }, { requests }) =>
    requests.answer(requestId, { kind: "option", optionId, ...(reason !== undefined && { reason }) }),
  answer: ({ requestId, text }, { requests }) => requests.answer(requestId, { kind: "text", text }),
};
