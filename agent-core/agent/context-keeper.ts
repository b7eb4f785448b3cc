/** Keeps a conversation within its model's window: measures it, and replaces older messages by a summary. */
import type { ContextEngine } from "../context/context-engine.ts";
import type { CompressionPlan } from "../context/plan-compression.ts";
import { digest, summaryParts, summaryRequest } from "../context/summary.ts";
import { CHARS_PER_TOKEN, estimateTokens, messageTokens, TokenMeter, textTokens } from "../context/token-meter.ts";
import type { Message } from "../messages/message.ts";
import type { HermesContext } from "../protocol/sessions.ts";
import { LARGER_WINDOW } from "../providers/fault-message.ts";
import { modelInfo } from "../providers/model-info.ts";
import type { Usage } from "../providers/wire/wire.ts";
import { type Compression, type Conversation, droppedCount } from "../sessions/conversation.ts";
import type { CountedTokens } from "../sessions/usage-ledger.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentParts } from "./agent-setup.ts";
import type { CompressedEvent, ContextPressureEvent } from "./callbacks.ts";
import { contextParts, type RequestTexts } from "./context-parts.ts";
import { compressionEntry } from "./session-record.ts";

/** A compression that saves a smaller share is useless. After two useless ones in a row the keeper gives up. */
const MIN_SAVING = 0.1;
const MAX_USELESS = 2;
/** Growth of the conversation after which the keeper tries again, as a share of the window. */
const GROWTH_SHARE = 0.2;
/** Instructions and tools that fill a larger share of the window leave too little of it. */
const MAX_FIXED_SHARE = 0.5;
/** Assumed window after the provider refused a request, as a share of that request. */
const LEARNED_SHARE = 0.9;
/** After a refusal, shortening outputs is enough when the request falls below this share of the window. */
const OVERFLOW_SHARE = 0.85;
/** Share of the conversation that remains when the user asks for a compression. */
const MANUAL_SHARE = 0.5;
/** Limits of all summaries: as a share of the target size, and in tokens. */
const SUMMARY_SHARE = 0.25;
const SUMMARY_TOKENS = 12_000;
const MIN_SUMMARY_TOKENS = 300;
/** Share of the summarizing model's window that the messages to summarize may fill. */
const REQUEST_SHARE = 0.7;
/** Minimum size of these messages, for models with a very small window. */
const MIN_REQUEST_CHARS = 4_000;

type CompressRequest = {
  /** Subject that the summary must keep. */
  readonly focus: string | undefined;
  /** Share of the window below which shortening outputs is enough. */
  readonly share: number;
  /** The provider refused the request as too long. */
  readonly refused?: true;
  /** Upper limit of the target size, in estimated tokens of the conversation. */
  readonly maxTokens?: number;
};

type KeptAgent = Pick<AgentParts, "setup" | "session" | "notify">;

export class ContextKeeper {
  readonly #agent: KeptAgent;
  readonly #beforeSummary: (signal: AbortSignal) => Promise<void>;
  readonly #meter = new TokenMeter();
  /** Estimate of the last request that was sent. */
  #sent = 0;
  /** Window size inferred from a provider's refusal. */
  #learnedWindow = Number.POSITIVE_INFINITY;
  #useless = 0;
  /** Tokens at which the keeper gave up. */
  #gaveUpAt: number | undefined;
  #isFull: boolean = false;
  /** Window that the user was warned of. */
  #smallWindow: number | undefined;

  /** `beforeSummary`: lets a model save notes to memory before messages are dropped. */
  constructor(agent: KeptAgent, beforeSummary: (signal: AbortSignal) => Promise<void>) {
    this.#agent = agent;
    this.#beforeSummary = beforeSummary;
    const { ledger, models } = agent.setup;
    const lastCount = ledger.lastCount(models.current);
    if (lastCount !== undefined) this.#meter.resume(lastCount);
  }

  get #conversation(): Conversation {
    return this.#agent.session.conversation;
  }

  get #engine(): ContextEngine {
    return this.#agent.setup.engine;
  }

  /** Texts that each request contains besides the conversation. */
  get #overhead(): Omit<RequestTexts, "messages"> {
    const { session, setup } = this.#agent;
    return { systemPrompt: session.systemPrompt ?? "", schemas: setup.catalogue.schemaText };
  }

  /** True when a model can summarize. The offline interpreter cannot. */
  get #canSummarize(): boolean {
    const { models, auxiliary } = this.#agent.setup;
    return models.current.mode !== "offline" || auxiliary.ownModel("compression") !== undefined;
  }

  /** Tokens of the next request, as far as they are known. */
  get used(): number {
    return this.#meter.tokens(this.#estimate());
  }

  get window(): number {
    return Math.min(this.#agent.setup.contextWindow(), this.#learnedWindow);
  }

  get pressure(): ContextPressureEvent {
    const { used, window } = this;
    const { softLimit, hardLimit } = this.#engine;
    const share = used / window;
    if (this.#isFull && share >= hardLimit) return { used, window, level: "full" };
    return { used, window, level: share < softLimit ? "low" : "high" };
  }

  /** Contents of the window, and usage of the session. */
  async contents(signal: AbortSignal): Promise<HermesContext> {
    const { used, window } = this;
    const parts = contextParts({ ...this.#overhead, messages: this.#conversation.messages }, used);
    const canCompress = (await this.#plan(this.#manualRequest(undefined), signal)) !== undefined;
    return { used, window, parts, canCompress, models: this.#agent.setup.ledger.models };
  }

  /** Note for the model when the window is filling up. */
  get warning(): string | undefined {
    const { used: tokens, window, level } = this.pressure;
    if (level === "low") return undefined;
    const percent = Math.round((tokens / window) * 100);
    const used = `[Context: ${percent}% of the window is used.`;
    if (this.#isFull) return `${used} Tools with long results are refused. Finish with what you know.]`;
    return `${used} Read in parts, keep outputs short, and finish the work you have begun.]`;
  }

  /** True when the current request nearly fills the window, so that tools with long results are withheld. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Compresses the conversation before a request if necessary. Throws the signal's reason when it is aborted. */
  async compressIfNeeded(isNewTurn: boolean, signal: AbortSignal): Promise<void> {
    const { used, window } = this;
    const engine = this.#engine;
    this.#warnOfSmallWindow(window);
    if (this.#canCompress(used, window) && (await engine.shouldCompress({ used, window, isNewTurn }, signal))) {
      await this.#compress({ focus: undefined, share: 0 }, signal);
    }
    this.#sent = this.#estimate();
    this.#isFull = this.#meter.tokens(this.#sent) >= this.window * this.#engine.hardLimit;
  }

  /** No compression shortens the instructions and the tools. */
  #warnOfSmallWindow(window: number): void {
    if (window === this.#smallWindow) return;
    const fixed = this.#overheadTokens();
    if (fixed < window * MAX_FIXED_SHARE) return;
    this.#smallWindow = window;
    const [room, taken] = [window, fixed].map((tokens) => tokens.toLocaleString("en"));
    const message = `The window of this model has ${room} tokens, and Hermes' instructions and tools fill ${taken} of them: ${LARGER_WINDOW}.`;
    this.#agent.notify.status({ severity: "warning", message });
  }

  /** Size of the last call; undefined before the first one, and after a compression. */
  get count(): CountedTokens | undefined {
    return this.#meter.count;
  }

  /** Calibrates the estimate with the provider's count after an answer. */
  recordUsage(usage: Usage, answer: Message | undefined): void {
    this.#meter.record(
      usage,
      this.#sent + (answer === undefined ? 0 : messageTokens(answer)),
      this.#agent.setup.contextWindow(),
    );
  }

  /** Shortens a conversation that the provider refused as too long. Undefined when nothing can be dropped. */
  async compressAfterRefusal(
    refused: readonly Message[],
    signal: AbortSignal,
  ): Promise<readonly Message[] | undefined> {
    const [system] = refused;
    if (!(await this.#compressAfterOverflow(signal))) return undefined;
    return [...(system?.role === "system" ? [system] : []), ...this.#conversation.messages];
  }

  /** Replaces messages by these contents for good, because the provider refused them. */
  leaveOut(left: ReadonlyMap<Message, string>): void {
    const conversation = this.#conversation;
    const { compression = { dropped: [], summary: null, shortened: [] } } = conversation;
    const added = [...left].flatMap(([message, content]) => {
      const position = conversation.positionOf(message);
      return position === undefined ? [] : [{ position, content }];
    });
    const next = { ...compression, shortened: [...compression.shortened, ...added] };
    conversation.compress(next);
    const facts = { strategy: this.#engine.name, tokensBefore: this.used, tokensAfter: this.used };
    this.#agent.session.journal(compressionEntry(next, facts));
  }

  async #compressAfterOverflow(signal: AbortSignal): Promise<boolean> {
    this.#meter.distrust();
    this.#learnedWindow = Math.min(this.window, Math.max(1, Math.round(this.used * LEARNED_SHARE)));
    this.#gaveUpAt = undefined;
    return (await this.#compress({ focus: undefined, share: OVERFLOW_SHARE, refused: true }, signal)) !== undefined;
  }

  /** Compresses the conversation at the user's request, with `focus` on a subject. Undefined when nothing can be dropped. */
  compress(focus: string | undefined, signal: AbortSignal): Promise<CompressedEvent | undefined> {
    return this.#compress(this.#manualRequest(focus), signal);
  }

  /** The user wants a shorter conversation, even if the window has room. */
  #manualRequest(focus: string | undefined): CompressRequest {
    const maxTokens = (this.#estimate() - this.#overheadTokens()) * MANUAL_SHARE;
    return { focus, share: 0, maxTokens };
  }

  /** Undefined when nothing can be dropped. */
  async #plan(
    { focus, share, maxTokens = Number.POSITIVE_INFINITY }: CompressRequest,
    signal: AbortSignal,
  ): Promise<CompressionPlan | undefined> {
    const engine = this.#engine;
    const { transcript, compression } = this.#conversation;
    // The plan uses our estimate; the window uses the provider's count.
    const left = (tokens: number): number => this.#meter.estimated(tokens) - this.#overheadTokens();
    const target = Math.max(1, Math.min(maxTokens, left(engine.target(this.window))));
    const enough = Math.max(target, left(this.window * share));
    const room =
      maxTokens === Number.POSITIVE_INFINITY ? Math.max(enough, left(this.window * engine.softLimit)) : target;
    return engine.plan({ transcript, compression, target, enough, room, focus }, signal);
  }

  async #compress(request: CompressRequest, signal: AbortSignal): Promise<CompressedEvent | undefined> {
    const conversation = this.#conversation;
    const { focus, maxTokens, refused } = request;
    const before = this.#meter.scaled(this.#estimate());
    const { compression } = conversation;
    const plan = await this.#plan(request, signal);
    // A manual compression does not show whether automatic ones are useful.
    const isAutomatic = maxTokens === undefined;
    if (plan === undefined) {
      if (isAutomatic) this.#recordSaving(before, before);
      return undefined;
    }
    const isSummarized = plan.fresh.length > 0 && this.#canSummarize;
    const [next] = await Promise.all([
      this.#execute(plan, compression, focus, signal),
      isSummarized ? this.#beforeSummary(signal) : undefined,
    ]);
    conversation.compress(next);
    this.#meter.forget();
    const after = this.#meter.scaled(this.#estimate());
    const event = { messages: droppedCount(next), tokensBefore: before, tokensAfter: after };
    const facts = {
      strategy: this.#engine.name,
      tokensBefore: before,
      tokensAfter: after,
      ...(refused && { refused }),
    };
    this.#agent.session.journal(compressionEntry(next, facts));
    if (isAutomatic || after <= before * (1 - MIN_SAVING)) this.#recordSaving(before, after);
    this.#agent.notify.compressed(event);
    this.#agent.notify.contextPressure(this.pressure);
    return event;
  }

  async #execute(
    plan: CompressionPlan,
    earlier: Compression | undefined,
    focus: string | undefined,
    signal: AbortSignal,
  ): Promise<Compression> {
    const { dropped, shortened, fresh } = plan;
    const before = earlier?.summary ?? null;
    if (fresh.length === 0) return { dropped, shortened, summary: before };
    const summaryTokens = this.#summaryTokens(plan, before ?? "");
    const summary = plan.summary ?? (await this.#summary({ ...plan, summaryTokens }, before, focus, signal));
    // This limit keeps the compression useful when a model writes too long a summary.
    const maxChars = Math.max(summaryTokens * CHARS_PER_TOKEN * 2, 2_000);
    return { dropped, shortened, summary: summary.slice(0, maxChars).toWellFormed() };
  }

  /** Maximum size of the summary. It replaces all dropped messages, so without a limit it would fill the window. */
  #summaryTokens({ summaryTokens }: CompressionPlan, earlier: string): number {
    const share = Math.min(SUMMARY_TOKENS, Math.round(this.#engine.target(this.window) * SUMMARY_SHARE));
    return Math.min(Math.max(MIN_SUMMARY_TOKENS, share), summaryTokens + textTokens(earlier.length));
  }

  async #summary(
    { fresh, summaryTokens }: CompressionPlan,
    earlier: string | null,
    focus: string | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const { setup, notify } = this.#agent;
    const fallback = (): string => digest(fresh, earlier, summaryTokens * CHARS_PER_TOKEN);
    if (!this.#engine.summarizes || !this.#canSummarize) return fallback();
    let summary = earlier;
    for (const part of summaryParts(fresh, this.#requestChars(summaryTokens))) {
      const messages = summaryRequest({ part, earlier: summary, maxTokens: summaryTokens, focus });
      const answer = await setup.auxiliary.ask("compression", { messages, signal });
      const text = answer.ok ? answer.text.trim() : "";
      if (text === "") {
        const reason = answer.ok ? "the answer was empty" : answer.fault.message;
        const message = `Older messages could not be summarised (${reason}). A list of them replaces the summary.`;
        notify.status({ severity: "warning", message });
        return fallback();
      }
      summary = text;
    }
    return summary ?? fallback();
  }

  /** Maximum size of the messages in one request, which also contains the earlier summary and leaves room for the new one. */
  #requestChars(summaryTokens: number): number {
    const { auxiliary, modelFacts } = this.#agent.setup;
    const own = auxiliary.ownModel("compression");
    const window = own === undefined ? this.window : modelInfo(own.model, modelFacts(own)).contextWindow;
    const tokens = this.#meter.estimated(window * REQUEST_SHARE) - 2 * summaryTokens;
    return Math.max(MIN_REQUEST_CHARS, Math.round(tokens * CHARS_PER_TOKEN));
  }

  #canCompress(used: number, window: number): boolean {
    return this.#gaveUpAt === undefined || used > this.#gaveUpAt + window * GROWTH_SHARE;
  }

  /** Records the result of a compression, and pauses compression after useless ones. */
  #recordSaving(before: number, after: number): void {
    this.#useless = after > before * (1 - MIN_SAVING) ? this.#useless + 1 : 0;
    this.#updateGivenUp(after);
  }

  #updateGivenUp(tokens: number): void {
    if (this.#useless < MAX_USELESS) {
      this.#gaveUpAt = undefined;
      return;
    }
    if (this.#gaveUpAt === undefined && this.#smallWindow !== this.window) {
      const message =
        "The conversation cannot be compressed further. Start a new session, or choose a model with a larger context.";
      this.#agent.notify.status({ severity: "warning", message });
    }
    this.#gaveUpAt = tokens;
  }

  #estimate(): number {
    return estimateTokens(this.#conversation.messages) + this.#overheadTokens();
  }

  #overheadTokens(): number {
    const { systemPrompt, schemas } = this.#overhead;
    return textTokens(systemPrompt.length + schemas.length);
  }
}

/** Reason why a tool is withheld; undefined when it is available. */
export function withheldFrom({ largeOutput }: Tool, { isFull }: Pick<ContextKeeper, "isFull">): string | undefined {
  if (!largeOutput || !isFull) return undefined;
  return "refused, because the context window is full. Finish with what you know, and tell the user what is left to do.";
}
