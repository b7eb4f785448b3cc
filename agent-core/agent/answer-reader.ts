/** One call of the model: its stream goes straight out as deltas; what remains is the message for the history. */

import { randomUUID } from "node:crypto";
import type { AssistantMessage, ToolCall } from "../messages/message.ts";
import type { CallEvent } from "../providers/call/call-model.ts";
import type { Fault } from "../providers/fault.ts";
import type { FinishReason, ModelEvent, Usage } from "../providers/wire/wire.ts";
import type { Notifier } from "./notifier.ts";

export type ModelAnswer =
  | {
      readonly ok: true;
      readonly message: AssistantMessage;
      readonly reason: FinishReason;
      readonly usage: Usage | undefined;
    }
  | { readonly ok: false; readonly fault: Fault };

/** Whoever runs the calls of an answer while it still streams. */
export type CallTaker = {
  /** Takes a complete call; gives it as it enters the history. */
  add(call: ToolCall): ToolCall;
  /** True while a call of this name may turn out to be one that ran in an earlier attempt. */
  mayRepeat(name: string): boolean;
  /** The answer begins again: whatever has not started is dropped. */
  restart(): void;
};

/**
 * Reads the stream to its end. `messageId` is what its text is shown under. Throws the signal's reason when the turn was
 * cancelled; nothing of the answer is kept then.
 */
export async function readAnswer(
  events: AsyncIterable<CallEvent>,
  notify: Notifier,
  taker: CallTaker,
  messageId: string,
): Promise<ModelAnswer> {
  const reader = new AnswerReader(notify, taker, messageId);
  for await (const event of events) {
    if (event.type === "fault") return { ok: false, fault: event.fault };
    if (event.type === "finish") return reader.answer(event);
    reader.read(event);
  }
  throw new Error("The model's stream ended without its last event."); // callModel promises one
}

type Finish = Extract<ModelEvent, { type: "finish" }>;

class AnswerReader {
  readonly #notify: Notifier;
  readonly #taker: CallTaker;
  readonly #shownText: ShownText;
  readonly #shownReasoning: ShownText;
  /** Ids of calls that were announced and are not complete. */
  readonly #announced = new Set<string>();
  readonly #calls = new Map<number, ToolCall>();
  #text = "";
  #reasoning = "";

  constructor(notify: Notifier, taker: CallTaker, messageId: string) {
    this.#notify = notify;
    this.#taker = taker;
    this.#shownText = new ShownText(messageId, notify.streamDelta);
    this.#shownReasoning = new ShownText(messageId, notify.reasoning);
  }

  read(event: Exclude<CallEvent, { type: "finish" | "fault" }>): void {
    switch (event.type) {
      case "text-delta":
        this.#text += event.text;
        this.#shownText.push(event.text);
        break;
      case "reasoning-delta":
        this.#reasoning += event.text;
        this.#shownReasoning.push(event.text);
        break;
      case "tool-call-start":
        if (!this.#taker.mayRepeat(event.name)) this.#announce(event.id, event.name);
        break;
      case "tool-call-end":
        this.#endCall(event.index, event.call);
        break;
      case "notice":
        this.#notify.status(event);
        break;
      case "restart":
        this.#restart();
        break;
      case "tool-call-delta":
      case "alive":
        break;
    }
  }

  answer({ reason, usage, reasoningDetails: details }: Finish): ModelAnswer {
    // Map keeps the order of completion; the history keeps the order in which the calls were written.
    const calls = [...this.#calls].sort(([first], [second]) => first - second).map(([, call]) => call);
    const message: AssistantMessage = {
      role: "assistant",
      content: this.#text === "" ? null : this.#text,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(this.#reasoning !== "" && { reasoning: this.#reasoning }),
      ...(details !== undefined && details.length > 0 && { reasoning_details: details }),
    };
    return { ok: true, message, reason, usage };
  }

  #announce(id: string, name: string): void {
    this.#announced.add(id);
    this.#notify.toolGen({ callId: id, name });
  }

  #endCall(index: number, call: ToolCall): void {
    const taken = this.#taker.add(call);
    this.#calls.set(index, taken);
    if (!this.#announced.delete(call.id) && taken.id === call.id) {
      this.#notify.toolGen({ callId: call.id, name: call.function.name });
    }
  }

  #restart(): void {
    this.#taker.restart();
    for (const callId of this.#announced) this.#notify.toolProgress({ type: "dropped", callId });
    this.#announced.clear();
    this.#calls.clear();
    this.#text = "";
    this.#reasoning = "";
    this.#shownText.restart();
    this.#shownReasoning.restart();
  }
}

type Show = (event: { readonly text: string; readonly messageId: string }) => void;

/** Shows the text of an answer, without the part that a repeated attempt says again. */
class ShownText {
  readonly #show: Show;
  #messageId: string;
  #shown = "";
  /** What another attempt has said while it says the same; undefined outside of that. */
  #repeated: string | undefined;

  constructor(messageId: string, show: Show) {
    this.#messageId = messageId;
    this.#show = show;
  }

  push(text: string): void {
    if (this.#repeated === undefined) {
      this.#shown += text;
      this.#show({ text, messageId: this.#messageId });
      return;
    }
    this.#repeated += text;
    if (this.#shown.startsWith(this.#repeated)) return;
    const said = this.#repeated;
    // Another answer than the one that broke off: it stands by itself, from its first word.
    const isAnother = !said.startsWith(this.#shown);
    if (isAnother) this.#messageId = randomUUID();
    const news = isAnother ? said : said.slice(this.#shown.length);
    this.#shown = said;
    this.#repeated = undefined;
    this.#show({ text: news, messageId: this.#messageId });
  }

  /** The answer begins again. */
  restart(): void {
    if (this.#shown !== "") this.#repeated = "";
  }
}

/** End of a turn, as far as it concerns an answer that was cut off. */
type CutOff = { readonly stopReason: string; readonly fault?: Fault };

/** The shown part of an answer that has not entered the history yet. It stays when the answer is cut off. */
export class PartialAnswer {
  #text = "";
  #reasoning = "";

  /** A notifier that remembers the text it shows. */
  watch(notify: Notifier): Notifier {
    return {
      ...notify,
      streamDelta: (event) => {
        this.#text += event.text;
        notify.streamDelta(event);
      },
      reasoning: (event) => {
        this.#reasoning += event.text;
        notify.reasoning(event);
      },
    };
  }

  /** The answer has entered the history. */
  clear(): void {
    this.#text = "";
    this.#reasoning = "";
  }

  /** The message for the history, with the reason of the cut-off. Undefined after a complete answer. */
  cutOffBy({ stopReason, fault }: CutOff): AssistantMessage | undefined {
    if (fault === undefined && stopReason !== "cancelled") return undefined;
    const [text, reasoning] = [this.#text, this.#reasoning];
    this.clear();
    if (text === "" && reasoning === "" && fault === undefined) return undefined;
    return {
      role: "assistant",
      content: text === "" ? null : text,
      ...(reasoning !== "" && { reasoning }),
      unfinished: fault?.message ?? "Stopped.",
    };
  }
}
