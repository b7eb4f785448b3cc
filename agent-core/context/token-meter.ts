/** Counts the tokens of a conversation: the provider's last count, plus an estimate for later messages. */
import { type Message, picturesOf } from "../messages/message.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { CountedTokens } from "../sessions/usage-ledger.ts";

/** For English text and code. */
export const CHARS_PER_TOKEN = 4;
/** Chinese, Japanese and Korean characters: tokenizers spend about one token on each. */
const WIDE = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g;
/** Role and separators around each message. */
const MESSAGE_TOKENS = 4;
/** An image at the usual detail of the providers. */
const IMAGE_TOKENS = 1_000;

/** Limits of the ratio that scales the estimate of later messages. */
const RATIO_LIMITS = { min: 0.5, max: 4 } as const;
/** A smaller share of the estimate, or a larger multiple of the window, is not a count but a fault of the server. */
const COUNT_LIMITS = { leastShare: 0.1, mostWindows: 2 } as const;

/** Estimates by message. */
const known = new WeakMap<Message, number>();
/** Estimates of whole conversations: they are asked for several times in each iteration. */
const sums = new WeakMap<readonly Message[], { readonly count: number; readonly tokens: number }>();

export class TokenMeter {
  /** Ratio of the provider's count to our estimate. */
  #ratio = 1;
  #anchor: CountedTokens | undefined;

  /**
   * Takes over a provider's count. `estimated` covers the same messages: the request and its answer. `window`: tokens of
   * the model's context, which shows an absurd count.
   */
  record({ inputTokens, outputTokens }: Usage, estimated: number, window: number): void {
    const counted = inputTokens + outputTokens;
    if (!(counted > 0) || estimated === 0) return;
    this.#ratio = ratioOf({ counted, estimated });
    const isPlausible = counted >= estimated * COUNT_LIMITS.leastShare && counted <= window * COUNT_LIMITS.mostWindows;
    this.#anchor = { counted: isPlausible ? counted : estimated * this.#ratio, estimated };
  }

  /** The last count; undefined before the first one, and after a compression. */
  get count(): CountedTokens | undefined {
    return this.#anchor;
  }

  /** Takes over the last count of an earlier process. */
  resume(count: CountedTokens): void {
    this.#ratio = ratioOf(count);
    this.#anchor = count;
  }

  /** Drops the last count after a compression or a rewind; the ratio stays. */
  forget(): void {
    this.#anchor = undefined;
  }

  /** Raises the ratio after the provider refused a request as too long: its last count was too low. */
  distrust(): void {
    this.#anchor = undefined;
    this.#ratio = Math.max(this.#ratio, 1);
  }

  estimated(tokens: number): number {
    return tokens / this.#ratio;
  }

  /** Tokens by the ratio alone, to compare two states of a conversation. */
  scaled(estimated: number): number {
    return Math.round(estimated * this.#ratio);
  }

  tokens(estimated: number): number {
    const anchor = this.#anchor;
    if (anchor === undefined || estimated < anchor.estimated) return Math.round(estimated * this.#ratio);
    return Math.round(anchor.counted + (estimated - anchor.estimated) * this.#ratio);
  }
}

function ratioOf({ counted, estimated }: CountedTokens): number {
  return Math.min(RATIO_LIMITS.max, Math.max(RATIO_LIMITS.min, counted / estimated));
}

/** Estimate for a list of messages. The list may grow between two calls, but not change otherwise. */
export function estimateTokens(messages: readonly Message[]): number {
  const before = sums.get(messages) ?? { count: 0, tokens: 0 };
  const added = messages.slice(before.count);
  const tokens = added.reduce((sum, message) => sum + messageTokens(message), before.tokens);
  sums.set(messages, { count: messages.length, tokens });
  return tokens;
}

/** Estimate for one message, cached. */
export function messageTokens(message: Message): number {
  let tokens = known.get(message);
  if (tokens === undefined) {
    tokens = MESSAGE_TOKENS + pictureTokens(message) + textTokens(size(message));
    known.set(message, tokens);
  }
  return tokens;
}

export function pictureTokens(message: Message): number {
  return picturesOf(message).length * IMAGE_TOKENS;
}

export function textTokens(characters: number): number {
  return Math.ceil(characters / CHARS_PER_TOKEN);
}

/** Size of all texts, in characters of English. */
function size(message: Message): number {
  switch (message.role) {
    case "system":
    case "tool":
      return sizeOf(message.content);
    case "user":
      if (typeof message.content === "string") return sizeOf(message.content);
      return message.content.reduce((sum, part) => sum + (part.type === "text" ? sizeOf(part.text) : 0), 0);
    case "assistant": {
      const calls = message.tool_calls ?? [];
      const called = calls.reduce((sum, { function: call }) => sum + call.name.length + sizeOf(call.arguments), 0);
      return sizeOf(message.content ?? "") + sizeOf(message.reasoning ?? "") + called;
    }
  }
}

function sizeOf(text: string): number {
  const wide = text.match(WIDE)?.length ?? 0;
  return text.length + wide * (CHARS_PER_TOKEN - 1);
}
