/**
 * Model calls outside the conversation: titles, summaries, approvals, notes for the memory. A task may have its own
 * model with fallbacks; without one the conversation's model answers.
 */
import type { AuxiliaryTask } from "../config/model-sections.ts";
import type { Message, ToolCall } from "../messages/message.ts";
import { callModel } from "../providers/call/call-model.ts";
import type { ModelRoute } from "../providers/call/model-route.ts";
import type { Fault } from "../providers/fault.ts";
import type { ModelSettings, ResolvedModel } from "../providers/resolve-model.ts";
import type { Sampling, ToolSchema, Usage } from "../providers/wire/wire.ts";

export type AuxiliaryAnswer =
  | { readonly ok: true; readonly text: string; readonly calls: readonly ToolCall[]; readonly usage: Usage | undefined }
  | { readonly ok: false; readonly fault: Fault };

type AuxiliaryRequest = {
  readonly messages: readonly Message[];
  /** Tools that the model may call. The calls are returned, not run. Default: none. */
  readonly tools?: readonly ToolSchema[];
  readonly sampling?: Sampling;
  readonly signal: AbortSignal;
};

/** Default timeouts in milliseconds. A task's section in config.yaml overrides its default. */
const TIMEOUT_MS: Readonly<Record<AuxiliaryTask, number>> = {
  compression: 120_000,
  title_generation: 30_000,
  approval: 30_000,
  flush_memories: 60_000,
  background_review: 60_000,
  mcp: 60_000,
  web_extract: 60_000,
  vision: 60_000,
  evaluation: 60_000,
  commit_message: 60_000,
  consolidation: 120_000,
  distillation: 120_000,
};

/** Share of a task's time for its retries, which the user does not see. */
const RETRY_SHARE = 1 / 6;

/** Models of a task: the first one and its fallbacks. */
export type AuxiliaryModels = {
  readonly chain: readonly ModelSettings[];
  /** Milliseconds. */
  readonly timeoutMs?: number | undefined;
};

export type AuxiliaryOptions = {
  readonly tasks: { readonly [Task in AuxiliaryTask]?: AuxiliaryModels };
  /** Undefined when there is no such model. */
  resolve(settings: ModelSettings): ResolvedModel | undefined;
  /** Route to the first model, with the others as fallbacks. */
  routeTo(first: ResolvedModel, others: readonly ResolvedModel[]): ModelRoute;
  /** Receives the usage of each answer, and its model. */
  onUsage(usage: Usage, model: ResolvedModel): void;
  /** Route of the conversation. */
  readonly main: ModelRoute;
};

export class Auxiliary {
  readonly #options: AuxiliaryOptions;
  readonly #routes = new Map<AuxiliaryTask, ModelRoute>();

  constructor(options: AuxiliaryOptions) {
    this.#options = options;
  }

  /** The model that is configured for this task alone; undefined when the conversation's model answers. */
  ownModel(task: AuxiliaryTask): ResolvedModel | undefined {
    const route = this.#route(task);
    return route === this.#options.main ? undefined : route.chain.current;
  }

  /**
   * Asks the model, with retries and fallbacks, and shows nothing. Throws the signal's reason when it is aborted; the
   * task's own timeout is a fault.
   */
  async ask(
    task: AuxiliaryTask,
    { messages, tools = [], sampling = {}, signal }: AuxiliaryRequest,
  ): Promise<AuxiliaryAnswer> {
    const timeoutMs = this.#options.tasks[task]?.timeoutMs ?? TIMEOUT_MS[task];
    const own = this.#routeFor(task);
    const route = { ...own, retryMs: Math.min(own.retryMs, timeoutMs * RETRY_SHARE) };
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const request = { messages, tools, sampling, signal: AbortSignal.any([signal, timeout]) };
      const answer = await collect(route, request);
      if (answer.ok && answer.usage !== undefined) this.#options.onUsage(answer.usage, route.chain.current);
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (!timeout.aborted) throw error;
      const message = `${route.chain.current.model} did not answer within ${Math.round(timeoutMs / 1000)} s.`;
      return { ok: false, fault: { kind: "timeout", message } };
    }
  }

  /** Asks the judge of work at temperature 0. Rejects with a reason for people when no answer comes. */
  async judge(request: { readonly system: string; readonly user: string }, signal: AbortSignal): Promise<string> {
    const messages = [
      { role: "system", content: request.system },
      { role: "user", content: request.user },
    ] as const;
    const answer = await this.ask("evaluation", { messages, sampling: { temperature: 0 }, signal });
    if (!answer.ok) throw new Error(answer.fault.message);
    return answer.text;
  }

  /** Copies the conversation's chain, so that a fallback of the task does not change the conversation's model. */
  #routeFor(task: AuxiliaryTask): ModelRoute {
    const route = this.#route(task);
    return route === this.#options.main ? { ...route, chain: route.chain.copy() } : route;
  }

  #route(task: AuxiliaryTask): ModelRoute {
    const known = this.#routes.get(task);
    if (known !== undefined) return known;
    const { tasks, resolve, routeTo, main } = this.#options;
    const [first, ...others] = (tasks[task]?.chain ?? []).map(resolve).filter((model) => model !== undefined);
    const route = first === undefined ? main : routeTo(first, others);
    this.#routes.set(task, route);
    return route;
  }
}

async function collect(
  route: ModelRoute,
  { messages, tools, sampling, signal }: Required<AuxiliaryRequest>,
): Promise<AuxiliaryAnswer> {
  let text = "";
  let calls: ToolCall[] = [];
  for await (const event of callModel({ messages, tools, sampling }, route, signal)) {
    if (event.type === "text-delta") text += event.text;
    else if (event.type === "tool-call-end") calls.push(event.call);
    else if (event.type === "restart") [text, calls] = ["", []];
    else if (event.type === "recast" && event.as === "reasoning") text = "";
    else if (event.type === "finish") return { ok: true, text, calls, usage: event.usage };
    else if (event.type === "fault") return { ok: false, fault: event.fault };
  }
  throw new Error("The model's stream ended without its last event."); // callModel always ends with a finish or a fault
}
