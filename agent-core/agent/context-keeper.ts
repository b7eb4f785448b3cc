/** Keeps a conversation within its model's window: measures it, and lets older messages give way to a summary. */
import type { ContextEngine } from "../context/context-engine.ts";
import { digest } from "../context/digest.ts";
import type { CompressionPlan } from "../context/plan-compression.ts";
import { summaryParts, summaryRequest } from "../context/summary-request.ts";
import { CHARS_A_TOKEN, estimateTokens, messageTokens, TokenMeter, textTokens } from "../context/token-meter.ts";
import type { Message } from "../messages/message.ts";
import { repairMessages } from "../messages/repair.ts";
import { modelInfo } from "../providers/model-info.ts";
import type { Usage } from "../providers/wire/wire.ts";
import { type Compression, type Conversation, droppedCount } from "../sessions/conversation.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import type { AgentSetup } from "./agent-setup.ts";
import type { Auxiliary } from "./auxiliary.ts";
import type { CompressedEvent, ContextPressureEvent, StatusEvent } from "./callbacks.ts";
import { MemoryFlush } from "./memory-flush.ts";
import type { Notifier } from "./notifier.ts";
import { compressionEntry, type SessionRecord } from "./session-record.ts";

/** A compression that saves less than this is one too many; two in a row are the last. */
const LEAST_SAVING = 0.1;
const USELESS_IN_A_ROW = 2;
/** After that it is tried again when the conversation has grown by this share of the window. */
const GROWTH_SHARE = 0.2;
/** A window that the provider refused to fill is believed to be this much smaller than what was sent. */
const LEARNED_SHARE = 0.9;
/** After a refusal the turn goes on at once when shorter outputs bring the request below this share of the window. */
const OVERFLOW_SHARE = 0.85;
/** What the user's own wish for a compression leaves of the conversation. */
const ASKED_SHARE = 0.5;
/** Summaries together may have so large a share of what a compression aims at, and so many tokens. */
const SUMMARY_SHARE = 0.25;
const SUMMARY_TOKENS = 12_000;
const LEAST_SUMMARY_TOKENS = 300;
/** What a request for a summary says of its messages may fill so much of the window of who is asked. */
const ASKED_FILLS = 0.7;
/** It has so many characters at least, however small the window is said to be. */
const LEAST_ASKED_CHARS = 4_000;

export type ContextKeeperOptions = {
  readonly engine: ContextEngine;
  readonly conversation: Conversation;
  readonly auxiliary: Auxiliary;
  /** There is a model that can sum up. */
  readonly canSummarize: () => boolean;
  /** Tokens that a model sees which only sums up; undefined: the conversation's own model does it. */
  readonly summaryWindow: () => number | undefined;
  /** Tokens that the model can see. */
  readonly window: () => number;
  /** What every request has beside the conversation: system prompt and tools, as text. */
  readonly overhead: () => string;
  /** Lets what will outlive the session be kept, before messages go. */
  readonly flush: MemoryFlush;
  readonly journal: (entry: NewEntry) => void;
  readonly tell: (event: StatusEvent) => void;
  readonly compressed: (event: CompressedEvent) => void;
};

type CompressOrder = {
  /** What the user wants kept above all. */
  readonly focus: string | undefined;
  /** Of the window: below it shorter outputs are enough. */
  readonly share: number;
  /** Tokens of the conversation that it aims at, at most; as estimated. */
  readonly most?: number;
};

export class ContextKeeper {
  readonly #options: ContextKeeperOptions;
  readonly #meter = new TokenMeter();
  /** Estimate of the request that was sent last. */
  #sent = 0;
  /** What a provider's refusal has taught of the window. */
  #learned = Number.POSITIVE_INFINITY;
  #useless = 0;
  /** Tokens at which compressing was given up. */
  #gaveUpAt: number | undefined;
  #isFull = false as boolean;

  constructor(options: ContextKeeperOptions) {
    this.#options = options;
  }

  /** Tokens that the next request will have, as far as that is known. */
  get used(): number {
    return this.#meter.tokens(this.#estimate());
  }

  get window(): number {
    return Math.min(this.#options.window(), this.#learned);
  }

  get pressure(): ContextPressureEvent {
    const { used, window } = this;
    const { softLimit, hardLimit } = this.#options.engine;
    const share = used / window;
    if (this.#isFull && share >= hardLimit) return { used, window, level: "full" };
    return { used, window, level: share < softLimit ? "low" : "high" };
  }

  /** A line for the model when the window fills up. */
  get warning(): string | undefined {
    const { used: tokens, window, level } = this.pressure;
    if (level === "low") return undefined;
    const percent = Math.round((tokens / window) * 100);
    const used = `[Context: ${percent} % of the window is used.`;
    if (this.#isFull) return `${used} Tools with long results are withheld. Finish with what you know.]`;
    return `${used} Read in parts, keep outputs short, and finish what is begun.]`;
  }

  /** No room was left before the request of the moment: what may fill the window is not offered with it. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Before a request: compresses when it is time. Throws the signal's reason when it is aborted. */
  async makeRoom(isNewTurn: boolean, signal: AbortSignal): Promise<void> {
    const { used, window } = this;
    if (this.#mayTry(used, window) && this.#options.engine.shouldCompress({ used, window, isNewTurn })) {
      await this.#compress({ focus: undefined, share: 0 }, signal);
    }
    this.#sent = this.#estimate();
    this.#isFull = this.#meter.tokens(this.#sent) >= this.window * this.#options.engine.hardLimit;
  }

  /** After an answer: what the provider counted. */
  measured(usage: Usage, answer: Message | undefined): void {
    this.#meter.record(usage, this.#sent + (answer === undefined ? 0 : messageTokens(answer)));
  }

  /** Shortens a conversation that the provider refused as too long. Undefined when nothing can be dropped. */
  async shorten(refused: readonly Message[], signal: AbortSignal): Promise<readonly Message[] | undefined> {
    const [system] = refused;
    if (!(await this.#compressAfterOverflow(signal))) return undefined;
    return repairMessages([...(system?.role === "system" ? [system] : []), ...this.#options.conversation.messages]);
  }

  async #compressAfterOverflow(signal: AbortSignal): Promise<boolean> {
    this.#meter.distrust();
    this.#learned = Math.min(this.window, Math.max(1, Math.round(this.used * LEARNED_SHARE)));
    this.#gaveUpAt = undefined;
    return (await this.#compress({ focus: undefined, share: OVERFLOW_SHARE }, signal)) !== undefined;
  }

  /** Undefined when there is nothing that can go. `focus`: what the user wants kept above all. */
  compress(focus: string | undefined, signal: AbortSignal): Promise<CompressedEvent | undefined> {
    // Who asks for it wants it shorter, however much room there is.
    const most = (this.#estimate() - this.#overheadTokens()) * ASKED_SHARE;
    return this.#compress({ focus, share: 0, most }, signal);
  }

  async #compress(
    { focus, share, most = Number.POSITIVE_INFINITY }: CompressOrder,
    signal: AbortSignal,
  ): Promise<CompressedEvent | undefined> {
    const { conversation, engine, journal, compressed } = this.#options;
    const before = this.#meter.scaled(this.#estimate());
    const { transcript: said, compression } = conversation;
    // The plan counts as we estimate, the window as the provider does.
    const left = (tokens: number): number => this.#meter.estimated(tokens) - this.#overheadTokens();
    const target = Math.max(1, Math.min(most, left(engine.target(this.window))));
    const enough = Math.max(target, left(this.window * share));
    const plan = engine.plan({ said, compression, target, enough });
    // What the user asks for says nothing of whether it helps where it is needed.
    const isNeeded = most === Number.POSITIVE_INFINITY;
    if (plan === undefined) {
      if (isNeeded) this.#count(before, before);
      return undefined;
    }
    // A question about all of it needs room: there is none after a refusal, or when a model with a smaller window came.
    const hasRoom = share === 0 && before < this.window;
    const isFlushed = plan.fresh.length > 0 && hasRoom && this.#options.canSummarize();
    const [next] = await Promise.all([
      this.#carriedOut(plan, compression, focus, signal),
      isFlushed ? this.#options.flush.run(said, conversation.messages, signal) : undefined,
    ]);
    conversation.compress(next);
    this.#meter.forget();
    const after = this.#meter.scaled(this.#estimate());
    const event = { messages: droppedCount(next), tokensBefore: before, tokensAfter: after };
    journal(compressionEntry(next, { strategy: engine.name, tokensBefore: before, tokensAfter: after }));
    if (isNeeded || after <= before * (1 - LEAST_SAVING)) this.#count(before, after);
    compressed(event);
    return event;
  }

  async #carriedOut(
    plan: CompressionPlan,
    earlier: Compression | undefined,
    focus: string | undefined,
    signal: AbortSignal,
  ): Promise<Compression> {
    const { dropped, shortened, fresh } = plan;
    const before = earlier?.summary ?? null;
    if (fresh.length === 0) return { dropped, shortened, summary: before };
    const summaryTokens = this.#summaryTokens(plan, before ?? "");
    const summary = await this.#summary({ ...plan, summaryTokens }, before, focus, signal);
    // The longest that it may become, so that a model which does not stop cannot undo what it is for.
    const most = Math.max(summaryTokens * CHARS_A_TOKEN * 2, 2_000);
    return { dropped, shortened, summary: summary.slice(0, most).toWellFormed() };
  }

  /** What it may have that stands for all that went, now and before: else it would fill the window in the end. */
  #summaryTokens({ summaryTokens }: CompressionPlan, earlier: string): number {
    const most = Math.min(SUMMARY_TOKENS, Math.round(this.#options.engine.target(this.window) * SUMMARY_SHARE));
    return Math.min(Math.max(LEAST_SUMMARY_TOKENS, most), summaryTokens + textTokens(earlier.length));
  }

  async #summary(
    { fresh, summaryTokens }: CompressionPlan,
    earlier: string | null,
    focus: string | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const { engine, auxiliary, canSummarize, tell } = this.#options;
    const instead = (): string => digest(fresh, earlier, summaryTokens * CHARS_A_TOKEN);
    if (!engine.summarizes || !canSummarize()) return instead();
    let summary = earlier;
    for (const part of summaryParts(fresh, this.#askedChars(summaryTokens))) {
      const messages = summaryRequest({ part, earlier: summary, maxTokens: summaryTokens, focus });
      const answer = await auxiliary.ask("compression", { messages, signal });
      const text = answer.ok ? answer.text.trim() : "";
      if (text === "") {
        const why = answer.ok ? "the answer was empty" : answer.fault.message;
        const message = `Older messages could not be summed up (${why}); a list stands for them.`;
        tell({ severity: "warning", message });
        return instead();
      }
      summary = text;
    }
    return summary ?? instead();
  }

  /** So much of the messages may be in one request; the earlier summary and the new one need their room, too. */
  #askedChars(summaryTokens: number): number {
    const window = this.#options.summaryWindow() ?? this.window;
    const tokens = this.#meter.estimated(window * ASKED_FILLS) - 2 * summaryTokens;
    return Math.max(LEAST_ASKED_CHARS, Math.round(tokens * CHARS_A_TOKEN));
  }

  #mayTry(used: number, window: number): boolean {
    return this.#gaveUpAt === undefined || used > this.#gaveUpAt + window * GROWTH_SHARE;
  }

  /** A compression is over; after useless ones none is tried for a while. */
  #count(before: number, after: number): void {
    this.#useless = after > before * (1 - LEAST_SAVING) ? this.#useless + 1 : 0;
    this.#giveUp(after);
  }

  #giveUp(tokens: number): void {
    if (this.#useless < USELESS_IN_A_ROW) {
      this.#gaveUpAt = undefined;
      return;
    }
    if (this.#gaveUpAt === undefined) {
      const message = "The conversation cannot be compressed further. Begin a new one, or take another model.";
      this.#options.tell({ severity: "warning", message });
    }
    this.#gaveUpAt = tokens;
  }

  #estimate(): number {
    return estimateTokens(this.#options.conversation.messages) + this.#overheadTokens();
  }

  #overheadTokens(): number {
    return textTokens(this.#options.overhead().length);
  }
}

export type ContextPorts = {
  readonly record: SessionRecord;
  /** Tokens of the model's context. */
  readonly window: () => number;
  /** Context of a tool call that no one sees. */
  readonly contextFor: (callId: string, signal: AbortSignal) => ToolContext;
  readonly notify: Notifier;
};

export function createContextKeeper(
  setup: AgentSetup,
  { record, window, contextFor, notify }: ContextPorts,
): ContextKeeper {
  const { auxiliary, tools } = setup;
  const systemPrompt = (): string => record.systemPrompt ?? "";
  const tell = (event: StatusEvent): void => notify.status(event);
  const keeper = new ContextKeeper({
    engine: setup.engine,
    conversation: record.conversation,
    auxiliary,
    // The offline interpreter cannot summarize.
    canSummarize: () => setup.models.current.mode !== "offline" || auxiliary.ownModel("compression") !== undefined,
    summaryWindow: () => {
      const model = auxiliary.ownModel("compression");
      return model === undefined ? undefined : modelInfo(model.model, setup.modelFacts(model)).contextWindow;
    },
    window,
    overhead: () => systemPrompt() + setup.toolText,
    flush: new MemoryFlush({ auxiliary, tools, systemPrompt, contextFor, tell }),
    journal: (entry) => record.journal(entry),
    tell,
    compressed: (event) => {
      notify.compressed(event);
      notify.contextPressure(keeper.pressure);
    },
  });
  return keeper;
}

/** Reason why a tool is withheld; undefined when it is available. */
export function withheldFrom({ largeOutput }: Tool, { isFull }: Pick<ContextKeeper, "isFull">): string | undefined {
  if (!largeOutput || !isFull) return undefined;
  return "withheld, because the context window is full. Finish with what you know, and tell the user what is left to do.";
}
