/**
 * One model call with recovery: it waits and retries, repairs its request, or falls back to the next model. It ends
 * with exactly one `finish` or `fault`, or throws the signal's reason.
 */
import { type Message, withContent } from "../../messages/message.ts";
import { repairMessages } from "../../messages/repair.ts";
import { newId } from "../../platform/new-id.ts";
import type { Fault } from "../fault.ts";
import { durationText, endpointName, firstSentence } from "../fault-message.ts";
import { modelInfo, refusesImages } from "../model-info.ts";
import type { ResolvedModel } from "../resolve-model.ts";
import { faultOf, type StreamLimits, sizeOf, streamLimits, streamModel } from "../stream-model.ts";
import { withSentImages } from "../wire/sent-images.ts";
import type { ModelEvent, ModelRequest } from "../wire/wire.ts";
import { type LeftOut, withoutNewResults, withoutUnanswered } from "./adaptations.ts";
import type { CallEvent, CallRequest, ModelRoute } from "./model-route.ts";
import { type Attempts, FALLBACK_AFTER_MS, REPEATED, type Remedy, recoveryOf, UNREACHED_AFTER_MS } from "./recovery.ts";

/** Longer waits are announced, and longer totals. Milliseconds. */
const SILENT_WAIT_MS = 2_000;
const SHORTEST_TOTAL_MS = 1_000;

/** Added only to the request after an answer without use. */
const NUDGE = {
  empty: "Your last answer was empty. Continue the task: answer in words, or call a tool.",
  unread: "Your last answer held a tool call as text that could not be read. Call the tool again, or answer in words.",
} as const;
/** Characters that nobody sees. */
const BLANK_START = /^[\s\p{Cf}]+/u;
/** No text, or one that gateways write in place of an empty answer. */
const PLACEHOLDER = /^(?:[([](?:empty|no)[ _](?:content|response|output)[)\]]\s*)?$/i;
const PLACEHOLDER_CHARS = 30;
const UNREAD_CALL = "The model wrote a tool call as text that could not be read, so the call did not run.";

const NO_ATTEMPTS: Attempts = { tries: 0, waitedMs: 0, silences: 0, used: new Set() };

type LastEvent = Extract<ModelEvent, { type: "finish" | "fault" }>;
type Read = {
  readonly last: LastEvent;
  readonly hasCalls: boolean;
  readonly hasContent: boolean;
  readonly size: number;
};

export function callModel(request: CallRequest, route: ModelRoute, signal: AbortSignal): AsyncGenerator<CallEvent> {
  return new PersistentCall(request, route, signal).run();
}

class PersistentCall {
  readonly #request: CallRequest;
  readonly #route: ModelRoute;
  readonly #signal: AbortSignal;
  #messages: readonly Message[];
  /** Left out of this call; for good once a request without it is answered. */
  #left: LeftOut = new Map();
  /** Limit of an answer in tokens that the provider named. */
  #named: number | undefined;
  #attempts = NO_ATTEMPTS;
  /** Size of the longest answer so far, in characters. */
  #longest = 0;
  /** Identifies the waits since the last progress. */
  #waitId = newId();
  /** Aborted when the user has chosen another model since the last request. */
  #untilChoice: AbortSignal;

  constructor(request: CallRequest, route: ModelRoute, signal: AbortSignal) {
    this.#request = request;
    this.#route = route;
    this.#signal = signal;
    this.#messages = request.messages;
    this.#untilChoice = route.chain.untilChoice;
  }

  async *run(): AsyncGenerator<CallEvent> {
    for (;;) {
      const limits = streamLimits(this.#route.silence(this.#route.chain.current), this.#route.clock);
      const { last, hasContent, hasCalls, size } = yield* this.#read(limits);
      const fault = await this.#faultOf(last, hasContent, hasCalls);
      if (fault === undefined) return yield* this.#end(last);
      const isSilence = fault.kind === "timeout" && fault.status === undefined && size === 0;
      this.#count(size, isSilence ? undefined : limits.content.elapsed());
      if (!(yield* this.#recover(fault))) return yield* this.#giveUp(last, fault);
      yield { type: "restart" };
    }
  }

  /** Keeps what the answered request was without. */
  async *#end(last: LastEvent): AsyncGenerator<CallEvent> {
    const { adaptations, chain, onLimit } = this.#route;
    adaptations.answered(chain.current, this.#kept, this.#request.tools);
    if (this.#left.size > 0) this.#request.onLeftOut?.(this.#left);
    if (this.#named !== undefined) onLimit?.(chain.current, { maxOutputTokens: this.#named });
    const isUnread = last.type === "finish" && last.hasUnreadCall === true;
    if (isUnread) yield { type: "notice", severity: "warning", message: UNREAD_CALL };
    yield last;
  }

  /** A refusal ends the answer; no other fault does. */
  async *#giveUp(last: LastEvent, fault: Fault): AsyncGenerator<CallEvent> {
    if (last.type === "finish" && last.reason === "refusal") {
      yield { type: "notice", severity: "warning", message: fault.message };
      yield { ...last, isSilent: true };
    } else yield { type: "fault", fault: this.#withTries(fault) };
  }

  /** Passes the events of one request on, without the last one. `size`: in characters. */
  async *#read(limits: StreamLimits): AsyncGenerator<CallEvent, Read> {
    let hasCalls = false;
    let text = "";
    let size = 0;
    for await (const event of this.#open(limits)) {
      if (event.type === "finish" || event.type === "fault")
        return { last: event, hasCalls, hasContent: hasCalls || !PLACEHOLDER.test(text), size };
      hasCalls ||= event.type === "tool-call-end";
      if (event.type === "text-delta" && text.length < PLACEHOLDER_CHARS)
        text = (text + event.text).replace(BLANK_START, "");
      size += sizeOf(event);
      yield event;
    }
    throw new Error("The model's stream ended without its last event."); // streamModel always ends with such an event
  }

  /**
   * Counts a failed request. An answer longer than all before it is progress, which restarts the budget. A shorter one
   * is not: a stream that always breaks off at the same place must end. `elapsedMs`: undefined for a silent server.
   */
  #count(size: number, elapsedMs: number | undefined): void {
    const { used } = this.#attempts;
    if (size > this.#longest) {
      this.#longest = size;
      this.#waitId = newId();
      this.#attempts = { ...NO_ATTEMPTS, tries: 1, used };
      return;
    }
    const { tries, waitedMs, silences } = this.#attempts;
    const failed = elapsedMs === undefined ? { silences: silences + 1 } : { waitedMs: waitedMs + elapsedMs };
    this.#attempts = { ...this.#attempts, tries: tries + 1, ...failed };
  }

  #open(limits: StreamLimits): AsyncGenerator<ModelEvent> {
    const { chain, adaptations, editorModels } = this.#route;
    const { tools, sampling } = this.#request;
    const { current, untilChoice } = chain;
    const maxTokens = this.#maxTokens(current);
    if (this.#untilChoice.aborted) this.#beginAnew();
    this.#untilChoice = untilChoice;
    const refusals = adaptations.of(current);
    const request: ModelRequest = {
      endpoint: current.endpoint,
      model: current.model,
      messages: this.#sentMessages(current),
      tools: adaptations.toolsFor(current, tools),
      sampling: maxTokens === undefined ? sampling : { ...sampling, maxTokens },
      omittedParameters: [...refusals.parameters],
      requiresReasoning: refusals.needsReasoning,
      separatesRoles: refusals.separatesRoles,
      mergesSystem: refusals.mergesSystem,
      extraBody: this.#route.extraBody?.(current) ?? {},
      ...(editorModels && { editorModels }),
    };
    return streamModel(request, current.mode, this.#signal, limits);
  }

  /** Limit of an answer in tokens: the lowest of those that are known. Undefined for an API that needs none. */
  #maxTokens(model: ResolvedModel): number | undefined {
    const { adaptations, maxOutputTokens } = this.#route;
    const needed = model.mode === "anthropic_messages" ? modelInfo(model.model).maxOutputTokens : undefined;
    const wanted = this.#request.sampling.maxTokens ?? needed;
    const allowed = adaptations.of(model).maxTokens ?? maxOutputTokens?.(model);
    return wanted === undefined || allowed === undefined ? wanted : Math.min(wanted, allowed);
  }

  /** Returns false when the request had no limit. */
  #lowerOutput({ limits = [] }: Fault): boolean {
    const { chain, adaptations } = this.#route;
    const { current } = chain;
    const sent = this.#maxTokens(current);
    if (sent === undefined || adaptations.of(current).parameters.has("max_tokens")) return false;
    const lower = limits.filter((tokens) => tokens < sent);
    if (lower.length === 0 && current.mode === "chat_completions")
      return adaptations.dropParameter(current, "max_tokens");
    const maxTokens = lower.length > 0 ? Math.max(...lower) : Math.floor(sent / 2);
    adaptations.of(current).maxTokens = maxTokens;
    this.#named = lower.length > 0 ? maxTokens : undefined;
    return maxTokens > 0;
  }

  /** The messages without what is left out. */
  get #kept(): readonly Message[] {
    if (this.#left.size === 0) return this.#messages;
    return this.#messages.map((message) => {
      const content = this.#left.get(message);
      return content === undefined ? message : withContent(message, content);
    });
  }

  #sentMessages(model: ResolvedModel): readonly Message[] {
    const kept = repairMessages(this.#route.adaptations.apply(model, this.#kept));
    return withSentImages(kept, this.#acceptsImages(model));
  }

  #acceptsImages(model: ResolvedModel): boolean {
    const { adaptations, acceptsImages = (one: ResolvedModel) => !refusesImages(one, {}) } = this.#route;
    return acceptsImages(model) && !adaptations.of(model).noImages;
  }

  /** An empty answer is a fault too. So is one whose calls could not be read or did not come, once. */
  async #faultOf(last: LastEvent, hasContent: boolean, hasCalls: boolean): Promise<Fault | undefined> {
    if (last.type === "fault") return last.fault;
    if (last.reason === "refusal" && (!hasContent || last.isSilent))
      return faultOf("filtered", this.#route.chain.current);
    const isWithoutCall = last.hasUnreadCall === true || (last.reason === "tool_calls" && !hasCalls);
    if (isWithoutCall && !this.#attempts.used.has("nudge")) return faultOf("unread-call", this.#route.chain.current);
    return hasContent ? undefined : faultOf("empty", this.#route.chain.current);
  }

  /** Returns true after preparing another request. */
  async *#recover(fault: Fault): AsyncGenerator<CallEvent, boolean> {
    const { chain, clock, adaptations } = this.#route;
    if (this.#untilChoice.aborted) return true;
    if (fault.kind !== "network") adaptations.of(chain.current).isReached = true;
    const namesTool = this.#refusedTool(fault) !== undefined;
    const facts = adaptations.factsOf(chain.current, this.#messages, this.#left, fault.message);
    const hasNewTools = adaptations.newTools(chain.current, this.#request.tools).length > 0;
    const request = { ...facts, namesTool, hasNewTools };
    const limits = { budgetMs: this.#budgetMs(), random: clock.random(), request };
    const recovery = recoveryOf(fault, this.#attempts, limits);
    if (recovery.kind === "wait") {
      yield* this.#wait(fault, recovery.delayMs);
      return true;
    }
    if (recovery.kind === "remedy") {
      const { remedy } = recovery;
      const isApplied = yield* this.#applyVisibly(remedy, fault);
      // One that changes nothing is spent, too: the next look for a remedy would take it for ever.
      if (!isApplied || !REPEATED.has(remedy))
        this.#attempts = { ...this.#attempts, used: new Set([...this.#attempts.used, remedy]) };
      if (isApplied) {
        this.#attempts = { ...this.#attempts, tries: 0 };
        return true;
      }
      return yield* this.#recover(fault);
    }
    return yield* this.#fallBack(fault);
  }

  /** Longest time without progress that the current model gets. Milliseconds. */
  #budgetMs(): number {
    const { chain, retryMs, adaptations } = this.#route;
    const longest = adaptations.of(chain.current).isReached ? retryMs : Math.min(retryMs, UNREACHED_AFTER_MS);
    return chain.hasFallback ? Math.min(longest, FALLBACK_AFTER_MS) : longest;
  }

  /** Applies a remedy, and says in a line what the next request leaves out. */
  async *#applyVisibly(remedy: Remedy, fault: Fault): AsyncGenerator<CallEvent, boolean> {
    const left = this.#leaveOut(remedy, fault);
    if (left === undefined) return this.#apply(remedy, fault);
    const message = `${firstSentence(fault.message)} The request is sent again without ${left}.`;
    yield { type: "notice", severity: "warning", message };
    return true;
  }

  /** The part that the next request leaves out; undefined for a remedy of another kind. */
  #leaveOut(remedy: Remedy, fault: Fault): string | undefined {
    const { chain, adaptations } = this.#route;
    switch (remedy) {
      case "drop-tool": {
        const tool = this.#refusedTool(fault) ?? "";
        adaptations.of(chain.current).tools.add(tool);
        return `the tool ${tool}`;
      }
      case "plain-schemas":
        adaptations.of(chain.current).plainSchemas = true;
        return "the rarer parts of the tools' schemas";
      case "drop-new-tools": {
        adaptations.dropNewTools(chain.current, this.#request.tools);
        return "the tools of MCP servers and plugins";
      }
      case "drop-images":
        adaptations.of(chain.current).noImages = true;
        return "pictures";
      case "drop-new-images": {
        const refused = adaptations.withoutNewImages(chain.current, this.#messages, this.#left);
        this.#leave(refused);
        return refused.size === 1 ? "the new picture" : "the new pictures";
      }
      case "drop-new-results":
        this.#leave(withoutNewResults(this.#messages, this.#left));
        return "the newest tool results";
      case "drop-unanswered":
        this.#leave(withoutUnanswered(this.#messages, this.#left));
        return "the earlier messages that got no answer";
      default:
        return undefined;
    }
  }

  #leave(refused: LeftOut): void {
    this.#left = new Map([...this.#left, ...refused]);
  }

  /** Tool of a server or plugin that a refusal names, or whose number it gives. */
  #refusedTool({ message }: Fault): string | undefined {
    const tools = this.#route.adaptations.toolsFor(this.#route.chain.current, this.#request.tools);
    const numbers = /\btools[.[](\d+)(?:\]\.function_?declarations\[(\d+))?/i.exec(message)?.slice(1).map(Number) ?? [];
    const named = tools.filter(({ name }) => name.includes("__") && message.includes(name));
    const [longest] = named.toSorted((first, second) => second.name.length - first.name.length);
    return (longest ?? tools[Math.max(...numbers.filter((number) => number >= 0))])?.name;
  }

  async *#wait(fault: Fault, delayMs: number): AsyncGenerator<CallEvent> {
    const { waitedMs } = this.#attempts;
    if (delayMs > SILENT_WAIT_MS) {
      const reason = firstSentence(fault.message);
      const total = waitedMs < SHORTEST_TOTAL_MS ? "" : ` Waited ${durationText(waitedMs)} so far.`;
      yield {
        type: "notice",
        severity: "info",
        message: `${reason} Next try in ${durationText(delayMs)}.${total}`,
        wait: { id: this.#waitId, reason, delayMs, waitedMs },
      };
    }
    this.#attempts = { ...this.#attempts, waitedMs: waitedMs + delayMs };
    // A model that the user chooses is asked at once.
    const until = AbortSignal.any([this.#signal, this.#untilChoice]);
    await this.#route.clock.wait(delayMs, until).catch(() => this.#signal.throwIfAborted());
  }

  /** Adds the effort to the message of the last fault. */
  #withTries(fault: Fault): Fault {
    const { tries, waitedMs } = this.#attempts;
    if (tries < 2 || waitedMs < SHORTEST_TOTAL_MS) return fault;
    return { ...fault, message: `${fault.message} Hermes tried ${tries} times in ${durationText(waitedMs)}.` };
  }

  /** Returns false when the remedy is not available. */
  async #apply(remedy: Remedy, fault: Fault): Promise<boolean> {
    const { chain, adaptations, refreshKey } = this.#route;
    switch (remedy) {
      case "refresh-key": {
        const fresh = await refreshKey(chain.current);
        this.#signal.throwIfAborted();
        if (fresh !== undefined) chain.replaceCurrent(fresh);
        return fresh !== undefined;
      }
      case "drop-parameter":
        return fault.parameter !== undefined && adaptations.dropParameter(chain.current, fault.parameter);
      case "drop-reasoning":
        adaptations.dropReasoningBefore(this.#messages.length, chain.current);
        return true;
      case "add-reasoning":
        adaptations.of(chain.current).needsReasoning = true;
        return true;
      case "separate-roles":
        adaptations.of(chain.current).separatesRoles = true;
        return true;
      case "merge-system":
        adaptations.of(chain.current).mergesSystem = true;
        return true;
      case "lower-output":
        return this.#lowerOutput(fault);
      case "shorten": {
        const [contextWindow] = fault.kind === "context-overflow" ? (fault.limits ?? []) : [];
        if (contextWindow !== undefined) this.#route.onLimit?.(chain.current, { contextWindow });
        const shorter = await this.#request.onOverflow?.(this.#messages, this.#signal);
        this.#messages = shorter ?? this.#messages;
        return shorter !== undefined;
      }
      case "nudge":
        this.#messages = [
          ...this.#messages,
          { role: "user", content: fault.kind === "empty" ? NUDGE.empty : NUDGE.unread },
        ];
        return true;
      default:
        return false; // a remedy that leaves something out
    }
  }

  /** Another model has a budget of its own. */
  #beginAnew(): void {
    this.#attempts = NO_ATTEMPTS;
    this.#waitId = newId();
    this.#longest = 0;
    this.#left = new Map();
  }

  /** Falls back to the next model, if any, for the rest of the conversation. */
  async *#fallBack({ message }: Fault): AsyncGenerator<CallEvent, boolean> {
    const next = this.#route.chain.advance();
    if (next === undefined) return false;
    this.#beginAnew();
    const onwards = `Continuing with ${next.model} at ${endpointName(next.endpoint)}.`;
    yield { type: "notice", severity: "warning", message: `${firstSentence(message)} ${onwards}` };
    return true;
  }
}
