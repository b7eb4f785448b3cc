/**
 * Runs the tool calls of one answer: in parallel where they cannot conflict, otherwise in order. Read-only calls at the
 * front of the answer start while the rest still streams.
 */
import { isDeepStrictEqual } from "node:util";
import type { Effect } from "../approval/decision.ts";
import type { ToolCall, ToolMessage } from "../messages/message.ts";
import { messageOf } from "../platform/errors.ts";
import type { ToolKind, ToolResult } from "../tools/tool.ts";
import { causeOf } from "./cancellation.ts";
import { type ResolvedCall, resolveCall, startedEvent } from "./resolve-call.ts";
import { type CallServices, runCall } from "./run-call.ts";

/** Maximum number of calls that run at the same time. */
const CONCURRENT_CALLS = 8;

type Entry = { readonly resolved: ResolvedCall; started: Promise<ToolResult> | undefined };

export type BatchOutcome = {
  /** One for each call, in the order of the calls. */
  readonly results: readonly ToolMessage[];
  /** Calls with invalid arguments or an unknown tool, in order. */
  readonly invalid: readonly ResolvedCall[];
  readonly cancelled: boolean;
};

export class ToolBatch {
  readonly #services: CallServices;
  readonly #signal: AbortSignal;
  #entries: Entry[] = [];
  /** Calls that ran in failed attempts of this answer. When a new attempt repeats one, its result is reused. */
  #earlier: Entry[] = [];

  constructor(services: CallServices, signal: AbortSignal) {
    this.#services = services;
    this.#signal = signal;
  }

  /**
   * Adds a complete call, and starts it when it and all calls before it only read. Returns the call for the history:
   * with repaired arguments, and with its first id if it ran in an earlier attempt.
   */
  add(written: ToolCall): ToolCall {
    const resolved = resolveCall(written, this.#services);
    const { call } = resolved;
    const ran = this.#earlier.find((entry) => isDeepStrictEqual(entry.resolved.call.function, call.function));
    if (ran !== undefined) {
      this.#earlier = this.#earlier.filter((entry) => entry !== ran);
      this.#entries.push(ran);
      return ran.resolved.call;
    }
    const entry: Entry = { resolved, started: undefined };
    this.#entries.push(entry);
    this.#services.notify.toolProgress(startedEvent(entry.resolved));
    const allRead = this.#entries.every((added) => added.resolved.ok && added.resolved.tool.readOnly);
    if (allRead && this.#entries.length <= CONCURRENT_CALLS) this.#start(entry);
    return call;
  }

  kindOf(name: string): ToolKind {
    return this.#services.tools.find((tool) => tool.name === name)?.kind ?? "other";
  }

  mayRepeat(name: string): boolean {
    return this.#earlier.some(({ resolved }) => resolved.call.function.name === name);
  }

  /** Begins the answer again. Results of started calls are kept for reuse. */
  restart(): void {
    for (const entry of this.#entries) {
      if (entry.started !== undefined) this.#earlier.push(entry);
      else this.#services.notify.toolProgress({ type: "dropped", callId: entry.resolved.call.id });
    }
    this.#entries = [];
  }

  /** Runs all calls that have not started, and waits for all results. A cancelled call gets a result that says so. */
  async finish(calls: readonly ToolCall[]): Promise<BatchOutcome> {
    const order = new Map(calls.map((call, index) => [call.id, index]));
    const entries = this.#entries.toSorted(
      (first, second) => (order.get(first.resolved.call.id) ?? 0) - (order.get(second.resolved.call.id) ?? 0),
    );
    for (const group of groupsOf(entries)) await this.#runGroup(group);
    const results = await Promise.all(entries.map((entry) => this.#message(entry)));
    await this.settle();
    return {
      results,
      invalid: entries.map(({ resolved }) => resolved).filter((resolved) => !resolved.ok),
      cancelled: this.#signal.aborted,
    };
  }

  /** Waits for all started calls, including those of failed attempts. */
  async settle(): Promise<void> {
    await Promise.allSettled([...this.#earlier, ...this.#entries].map(({ started }) => started));
  }

  #start(entry: Entry): void {
    entry.started = runCall(entry.resolved, this.#services, this.#signal);
    entry.started.catch(() => undefined); // #message handles it; without this an early failure counts as unhandled
  }

  async #runGroup(group: readonly Entry[]): Promise<void> {
    const waiting = group.filter(({ started }) => started === undefined);
    const worker = async (): Promise<void> => {
      for (let entry = waiting.shift(); entry !== undefined && !this.#signal.aborted; entry = waiting.shift()) {
        this.#start(entry);
        await Promise.allSettled([entry.started]);
      }
    };
    await Promise.all(Array.from({ length: Math.min(CONCURRENT_CALLS, waiting.length) }, worker));
    await Promise.allSettled(group.map(({ started }) => started));
  }

  async #message({ resolved, started }: Entry): Promise<ToolMessage> {
    const id = resolved.call.id;
    try {
      const result = await started;
      if (result === undefined) return resultMessage(id, `Error: not run: ${causeOf(this.#signal)}.`);
      return resultMessage(id, result.ok ? result.text : `Error: ${result.text}`, result.images);
    } catch (error) {
      const reason = this.#signal.aborted ? `${causeOf(this.#signal)}.` : messageOf(error);
      return resultMessage(id, `Error: ${reason}`);
    }
  }
}

/** A tool may have cut its text within a character. A server refuses half of one, and so each request of the session. */
function resultMessage(callId: string, text: string, images: ToolResult["images"] = []): ToolMessage {
  const content = text.toWellFormed();
  return { role: "tool", tool_call_id: callId, content, ...(images.length > 0 && { images }) };
}

/** Divides the calls into groups that run one after the other. No two calls of a group conflict. */
function groupsOf(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const groups: Entry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    if (group?.every((other) => !conflict(other.resolved, entry.resolved))) group.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

function conflict(first: ResolvedCall, second: ResolvedCall): boolean {
  if (!first.ok || !second.ok) return false;
  if (first.tool.interactive || second.tool.interactive) return true;
  const [one, other] = [first.prepared.effect, second.prepared.effect];
  if (touchesNothing(one) || touchesNothing(other)) return false;
  if (isOrdered(one) || isOrdered(other)) return one.kind === other.kind;
  // A command may change anything, so it never runs together with another kind of call. Commands of one answer run in
  // parallel.
  if (one.kind === "command" || other.kind === "command") return one.kind !== other.kind;
  if (one.kind === "foreign" || other.kind === "foreign") return !(onlyReads(one) && onlyReads(other));
  if (one.kind === "read" && other.kind === "read") return false;
  const paths = new Set(one.paths);
  return other.paths.some((path) => paths.has(path));
}

function touchesNothing(effect: Effect): effect is Extract<Effect, { kind: "none" | "fetch" }> {
  return effect.kind === "none" || effect.kind === "fetch";
}

function onlyReads(effect: Effect): boolean {
  return effect.kind === "read" || (effect.kind === "foreign" && effect.readOnly);
}

/** Calls of one of these kinds run in order, beside calls of other kinds. */
function isOrdered(effect: Effect): effect is Extract<Effect, { kind: "memory" | "skill" | "job" | "browse" }> {
  return ["memory", "skill", "job", "browse"].includes(effect.kind);
}
