/**
 * Finds thoughts and tool calls that a model wrote into its text. A fold after the wire: text passes at once, except
 * while it may be the beginning of a mark. A call counts only at the end of an answer without calls of its own.
 */
import { newCallId } from "../wire/partial-tool-calls.ts";
import { WRITTEN_CALLS, type WrittenMarks, writtenThoughtDetail } from "../wire/reasoning-places.ts";
import type { ModelEvent, ToolSchema } from "../wire/wire.ts";
import { type CallStart, callStart, readWrittenCalls, type WrittenCall } from "./written-calls.ts";

/** Marks around thoughts, by the models that write them: Qwen, DeepSeek, MiniMax · others · Gemini · Mistral · Kimi. */
const THOUGHT_MARKS: readonly WrittenMarks[] = [
  { open: "<think>", close: "</think>" },
  { open: "<thinking>", close: "</thinking>" },
  { open: "<thought>", close: "</thought>" },
  { open: "[THINK]", close: "[/THINK]" },
  { open: "◁think▷", close: "◁/think▷" },
];
/** End of a thought whose beginning was in the prompt. */
const LONE_CLOSE = "</think>";
/** Header of a message of gpt-oss, where a server passes its tokens on; one with a recipient is a call. */
const HEADER = /^(?:<\|start\|>assistant)?<\|channel\|>(\w+)<\|message\|>/;
const OPEN_HEADER = /^(?:<\|start\|>\w*)?(?:<\|channel\|>\w*)?(?:<(?:\|\w*\|?)?)?$/;
/** Ends of a message of gpt-oss. */
const MESSAGE_ENDS = ["<|end|>", "<|return|>"] as const;
/** Characters with which a mark begins; words are marks at the start of a line. */
const MARK_START = /[<[{`◁✿]|^[>&\w]/gm;
/** Longest beginning of a line that is remembered. A fence and a blank line fit in it. */
const LINE_CHARS = 200;
/** Line that cites what follows: a quotation, an item of a list, a comment, a row of a table, and nothing else yet. */
const CITED = /^\s*(?:(?:>(?!>)|[-*+]\s|\d{1,3}[.)]\s|\/\/|#|\|)\s*)+$/;

export type WrittenOptions = {
  /** Offered tools; empty when calls are only text. */
  readonly tools: readonly ToolSchema[];
  readonly allowsBareJson: boolean;
  /** Marks of a thought that begins with the answer, since the prompt holds the opening mark. Default: none. */
  readonly openThought?: WrittenMarks | undefined;
};

type Finish = Extract<ModelEvent, { type: "finish" }>;
/** `start`: nothing but space and thoughts yet. `call`: everything is kept for the end. */
type Phase = "start" | "thought" | "text" | "call";

export class WrittenParts {
  readonly #options: WrittenOptions;
  readonly #lines = new LineState();
  #phase: Phase = "start";
  #held = "";
  /** Marks of the current or the last thought. */
  #marks: WrittenMarks | undefined;
  /** End of the current thought, when its marks do not say it. */
  #close: string | undefined;
  #hasHeader: boolean = false;
  /** Text of a thought that is only presumed; undefined otherwise. */
  #presumed: string | undefined;
  #hasThought: boolean = false;
  #hasOwnReasoning: boolean = false;
  #ownCalls = 0;
  /** All reasoning: a model may think on into its call. */
  #reasoning = "";
  #hasText: boolean = false;

  constructor(options: WrittenOptions) {
    this.#options = options;
    if (options.openThought === undefined) return;
    this.#phase = "thought";
    this.#presumed = "";
    this.#marks = options.openThought;
  }

  take(event: Exclude<ModelEvent, { type: "finish" }>): readonly ModelEvent[] {
    if (event.type === "tool-call-start") this.#ownCalls += 1;
    const events = event.type === "text-delta" ? this.#text(event.text) : this.#other(event);
    for (const read of events) {
      if (read.type === "reasoning-delta") this.#reasoning += read.text;
      else if (read.type === "text-delta") this.#hasText ||= read.text.trim() !== "";
    }
    return events;
  }

  /** Text that waits for its continuation, when the stream breaks. */
  interrupt(): readonly ModelEvent[] {
    const held = this.#held;
    this.#held = "";
    return this.#phase === "thought" && held !== "" ? [{ type: "reasoning-delta", text: held }] : textDelta(held);
  }

  finish(event: Finish): readonly ModelEvent[] {
    const isBlank = this.#phase === "start" && this.#marks !== undefined;
    const held = isBlank ? "" : this.#held;
    this.#held = "";
    const calls = this.#callsAtEnd(held, event);
    if (calls !== undefined) return [...calls.flatMap(callEvents), this.#withMarks(writtenEnd(event))];
    if (this.#phase === "thought") return this.#endInThought(held, event);
    const hasUnreadCall = this.#phase === "call" && this.#ownCalls === 0;
    return [...textDelta(held), this.#withMarks(hasUnreadCall ? { ...event, hasUnreadCall } : event)];
  }

  /** Calls that end the answer, or its reasoning when nothing else follows. */
  #callsAtEnd(held: string, { reason }: Finish): readonly WrittenCall[] | undefined {
    if (this.#ownCalls > 0) return undefined;
    if (this.#phase === "call") return readWrittenCalls(held, this.#options.tools, reason === "length");
    if (reason === "length") return undefined;
    if (this.#phase === "thought") return this.#callsIn(this.#reasoning + held);
    return this.#hasText || held.trim() !== "" ? undefined : this.#callsIn(this.#reasoning);
  }

  #callsIn(reasoning: string): readonly WrittenCall[] | undefined {
    const { tools, allowsBareJson } = this.#options;
    const lines = new LineState();
    let from = 0;
    for (const { index: at, 0: first } of tools.length === 0 ? [] : reasoning.matchAll(MARK_START)) {
      lines.read(reasoning.slice(from, at));
      from = at;
      if (lines.isQuoted || !lines.mayStart(first)) continue;
      const rest = reasoning.slice(at);
      const isCall = lines.callStart(rest, tools, allowsBareJson) === "call";
      const calls = isCall ? readWrittenCalls(rest, tools) : undefined;
      if (calls !== undefined) return calls;
    }
    return undefined;
  }

  /** Reasoning of the server's own means that the text holds none. */
  #other(event: ModelEvent): readonly ModelEvent[] {
    if (event.type !== "reasoning-delta") return [event];
    this.#hasOwnReasoning = true;
    if (this.#presumed === undefined) return [event];
    this.#presumed = undefined;
    this.#marks = undefined;
    this.#phase = "start";
    return [event];
  }

  #text(piece: string): readonly ModelEvent[] {
    if (this.#phase === "call") {
      this.#held += piece;
      return [];
    }
    const events: ModelEvent[] = [];
    let rest: string | undefined = this.#held + piece;
    this.#held = "";
    while (rest !== undefined) rest = this.#step(rest, events);
    return events;
  }

  /** Reads from the start of `text`. Returns the text after a mark; undefined when all was read or held. */
  #step(text: string, events: ModelEvent[]): string | undefined {
    if (this.#phase === "thought") return this.#inThought(text, events);
    return this.#phase === "start" ? this.#begin(text) : this.#inText(text, events);
  }

  /** Looks for the opening mark of a thought at the start of the answer. Returns the text after it, or all of it. */
  #begin(text: string): string | undefined {
    const trimmed = text.trimStart();
    const header = HEADER.exec(trimmed);
    if (header !== null) return this.#beginMessage(trimmed, header);
    const marks = this.#hasOwnReasoning ? undefined : THOUGHT_MARKS.find(({ open }) => trimmed.startsWith(open));
    if (marks !== undefined) {
      this.#phase = "thought";
      this.#marks = marks;
      return trimmed.slice(marks.open.length);
    }
    const mayThink = !this.#hasOwnReasoning && THOUGHT_MARKS.some(({ open }) => open.startsWith(trimmed));
    // Much space is part of the text, and holding it longer costs time.
    if (trimmed === "" ? text.length <= LINE_CHARS : mayThink || OPEN_HEADER.test(trimmed)) {
      this.#held = text;
      return undefined;
    }
    this.#phase = "text";
    return this.#marks === undefined ? text : trimmed;
  }

  #beginMessage(text: string, [header, channel]: RegExpExecArray): string {
    this.#hasHeader = true;
    this.#phase = channel === "analysis" ? "thought" : "text";
    this.#close = MESSAGE_ENDS[0];
    return text.slice(header.length);
  }

  #inThought(text: string, events: ModelEvent[]): string | undefined {
    const close = this.#close ?? this.#marks?.close ?? LONE_CLOSE;
    const end = text.indexOf(close);
    const thought = text.slice(0, end < 0 ? text.length - openEnd(text, close) : end);
    // Qwen writes a blank thought when it does not think.
    const isBlank = !this.#hasThought && thought.trim() === "" && thought.length < LINE_CHARS;
    if (thought !== "" && !isBlank) {
      events.push({ type: "reasoning-delta", text: thought });
      this.#hasThought = true;
      if (this.#presumed !== undefined) this.#presumed += thought;
    }
    if (end < 0) {
      this.#held = isBlank ? text : text.slice(thought.length);
      return undefined;
    }
    this.#phase = "start";
    this.#presumed = undefined;
    this.#close = undefined;
    return text.slice(end + close.length);
  }

  /** The text after the end of a message of gpt-oss, or from the header of one on; undefined elsewhere. */
  #nextMessage(rest: string): string | undefined {
    const end = this.#hasHeader ? MESSAGE_ENDS.find((mark) => rest.startsWith(mark)) : undefined;
    if (end !== undefined) return rest.slice(end.length);
    return HEADER.test(rest) && !this.#lines.isQuoted ? rest : undefined;
  }

  #inText(text: string, events: ModelEvent[]): string | undefined {
    let from = 0;
    for (const { index: at, 0: first } of text.matchAll(MARK_START)) {
      this.#lines.read(text.slice(from, at));
      from = at;
      if (!this.#lines.mayStart(first)) continue;
      const rest = text.slice(at);
      const next = this.#nextMessage(rest);
      if (next !== undefined) {
        events.push(...textDelta(text.slice(0, at)));
        this.#lines.read("\n");
        this.#phase = "start";
        return next;
      }
      if (this.#isLoneClose(rest)) {
        events.push(...textDelta(text.slice(0, at)), { type: "recast", as: "reasoning" });
        this.#marks = { open: "", close: LONE_CLOSE };
        this.#lines.read("\n");
        this.#phase = "start";
        return rest.slice(LONE_CLOSE.length);
      }
      const kind = this.#kindOf(rest);
      if (kind === "other") continue;
      events.push(...textDelta(text.slice(0, at)));
      this.#held = rest;
      if (kind === "call") this.#phase = "call";
      return undefined;
    }
    this.#lines.read(text.slice(from));
    events.push(...textDelta(text));
    return undefined;
  }

  /**
   * A lone end of a thought ends all text before it, once: at the start or the end of a line. Elsewhere, in code and in
   * quotes it is text.
   */
  #isLoneClose(rest: string): boolean {
    if (!rest.startsWith(LONE_CLOSE) || !this.#mayCloseAlone()) return false;
    return this.#lines.isAtStart || rest[LONE_CLOSE.length] === "\n";
  }

  #mayCloseAlone(): boolean {
    return this.#marks === undefined && !this.#hasOwnReasoning && !this.#lines.isQuoted;
  }

  #kindOf(rest: string): CallStart {
    const { tools, allowsBareJson } = this.#options;
    if (this.#hasHeader && MESSAGE_ENDS.some((mark) => mark.startsWith(rest))) return "maybe";
    if (this.#lines.isQuoted) return "other";
    if (this.#mayCloseAlone() && LONE_CLOSE.startsWith(rest)) return "maybe";
    if (tools.length === 0 || this.#ownCalls > 0) return "other";
    return this.#lines.callStart(rest, tools, allowsBareJson);
  }

  /** A presumed thought without an end was the answer. Its empty list keeps the next answer from being presumed. */
  #endInThought(held: string, event: Finish): readonly ModelEvent[] {
    if (this.#presumed !== undefined)
      return [{ type: "recast", as: "text" }, ...textDelta(this.#presumed + held), { reasoningDetails: [], ...event }];
    return [...(held === "" ? [] : [{ type: "reasoning-delta", text: held } as const]), this.#withMarks(event)];
  }

  #withMarks(event: Finish): Finish {
    if (this.#marks === undefined) return event;
    const details = event.reasoningDetails ?? [];
    return { ...event, reasoningDetails: [...details, writtenThoughtDetail(this.#marks)] };
  }
}

function callEvents({ name, input }: WrittenCall, index: number): readonly ModelEvent[] {
  const call = { id: newCallId(), type: "function", function: { name, arguments: JSON.stringify(input) } } as const;
  return [
    { type: "tool-call-start", index, id: call.id, name },
    { type: "tool-call-end", index, call },
  ];
}

/** Ends an answer whose calls were written. The mark keeps them apart from calls of the server's own. */
function writtenEnd(event: Finish): Finish {
  return { ...event, reason: "tool_calls", reasoningDetails: [...(event.reasoningDetails ?? []), WRITTEN_CALLS] };
}

function textDelta(text: string): readonly ModelEvent[] {
  return text === "" ? [] : [{ type: "text-delta", text }];
}

/** Length of the end of `text` that may be the beginning of `mark`. */
function openEnd(text: string, mark: string): number {
  let chars = mark.length - 1;
  while (!text.endsWith(mark.slice(0, chars))) chars -= 1;
  return chars;
}

/** Position in the lines of a text: in a code fence or a cited call, after a quotation mark, or at the start of a line. */
class LineState {
  #line = "";
  #last = "";
  #hasText: boolean = false;
  #fence: string | undefined;
  /** End of the cited call, whose last line is cited in full. */
  #cited: string | undefined;

  read(text: string): void {
    if (text === "") return;
    const lines = (this.#line + text).split("\n");
    this.#last = text.at(-1) ?? "";
    this.#hasText ||= text.trim() !== "";
    const line = lines.pop() ?? "";
    for (const ended of lines) this.#endLine(ended);
    this.#line = this.#cited === undefined ? line.slice(0, LINE_CHARS) : line.slice(-LINE_CHARS);
  }

  get isQuoted(): boolean {
    return this.#fence !== undefined || /[`"']/.test(this.#last) || this.#cited !== undefined;
  }

  /** The kind of the start of `rest`. A tag right after the beginning of a citation is cited; a special token is for no reader. */
  callStart(rest: string, tools: readonly ToolSchema[], allowsBareJson: boolean): CallStart {
    const kind = callStart(rest, tools, allowsBareJson && this.isAtStart && (this.#hasText || "first"));
    const tag = kind === "call" && CITED.test(this.#line) ? /^<([\w:.-]+)/.exec(rest)?.[1] : undefined;
    if (tag === undefined) return kind;
    this.#cited = `</${tag}`;
    return "other";
  }

  /** A word is a mark only at the start of a line. */
  mayStart(mark: string): boolean {
    return /[<[{`◁✿]/.test(mark) || this.isAtStart;
  }

  get isAtStart(): boolean {
    return this.#line.trim() === "";
  }

  #endLine(line: string): void {
    if (this.#cited !== undefined && (line.trim() === "" || line.includes(this.#cited))) this.#cited = undefined;
    const [, fence] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === undefined) return;
    if (this.#fence === undefined) this.#fence = fence;
    else if (line.trim().startsWith(this.#fence)) this.#fence = undefined;
  }
}
