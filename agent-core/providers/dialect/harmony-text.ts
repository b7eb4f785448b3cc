/**
 * Harmony, the format of gpt-oss, in an answer's text: a server without its parser passes the tokens on. Thoughts become
 * reasoning, the answer stays text, and calls become the marked form that WrittenParts reads.
 */
import type { ModelEvent } from "../wire/wire.ts";

/** Tokens that begin a message, and the one that ends its header. */
const OPENERS = ["<|channel|>", "<|start|>"];
const HEADER_END = "<|message|>";
const BODY_END = /<\|(?:end|return|call|start|channel)\|>/;
const OPEN_TOKEN = /<(?:\|\w*\|?)?$/;
const CHANNEL = /<\|channel\|>\s*(\w+)/;
const RECIPIENT = /\bto=(?:functions\.)?([\w.-]+)/;
/** A longer text without an end is not a header. Characters. */
const LONGEST_HEADER = 400;

type Part = "thought" | "text" | "call";

export class HarmonyText {
  /** `plain`: the text holds no tokens. `start`: a message may begin. */
  #phase: "start" | "header" | "body" | "plain" = "start";
  #part: Part = "text";
  #held = "";
  #hasBegun: boolean = false;

  take(text: string): readonly ModelEvent[] {
    this.#held += text;
    const events: ModelEvent[] = [];
    while (this.#step(events));
    return events;
  }

  /** The rest of the text. `<|call|>` stops the model, so that most servers leave it out. */
  end(): readonly ModelEvent[] {
    const rest = this.#held;
    this.#held = "";
    const isCall = this.#phase === "body" && this.#part === "call";
    this.#phase = "plain";
    return [...this.#delta(rest), ...(isCall ? textDelta("}</tool_call>") : [])];
  }

  /** Returns false when everything is read, or held until more text comes. */
  #step(events: ModelEvent[]): boolean {
    switch (this.#phase) {
      case "start":
        return this.#start();
      case "header":
        return this.#header(events);
      case "body":
        return this.#body(events);
      case "plain":
        events.push(...textDelta(this.#held));
        this.#held = "";
        return false;
    }
  }

  #start(): boolean {
    const text = this.#held.trimStart();
    if (OPENERS.some((opener) => text.startsWith(opener))) this.#phase = "header";
    else if (OPENERS.some((opener) => opener.startsWith(text))) return false;
    else if (this.#hasBegun) {
      this.#phase = "body";
      this.#part = "text";
    } else this.#phase = "plain";
    return true;
  }

  #header(events: ModelEvent[]): boolean {
    const end = this.#held.indexOf(HEADER_END);
    if (end < 0) {
      if (this.#held.length < LONGEST_HEADER) return false;
      this.#phase = "plain";
      return true;
    }
    const header = this.#held.slice(0, end);
    const name = RECIPIENT.exec(header)?.[1];
    if (name === undefined) this.#part = CHANNEL.exec(header)?.[1] === "analysis" ? "thought" : "text";
    else {
      this.#part = "call";
      events.push(...textDelta(`<tool_call>{"name":${JSON.stringify(name)},"arguments":`));
    }
    this.#held = this.#held.slice(end + HEADER_END.length);
    this.#phase = "body";
    this.#hasBegun = true;
    return true;
  }

  #body(events: ModelEvent[]): boolean {
    const found = BODY_END.exec(this.#held);
    const end = found?.index ?? OPEN_TOKEN.exec(this.#held)?.index ?? this.#held.length;
    events.push(...this.#delta(this.#held.slice(0, end)));
    this.#held = this.#held.slice(end);
    if (found === null) return false;
    if (this.#part === "call") events.push(...textDelta("}</tool_call>"));
    const [token] = found;
    if (!OPENERS.includes(token)) this.#held = this.#held.slice(token.length);
    this.#phase = "start";
    return true;
  }

  #delta(text: string): readonly ModelEvent[] {
    if (this.#part !== "thought" || text === "") return textDelta(text);
    return [{ type: "reasoning-delta", text }];
  }
}

/** No event for an empty text. */
export function textDelta(text: string): readonly ModelEvent[] {
  return text === "" ? [] : [{ type: "text-delta", text }];
}
