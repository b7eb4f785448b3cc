/**
 * One model call that persists: waits and tries again, mends its request, goes on to the next model. Ends with exactly
 * one `finish` or `fault`, or throws the signal's reason.
 */
import type { Message } from "../../messages/message.ts";
import { repairMessages } from "../../messages/repair.ts";
import type { Clock } from "../../platform/clock.ts";
import { Deadline } from "../../platform/deadline.ts";
import { faultOf } from "../classify.ts";
import type { Fault } from "../fault.ts";
import type { ResolvedModel } from "../resolve.ts";
import { streamModel } from "../stream-model.ts";
import type { EditorModels, ModelEvent, ModelRequest, Sampling, ToolSchema } from "../wire/wire.ts";
import type { Adaptations } from "./adaptations.ts";
import type { CallEvent } from "./call-event.ts";
import type { ModelChain } from "./model-chain.ts";
import { type Attempts, MAX_TRIES, type Remedy, recoveryOf } from "./recovery.ts";

/** A wait is told of when it is longer; behaviour.md §API modes, Faults. */
const SILENT_WAIT_MS = 2_000;

/** Goes with the request after an empty answer, and nowhere else. */
const NUDGE = "Your last answer was empty. Go on with the task: answer in words, or call a tool.";

export type ModelLine = {
  readonly chain: ModelChain;
  readonly adaptations: Adaptations;
  readonly clock: Clock;
  readonly editorModels: EditorModels | undefined;
  /** Longest silence of a stream, in milliseconds. */
  silenceMs(model: ResolvedModel): number;
  /** The same model with a key that is new; undefined when there is none. */
  refreshKey(model: ResolvedModel): Promise<ResolvedModel | undefined>;
  /** A shorter conversation of the same meaning; undefined when it cannot be made shorter. */
  shorten(messages: readonly Message[], signal: AbortSignal): Promise<readonly Message[] | undefined>;
};

export type CallRequest = {
  /** System message first; already repaired. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly sampling: Sampling;
};

export function callModel(request: CallRequest, line: ModelLine, signal: AbortSignal): AsyncGenerator<CallEvent> {
  return new PersistentCall(request, line, signal).run();
}

class PersistentCall {
  readonly #request: CallRequest;
  readonly #line: ModelLine;
  readonly #signal: AbortSignal;
  #messages: readonly Message[];
  #attempts: Attempts = { tries: 0, waitedMs: 0, used: new Set() };

  constructor(request: CallRequest, line: ModelLine, signal: AbortSignal) {
    this.#request = request;
    this.#line = line;
    this.#signal = signal;
    this.#messages = request.messages;
  }

  async *run(): AsyncGenerator<CallEvent> {
    for (;;) {
      let last: Extract<ModelEvent, { type: "finish" | "fault" }> | undefined;
      let hasContent = false as boolean;
      for await (const event of this.#open()) {
        if (event.type === "finish" || event.type === "fault") last = event;
        else {
          hasContent ||= event.type === "text-delta" || event.type === "tool-call-end";
          yield event;
        }
      }
      if (last === undefined) throw new Error("The model's stream ended without its last event."); // streamModel promises one
      const fault = this.#faultOf(last, hasContent);
      if (fault === undefined) return void (yield last);
      if (!(yield* this.#recover(fault))) return void (yield { type: "fault", fault });
      yield { type: "restart" };
    }
  }

  #open(): AsyncGenerator<ModelEvent> {
    const { chain, adaptations, clock, editorModels, silenceMs } = this.#line;
    const { tools, sampling } = this.#request;
    const { current } = chain;
    this.#attempts = { ...this.#attempts, tries: this.#attempts.tries + 1 };
    const request: ModelRequest = {
      endpoint: current.endpoint,
      model: current.model,
      messages: adaptations.apply(current, this.#messages),
      tools,
      sampling,
      omittedParameters: adaptations.parametersOf(current),
      ...(editorModels && { editorModels }),
    };
    return streamModel(request, current.mode, this.#signal, new Deadline(silenceMs(current), clock));
  }

  /** An answer with nothing in it is a fault as well; a refusal needs no words. */
  #faultOf(last: Extract<ModelEvent, { type: "finish" | "fault" }>, hasContent: boolean): Fault | undefined {
    if (last.type === "fault") return last.fault;
    return hasContent || last.reason === "refusal" ? undefined : faultOf("empty", this.#line.chain.current);
  }

  /** True when another request is worth it, which is prepared then. */
  async *#recover(fault: Fault): AsyncGenerator<CallEvent, boolean> {
    const recovery = recoveryOf(fault, this.#attempts, this.#line.clock.random());
    if (recovery.kind === "wait") {
      yield* this.#wait(fault, recovery.delayMs);
      return true;
    }
    if (recovery.kind === "remedy") {
      this.#attempts = { ...this.#attempts, used: new Set([...this.#attempts.used, recovery.remedy]) };
      if (await this.#apply(recovery.remedy, fault)) return true;
    }
    return yield* this.#goOn(fault);
  }

  async *#wait({ message }: Fault, delayMs: number): AsyncGenerator<CallEvent> {
    const { tries, waitedMs } = this.#attempts;
    if (delayMs > SILENT_WAIT_MS) {
      const seconds = Math.round(delayMs / 1000);
      const next = `Waiting ${seconds} s, then try ${tries + 1} of ${MAX_TRIES}.`;
      yield { type: "notice", severity: "info", message: `${factOf(message)} ${next}`, waitMs: delayMs };
    }
    await this.#line.clock.wait(delayMs, this.#signal);
    this.#attempts = { ...this.#attempts, waitedMs: waitedMs + delayMs };
  }

  /** False when the remedy is not to be had. */
  async #apply(remedy: Remedy, fault: Fault): Promise<boolean> {
    const { chain, adaptations, refreshKey, shorten } = this.#line;
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
        adaptations.dropReasoningBefore(this.#messages.length);
        return true;
      case "drop-images":
        adaptations.dropImages(chain.current);
        return true;
      case "shorten": {
        const shorter = await shorten(this.#messages, this.#signal);
        this.#messages = shorter ?? this.#messages;
        return shorter !== undefined;
      }
      case "nudge":
        this.#messages = repairMessages([...this.#messages, { role: "user", content: NUDGE }]);
        return true;
    }
  }

  /** On to the next model, when there is one; it stays for the conversation. */
  async *#goOn({ message }: Fault): AsyncGenerator<CallEvent, boolean> {
    const next = this.#line.chain.advance();
    if (next === undefined) return false;
    this.#attempts = { tries: 0, waitedMs: this.#attempts.waitedMs, used: new Set() };
    const onwards = `Going on with ${next.model} at ${next.endpoint.provider}.`;
    yield { type: "notice", severity: "warning", message: `${factOf(message)} ${onwards}` };
    return true;
  }
}

/** A fault's sentence without its advice, which is for the end. */
function factOf(message: string): string {
  return /^.*?[.:!?](?=\s[A-Z]|$)/.exec(message)?.[0] ?? message;
}
