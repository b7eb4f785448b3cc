/**
 * One model call with recovery: it waits and retries, repairs its request, or falls back to the next model. It ends
 * with exactly one `finish` or `fault`, or throws the signal's reason.
 */

import type { Message } from "../../messages/message.ts";
import { repairMessages } from "../../messages/repair.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/new-id.ts";
import type { Fault } from "../fault.ts";
import { durationText, endpointName, faultOf } from "../fault-message.ts";
import { modelInfo } from "../model-info.ts";
import type { ResolvedModel } from "../resolve-model.ts";
import { type Silence, type StreamLimits, sizeOf, streamLimits, streamModel } from "../stream-model.ts";
import { withSentImages } from "../wire/sent-images.ts";
import type { EditorModels, ModelEvent, ModelRequest, Sampling, ToolSchema } from "../wire/wire.ts";
import type { Adaptations } from "./adaptations.ts";
import type { ModelChain } from "./model-chain.ts";
import { type Attempts, FALLBACK_AFTER_MS, type Remedy, recoveryOf, UNREACHED_AFTER_MS } from "./recovery.ts";

/** Longer waits are announced. Milliseconds. */
const SILENT_WAIT_MS = 2_000;
/** Shorter totals are not worth a word. Milliseconds. */
const SHORTEST_TOTAL_MS = 1_000;

/** Added only to the request after an answer without use. */
const NUDGE = {
  empty: "Your last answer was empty. Continue the task: answer in words, or call a tool.",
  unread: "Your last answer held a tool call as text that could not be read. Call the tool again, or answer in words.",
} as const;
/** Text that gateways write in place of an empty answer. */
const PLACEHOLDER = /^\s*\((?:empty|no) (?:content|response)\)\s*$/i;
const PLACEHOLDER_CHARS = 30;
const UNREAD_CALL = "The model wrote a tool call as text that could not be read, so the call did not run.";

export type ModelRoute = {
  readonly chain: ModelChain;
  readonly adaptations: Adaptations;
  readonly clock: Clock;
  readonly editorModels: EditorModels | undefined;
  /** Longest time without progress, in milliseconds. It includes waits and failed requests. */
  readonly retryMs: number;
  /** True for a model that gets the images of tool results. Default: by its name. */
  acceptsImages?(model: ResolvedModel): boolean;
  /** Further fields in the body of chat completions requests. */
  extraBody?(model: ResolvedModel): Readonly<Record<string, unknown>>;
  /** Silence that the model's server may keep. */
  silence(model: ResolvedModel): Silence;
  /** The same model with a new key; undefined when there is none. */
  refreshKey(model: ResolvedModel): Promise<ResolvedModel | undefined>;
};

export type CallRequest = {
  /** The system message first. Each request sends them repaired. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly sampling: Sampling;
  /** Shortens a conversation that the provider refuses as too long. Undefined when that is impossible. Default: none. */
  readonly onOverflow?: (messages: readonly Message[], signal: AbortSignal) => Promise<readonly Message[] | undefined>;
};

/** A wait before a retry. */
export type RetryWait = {
  /** The same for all waits of a call without progress between them. */
  readonly id: string;
  /** Sentence about the fault. */
  readonly reason: string;
  /** Delay of the next request, in milliseconds. */
  readonly delayMs: number;
  /** Time since the last progress, in milliseconds. */
  readonly waitedMs: number;
};

/** Events of a call: those of the model, and the handling of faults. */
export type CallEvent =
  | ModelEvent
  /** The answer so far is void; another one begins. */
  | { readonly type: "restart" }
  /** A text for people. `wait`: the wait that follows. */
  | {
      readonly type: "notice";
      readonly severity: "info" | "warning";
      readonly message: string;
      readonly wait?: RetryWait;
    };

type LastEvent = Extract<ModelEvent, { type: "finish" | "fault" }>;

export function callModel(request: CallRequest, route: ModelRoute, signal: AbortSignal): AsyncGenerator<CallEvent> {
  return new PersistentCall(request, route, signal).run();
}

class PersistentCall {
  readonly #request: CallRequest;
  readonly #route: ModelRoute;
  readonly #signal: AbortSignal;
  #messages: readonly Message[];
  #attempts: Attempts = { tries: 0, waitedMs: 0, silences: 0, used: new Set() };
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
      const { last, hasContent, size } = yield* this.#read(limits);
      const fault = this.#faultOf(last, hasContent);
      if (fault === undefined) {
        this.#route.adaptations.answered(this.#route.chain.current, this.#messages);
        const isUnread = last.type === "finish" && last.hasUnreadCall === true;
        if (isUnread) yield { type: "notice", severity: "warning", message: UNREAD_CALL };
        return void (yield last);
      }
      const isSilence = fault.kind === "timeout" && fault.status === undefined && size === 0;
      this.#count(size, isSilence ? undefined : limits.content.elapsed());
      if (!(yield* this.#recover(fault))) return yield* this.#giveUp(last, fault);
      yield { type: "restart" };
    }
  }

  /** A refusal is an end of the answer; every other fault is none. */
  async *#giveUp(last: LastEvent, fault: Fault): AsyncGenerator<CallEvent> {
    if (last.type === "finish" && last.reason === "refusal") {
      yield { type: "notice", severity: "warning", message: fault.message };
      yield { ...last, isSilent: true };
    } else yield { type: "fault", fault: this.#withTries(fault) };
  }

  /** Passes the events of one request on, without the last one. `size`: in characters. */
  async *#read(
    limits: StreamLimits,
  ): AsyncGenerator<CallEvent, { readonly last: LastEvent; readonly hasContent: boolean; readonly size: number }> {
    let hasCalls = false;
    let text = "";
    let size = 0;
    for await (const event of this.#open(limits)) {
      if (event.type === "finish" || event.type === "fault")
        return { last: event, hasContent: hasCalls || (text !== "" && !PLACEHOLDER.test(text)), size };
      hasCalls ||= event.type === "tool-call-end";
      if (event.type === "text-delta" && text.length < PLACEHOLDER_CHARS) text += event.text;
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
    const { tries, waitedMs, silences, used } = this.#attempts;
    if (size <= this.#longest) {
      this.#attempts = {
        tries: tries + 1,
        waitedMs: waitedMs + (elapsedMs ?? 0),
        silences: elapsedMs === undefined ? silences + 1 : silences,
        used,
      };
      return;
    }
    this.#longest = size;
    this.#waitId = newId();
    this.#attempts = { tries: 1, waitedMs: 0, silences: 0, used };
  }

  #open(limits: StreamLimits): AsyncGenerator<ModelEvent> {
    const { chain, adaptations, editorModels } = this.#route;
    const { tools, sampling } = this.#request;
    const { current, untilChoice } = chain;
    if (this.#untilChoice.aborted) this.#beginAnew();
    this.#untilChoice = untilChoice;
    const request: ModelRequest = {
      endpoint: current.endpoint,
      model: current.model,
      messages: this.#sentMessages(current),
      tools: adaptations.toolsFor(current, tools),
      sampling,
      omittedParameters: adaptations.parametersOf(current),
      requiresReasoning: adaptations.requiresReasoning(current),
      separatesRoles: adaptations.separatesRoles(current),
      extraBody: this.#route.extraBody?.(current) ?? {},
      ...(editorModels && { editorModels }),
    };
    return streamModel(request, current.mode, this.#signal, limits);
  }

  #sentMessages(model: ResolvedModel): readonly Message[] {
    const kept = repairMessages(this.#route.adaptations.apply(model, this.#messages));
    return withSentImages(kept, this.#acceptsImages(model));
  }

  #acceptsImages(model: ResolvedModel): boolean {
    const { adaptations, acceptsImages = ({ model: name }: ResolvedModel) => modelInfo(name).images } = this.#route;
    return acceptsImages(model) && !adaptations.refusesImages(model);
  }

  /** An empty answer is a fault too. So is one with a call that could not be read, once. */
  #faultOf(last: LastEvent, hasContent: boolean): Fault | undefined {
    if (last.type === "fault") return last.fault;
    if (last.reason === "refusal" && (!hasContent || last.isSilent))
      return faultOf("filtered", this.#route.chain.current);
    const isAskedAgain = last.hasUnreadCall === true && !this.#attempts.used.has("nudge");
    if (isAskedAgain) return faultOf("unread-call", this.#route.chain.current);
    return hasContent ? undefined : faultOf("empty", this.#route.chain.current);
  }

  /** Returns true after preparing another request. */
  async *#recover(fault: Fault): AsyncGenerator<CallEvent, boolean> {
    const { chain, clock, adaptations } = this.#route;
    if (this.#untilChoice.aborted) return true;
    if (fault.kind !== "network") adaptations.reached(chain.current);
    const namesTool = this.#refusedTool(fault) !== undefined;
    const request = { ...adaptations.factsOf(chain.current, this.#messages), namesTool };
    const limits = { budgetMs: this.#budgetMs(), random: clock.random(), request };
    const recovery = recoveryOf(fault, this.#attempts, limits);
    if (recovery.kind === "wait") {
      yield* this.#wait(fault, recovery.delayMs);
      return true;
    }
    if (recovery.kind === "remedy") {
      this.#attempts = { ...this.#attempts, used: new Set([...this.#attempts.used, recovery.remedy]) };
      if (yield* this.#applyVisibly(recovery.remedy, fault)) {
        this.#attempts = { ...this.#attempts, tries: 0 };
        return true;
      }
      // Each remedy of a refusal in unknown words is a guess; the next one may help.
      if (fault.kind === "bad-request" || fault.kind === "filtered") return yield* this.#recover(fault);
    }
    return yield* this.#fallBack(fault);
  }

  /** Longest time without progress that the current model gets. Milliseconds. */
  #budgetMs(): number {
    const { chain, retryMs, adaptations } = this.#route;
    const longest = adaptations.isReached(chain.current) ? retryMs : Math.min(retryMs, UNREACHED_AFTER_MS);
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
        adaptations.dropTool(chain.current, tool);
        return `the tool ${tool}`;
      }
      case "drop-new-images": {
        const count = adaptations.dropNewImages(chain.current, this.#messages);
        return count === 1 ? "the new picture" : `the ${count} new pictures`;
      }
      case "drop-new-results":
        adaptations.dropNewResults(chain.current, this.#messages);
        return "the newest tool results";
      case "drop-unanswered":
        adaptations.dropUnanswered(chain.current, this.#messages);
        return "the earlier messages that got no answer";
      default:
        return undefined;
    }
  }

  /** Tool of a server or plugin that a refusal names, or whose number it gives. */
  #refusedTool({ message }: Fault): string | undefined {
    const tools = this.#route.adaptations.toolsFor(this.#route.chain.current, this.#request.tools);
    const number = /\btools[.[](\d+)/.exec(message)?.[1];
    const named = tools.filter(({ name }) => name.includes("__") && message.includes(name));
    const [longest] = named.toSorted((first, second) => second.name.length - first.name.length);
    return (longest ?? (number === undefined ? undefined : tools[Number(number)]))?.name;
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
        adaptations.requireReasoning(chain.current);
        return true;
      case "separate-roles":
        adaptations.separateRoles(chain.current);
        return true;
      case "drop-images":
        adaptations.dropImages(chain.current);
        return true;
      case "shorten": {
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
    this.#attempts = { tries: 0, waitedMs: 0, silences: 0, used: new Set() };
    this.#waitId = newId();
    this.#longest = 0;
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

/** First sentence of a fault's message, without the advice. */
function firstSentence(message: string): string {
  return /^.*?[.!?](?=\s[A-Z]|$)/.exec(message)?.[0] ?? message;
}
