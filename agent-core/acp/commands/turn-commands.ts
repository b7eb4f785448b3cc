/** /stop, /steer and /queue. While a prompt runs, `PromptRunner` lets the first two act at once. */
import type { Command } from "./command.ts";

export const stop: Command = {
  name: "stop",
  description: "Stop the running turn",
  run: () => "Nothing is running.",
};

export const steer: Command = {
  name: "steer",
  description: "Send a message into the running turn",
  hint: "message",
  run: sendAsPrompt,
};

export const queue: Command = {
  name: "queue",
  description: "Send a message after the running turn",
  hint: "message",
  run: sendAsPrompt,
};

/** Without a running turn, the message is an ordinary prompt. */
function sendAsPrompt(message: string): ReturnType<Command["run"]> {
  return message === "" ? "Add a message after the command." : { ask: message };
}
