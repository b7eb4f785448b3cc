/** Reads the stream of one model call: emits its text as deltas, and builds the message for the history. */
import type { AssistantMessage, ToolCall } from "../messages/message.ts";
import { newId } from "../platform/new-id.ts";
import type { CallEvent } from "../providers/call/model-route.ts";
import type { Fault } from "../providers/fault.ts";
import type { FinishReason, ModelEvent, TokenTrace, Usage } from "../providers/wire/wire.ts";
import type { ToolKind } from "../tools/tool.ts";
import { interruptionOf } from "./cancellation.ts";
import type { Notifier } from "./notifier.ts";

export type ModelAnswer =
  | {
      readonly ok: true;
      readonly message: AssistantMessage;
      readonly reason: FinishReason;
      readonly usage: Usage | undefined;
      readonly tokens?: TokenTrace;
    }
  | { readonly ok: false; readonly fault: Fault };

/** Receives the tool calls of an answer while it still streams. */
export type CallSink = {
  /** Adds a complete call, and returns it as it enters the history. */
  add(call: ToolCall): ToolCall;
  kindOf(name: string): ToolKind;
  /** True while a call of this name may repeat one that ran in an earlier attempt. */
  mayRepeat(name: string): boolean;
  /** Drops all calls that have not started, because the answer begins again. */
  restart(): void;
};

/**
 * Reads the stream to its end, and shows its text under `messageId`. After a cancel it throws the signal's reason and
 * keeps nothing.
 */
export async function readAnswer(
  events: AsyncIterable<CallEvent>,
  notify: Notifier,
  sink: CallSink,
  messageId: string,
): Promise<ModelAnswer> {
  const reader = new AnswerReader(notify, sink, messageId);
  for await (const event of events) {
    if (event.type === "fault") return { ok: false, fault: event.fault };
    if (event.type === "finish") return reader.answer(event);
    reader.read(event);
  }
  throw new Error("The model's stream ended without its last event."); // callModel ends each stream with a finish or a fault
}

type Finish = Extract<ModelEvent, { type: "finish" }>;

const REFUSED = "Refused by the provider.";

class AnswerReader {
  readonly #notify: Notifier;
  readonly #sink: CallSink;
  readonly #shownText: ShownText;
  readonly #shownReasoning: ShownText;
  /** Ids of calls that were announced and are not complete yet. */
  readonly #announced = new Set<string>();
  readonly #calls = new Map<number, ToolCall>();
  #text = "";
  #reasoning = "";

  constructor(notify: Notifier, sink: CallSink, messageId: string) {
    this.#notify = notify;
    this.#sink = sink;
    this.#shownText = new ShownText(messageId, notify.streamDelta, REPLACED);
    this.#shownReasoning = new ShownText(messageId, notify.reasoning, "");
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
        if (!this.#sink.mayRepeat(event.name)) this.#announce(event.id, event.name);
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
      case "recast":
        this.#recast(event.as);
        break;
      case "tool-call-delta":
      case "alive":
        break;
    }
  }

  answer({ reason, usage, reasoningDetails: details, origin, tokens, isSilent }: Finish): ModelAnswer {
    this.#shownText.end();
    // The map has the order of completion; the history needs the order of the stream.
    const calls = [...this.#calls].sort(([first], [second]) => first - second).map(([, call]) => call);
    const message: AssistantMessage = {
      role: "assistant",
      content: this.#text === "" ? null : this.#text,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(this.#reasoning !== "" && { reasoning: this.#reasoning }),
      ...(details !== undefined && details.length > 0 && { reasoning_details: details }),
      ...(origin !== undefined && { origin }),
      // Only people read the provider's explanation: the refused prompt and its answer leave the conversation.
      ...(isSilent && { unfinished: REFUSED }),
    };
    return { ok: true, message, reason, usage, ...(tokens && { tokens }) };
  }

  /** Shown text stays. The rest of the answer becomes a separate message. */
  #recast(as: "reasoning" | "text"): void {
    this.#reasoning = as === "reasoning" ? this.#reasoning + this.#text : "";
    if (as === "text") return;
    this.#text = "";
    this.#shownText.beginMessage();
  }

  #announce(id: string, name: string): void {
    this.#announced.add(id);
    this.#notify.toolGen({ callId: id, name, kind: this.#sink.kindOf(name) });
  }

  #endCall(index: number, call: ToolCall): void {
    const added = this.#sink.add(call);
    this.#calls.set(index, added);
    this.#announced.delete(call.id);
  }

  #restart(): void {
    this.#sink.restart();
    for (const callId of this.#announced) this.#notify.toolProgress({ type: "dropped", callId });
    this.#announced.clear();
    this.#calls.clear();
    this.#text = "";
    this.#reasoning = "";
    this.#shownText.restart();
    this.#shownReasoning.restart();
  }
}

/** Text after an answer that broke off, when the next attempt gives another one. */
const REPLACED = "\n\n[This answer broke off. Another one follows.]";

type Show = (event: { readonly text: string; readonly messageId: string }) => void;

/** Shows the text of an answer, without the part that another attempt repeats. */
class ShownText {
  readonly #show: Show;
  readonly #mark: string;
  #messageId: string;
  #shown = "";
  /** Text of the new attempt while it repeats the shown text; otherwise undefined. */
  #repeated: string | undefined;

  /** `mark` follows a text that another answer replaces. */
  constructor(messageId: string, show: Show, mark: string) {
    this.#messageId = messageId;
    this.#show = show;
    this.#mark = mark;
  }

  push(text: string): void {
    if (this.#repeated === undefined) {
      this.#shown += text;
      this.#show({ text, messageId: this.#messageId });
      return;
    }
    this.#repeated += text;
    if (this.#shown.startsWith(this.#repeated)) return;
    if (!this.#repeated.startsWith(this.#shown)) {
      this.#replace(this.#repeated);
      return;
    }
    const unseen = this.#repeated.slice(this.#shown.length);
    this.#shown = this.#repeated;
    this.#repeated = undefined;
    this.#show({ text: unseen, messageId: this.#messageId });
  }

  /** Ends the answer. An answer shorter than the shown text is a different answer. */
  end(): void {
    if (this.#repeated !== undefined && this.#repeated !== this.#shown) this.#replace(this.#repeated);
  }

  /** Marks the shown text, and shows a different answer as a new message. */
  #replace(text: string): void {
    if (this.#mark !== "") this.#show({ text: this.#mark, messageId: this.#messageId });
    this.#messageId = newId();
    this.#shown = text;
    this.#repeated = undefined;
    if (text !== "") this.#show({ text, messageId: this.#messageId });
  }

  restart(): void {
    if (this.#shown !== "") this.#repeated = "";
  }

  /** Further text is a new message. */
  beginMessage(): void {
    if (this.#shown !== "") this.#messageId = newId();
    this.#shown = "";
    this.#repeated = undefined;
  }
}

/** Part of a turn's end that explains why an answer was cut off. */
type CutOff = { readonly stopReason: string; readonly fault?: Fault };

/** The shown part of an answer that has not entered the history yet. It is kept when the answer is cut off. */
export class PartialAnswer {
  #text = "";
  #reasoning = "";

  /** Returns a notifier that remembers the text it shows. */
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

  /** Forgets the text, because the answer has entered the history. */
  clear(): void {
    this.#text = "";
    this.#reasoning = "";
  }

  /** Message for the history, with the reason of the cut-off. Undefined after a complete answer. */
  cutOffBy({ stopReason, fault }: CutOff, signal: AbortSignal): AssistantMessage | undefined {
    if (fault === undefined && stopReason !== "cancelled") return undefined;
    const [text, reasoning] = [this.#text, this.#reasoning];
    this.clear();
    if (text === "" && reasoning === "" && fault === undefined) return undefined;
    const interruption = interruptionOf(signal);
    const stopped = interruption === undefined ? "Stopped." : `Interrupted: ${interruption}.`;
    return {
      role: "assistant",
      content: text === "" ? null : text,
      ...(reasoning !== "" && { reasoning }),
      unfinished: fault?.message ?? stopped,
    };
  }
}
