/**
 * Questions to a model that are not the conversation: titles, summaries, judgements. Each task may have a model and a
 * chain of its own; without one the conversation's model answers.
 */
import type { Message, ToolCall } from "../messages/message.ts";
import { callModel, type ModelRoute } from "../providers/call/call-model.ts";
import type { Fault } from "../providers/fault.ts";
import type { ModelSettings, ResolvedModel } from "../providers/resolve.ts";
import type { Sampling, ToolSchema, Usage } from "../providers/wire/wire.ts";

export type AuxiliaryTask = "compression" | "title_generation" | "approval" | "flush_memories";

export type AuxiliaryAnswer =
  | { readonly ok: true; readonly text: string; readonly calls: readonly ToolCall[]; readonly usage: Usage | undefined }
  | { readonly ok: false; readonly fault: Fault };

type AuxiliaryRequest = {
  readonly messages: readonly Message[];
  /** What it may call; default: nothing. The calls are given back, not run. */
  readonly tools?: readonly ToolSchema[];
  readonly sampling?: Sampling;
  readonly signal: AbortSignal;
};

/** Longest a task may take, unless its section says otherwise; original-agent-facts.md §9.2. Milliseconds. */
const TIMEOUT_MS: Readonly<Record<AuxiliaryTask, number>> = {
  compression: 120_000,
  title_generation: 30_000,
  approval: 30_000,
  flush_memories: 60_000,
};

/** A task's own models, the first one first; default: the conversation's. */
export type AuxiliaryModels = {
  readonly chain: readonly ModelSettings[];
  /** Milliseconds. */
  readonly timeoutMs?: number;
};

export type AuxiliaryOptions = {
  readonly tasks: { readonly [Task in AuxiliaryTask]?: AuxiliaryModels };
  /** Undefined when there is no such model. */
  resolve(settings: ModelSettings): ResolvedModel | undefined;
  /** A way to the first of these models, the others behind it. */
  lineTo(first: ResolvedModel, others: readonly ResolvedModel[]): ModelRoute;
  /** Told what each answer took, and whose it was. */
  used(usage: Usage, model: ResolvedModel): void;
  /** The conversation's. */
  readonly main: ModelRoute;
};

export class Auxiliary {
  readonly #options: AuxiliaryOptions;
  readonly #lines = new Map<AuxiliaryTask, ModelRoute>();

  constructor(options: AuxiliaryOptions) {
    this.#options = options;
  }

  /** The model that the task has for itself, so that asking costs the conversation's model nothing. */
  ownModel(task: AuxiliaryTask): ResolvedModel | undefined {
    const line = this.#line(task);
    return line === this.#options.main ? undefined : line.chain.current;
  }

  /**
   * Asks through every fault that can be got over, without showing anything. Throws the signal's reason when it is
   * aborted; the task's own time running out is a fault.
   */
  async ask(
    task: AuxiliaryTask,
    { messages, tools = [], sampling = {}, signal }: AuxiliaryRequest,
  ): Promise<AuxiliaryAnswer> {
    const line = this.#lineFor(task);
    const timeoutMs = this.#options.tasks[task]?.timeoutMs ?? TIMEOUT_MS[task];
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const request = { messages, tools, sampling, signal: AbortSignal.any([signal, timeout]) };
      const answer = await collect(line, request);
      if (answer.ok && answer.usage !== undefined) this.#options.used(answer.usage, line.chain.current);
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (!timeout.aborted) throw error;
      const message = `${line.chain.current.model} did not answer within ${Math.round(timeoutMs / 1000)} s.`;
      return { ok: false, fault: { kind: "timeout", message } };
    }
  }

  /** A stand-in that the task takes in the conversation's place is none for the conversation. */
  #lineFor(task: AuxiliaryTask): ModelRoute {
    const line = this.#line(task);
    return line === this.#options.main ? { ...line, chain: line.chain.copy() } : line;
  }

  #line(task: AuxiliaryTask): ModelRoute {
    const known = this.#lines.get(task);
    if (known !== undefined) return known;
    const { tasks, resolve, lineTo, main } = this.#options;
    const [first, ...others] = (tasks[task]?.chain ?? []).map(resolve).filter((model) => model !== undefined);
    const line = first === undefined ? main : lineTo(first, others);
    this.#lines.set(task, line);
    return line;
  }
}

async function collect(
  line: ModelRoute,
  { messages, tools, sampling, signal }: Required<AuxiliaryRequest>,
): Promise<AuxiliaryAnswer> {
  let text = "";
  let calls: ToolCall[] = [];
  for await (const event of callModel({ messages, tools, sampling }, line, signal)) {
    if (event.type === "text-delta") text += event.text;
    else if (event.type === "tool-call-end") calls.push(event.call);
    else if (event.type === "restart") [text, calls] = ["", []];
    else if (event.type === "finish") return { ok: true, text, calls, usage: event.usage };
    else if (event.type === "fault") return { ok: false, fault: event.fault };
  }
  throw new Error("The model's stream ended without its last event."); // callModel promises one
}
