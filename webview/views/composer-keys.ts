/** What the keys do in the composer. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";

export type KeyAction = "next" | "previous" | "complete" | "send" | "send-now" | "queue" | "stop";

export type Typing = {
  readonly running: boolean;
  readonly draft: string;
  /** The command that would complete what is typed. */
  readonly command: AvailableCommand | undefined;
  /** Messages wait above the composer. */
  readonly hasQueue: boolean;
};

/** What a key means; undefined when it is only typing. */
export function keyAction(event: KeyboardEvent, typing: Typing): KeyAction | undefined {
  // While an input method composes, Enter and Escape are its own.
  if (event.isComposing) return undefined;
  const { running, command } = typing;
  switch (event.key) {
    case "ArrowDown":
      return command && "next";
    case "ArrowUp":
      return command ? "previous" : onArrowUp(typing);
    case "Tab":
      return command && "complete";
    case "Enter":
      return onEnter(event, typing);
    case "Escape":
      return running ? "stop" : undefined;
    default:
      return undefined;
  }
}

/** In an empty composer the caret has nowhere to go up to but the queue. */
function onArrowUp({ hasQueue, draft }: Typing): KeyAction | undefined {
  return hasQueue && draft === "" ? "queue" : undefined;
}

function onEnter({ shiftKey, ctrlKey, metaKey }: KeyboardEvent, { command, draft }: Typing): KeyAction | undefined {
  if (shiftKey) return undefined;
  if (ctrlKey || metaKey) return "send-now";
  // A command that is there already is to be sent, not completed.
  const completes = command !== undefined && draft.trim() !== `/${command.name}`;
  return completes ? "complete" : "send";
}
