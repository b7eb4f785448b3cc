/** What people have seen of an answer that has not entered the history yet: it stays when the answer is broken off. */
import type { AssistantMessage } from "../messages/message.ts";
import type { Notifier } from "./notifier.ts";
import type { TurnEnd } from "./turn.ts";

export class SeenAnswer {
  #text = "";
  #reasoning = "";

  /** The same notifier; what it shows of an answer is remembered. */
  watching(told: Notifier): Notifier {
    return {
      ...told,
      streamDelta: (event) => {
        this.#text += event.text;
        told.streamDelta(event);
      },
      reasoning: (event) => {
        this.#reasoning += event.text;
        told.reasoning(event);
      },
    };
  }

  /** It has entered the history. */
  clear(): void {
    this.#text = "";
    this.#reasoning = "";
  }

  /** As the session keeps it, with why it was broken off; undefined when there is nothing to keep. */
  brokenBy(end: TurnEnd): AssistantMessage | undefined {
    const isError = end.stopReason === "error";
    if (!isError && end.stopReason !== "cancelled") return undefined;
    const [text, reasoning] = [this.#text, this.#reasoning];
    this.clear();
    if (text === "" && reasoning === "" && !isError) return undefined;
    return {
      role: "assistant",
      content: text === "" ? null : text,
      ...(reasoning !== "" && { reasoning }),
      unfinished: isError ? end.fault.message : "Stopped.",
    };
  }
}
