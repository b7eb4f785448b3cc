/**
 * Hooks: the user's own checks and reactions at fixed moments of a session. They come from config.yaml, from files of the
 * workspace and from plugins. `Hooks` runs the hooks of one event in parallel and merges their verdicts.
 */
import { basename, dirname } from "node:path";
import { abortable } from "../platform/deadline.ts";
import { messageOf } from "../platform/errors.ts";
import type { RecordedHook } from "../sessions/outcome-entries.ts";

/** Begins a text that a hook adds to the result of a call. */
export const HOOK_TEXT_HEAD = "[From a hook after this call: ";

/** Each event is emitted at one place. The events of a tool call cover sub-agents, MCP tools and the editor's tools. */
export const HOOK_EVENTS = [
  /** Before a call is judged by the policy. A hook may block it, ask the user, or change its input. */
  "pre_tool_call",
  /** After a call has run. `context` and the reason of a `block` are added to the result. */
  "post_tool_call",
  /** After `post_tool_call`. `text` replaces the result that the model gets. */
  "transform_tool_result",
  /**
   * Once a turn, before its first model call. `context` goes into the user's message of this turn's requests, and a
   * `block` ends the turn.
   */
  "pre_llm_call",
  /** Once a turn, after its last answer. */
  "post_llm_call",
  /** Before a turn ends. A `block` continues the turn with its reason. */
  "on_stop",
  /** Before a turn with edits ends. A `block` continues the turn with its reason. */
  "pre_verify",
  /** Before the first turn of an open session. `context` counts as that of `pre_llm_call`. */
  "on_session_start",
  "on_session_end",
  /** Before an open session closes. */
  "on_session_finalize",
  /** The conversation was taken back to its start, or replaced by another. */
  "on_session_reset",
  "subagent_start",
  "subagent_stop",
  /** Before the user is asked for permission. */
  "pre_approval_request",
  "post_approval_response",
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Files of a workspace that have hooks. */
export const CLAUDE_FILES = [".claude/settings.json", ".claude/settings.local.json"] as const;
export const OTHER_FILES = [".cursor/hooks.json", ".codex/hooks.json", ".gemini/settings.json"] as const;
/** Folder of a workspace whose JSON files have hooks. */
export const COPILOT_FOLDER = ".github/hooks";

/**
 * Environment variable of all processes of a hook. An agent that a hook starts runs no hooks, so that hooks cannot start
 * each other without end.
 */
export const IN_HOOK_VARIABLE = "HERMES_IN_HOOK";

/** Label of the hook that checks calls against the user's learnt rules. */
export const HOOK_OF_RULES = "learnt rules";

/** JSON that a hook gets, the same for commands and plugins. */
export type HookPayload = {
  readonly hook_event_name: HookEvent;
  readonly tool_name: string | null;
  readonly tool_input: unknown;
  readonly session_id: string;
  /** Working folder of the session, absolute. */
  readonly cwd: string;
  /** Name of the profile; `default` for the home of the user. */
  readonly profile: string;
  /** Facts of the event: `task_id`, `tool_call_id`, `result`, `ok`, `duration_ms`, `user_message` and others. */
  readonly extra: Readonly<Record<string, unknown>>;
};

/** Answer of a hook; an empty object lets the event continue. */
export type HookVerdict = {
  /** `approve` counts for hooks from the home only, and never lifts a block or a protected path. */
  readonly decision?: "block" | "ask" | "approve";
  /** Reason of the decision, for the model and the user. */
  readonly reason?: string;
  /** Input of the tool call in place of the model's. It is validated and judged like the model's. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Text in place of the tool's result (`transform_tool_result`). */
  readonly text?: string;
  /** Text for the model. */
  readonly context?: string;
};

export type HookOrigin = "home" | "workspace" | "plugin";

export type Hook = {
  readonly event: HookEvent;
  /** Tools that the hook is for, by name. Default: all. Events without a tool ignore it. */
  readonly matcher?: (tool: string) => boolean;
  /** Name in messages, on cards and in the journal: the command, or the plugin's name. */
  readonly label: string;
  readonly origin: HookOrigin;
  /** `pre_tool_call`: true blocks the call when the hook fails or times out. */
  readonly failClosed: boolean;
  readonly timeoutMs: number;
  /** True for a hook that nobody waits for: its context comes with a later event. Default false. */
  readonly isBackground?: boolean;
  /** Rejects with a reason in one line when the hook failed. The signal ends it at its timeout or with the turn. */
  run(payload: HookPayload, signal: AbortSignal): Promise<HookVerdict>;
};

/** Verdicts of all hooks of an event. A block wins over a question, and a question over an approval. */
export type MergedVerdict = {
  readonly decision: "continue" | "block" | "ask" | "approve";
  /** Reasons of the decision, one sentence each. */
  readonly reasons: readonly string[];
  /** Labels of the hooks that made the decision. */
  readonly decidedBy: readonly string[];
  readonly input: Readonly<Record<string, unknown>> | undefined;
  readonly text: string | undefined;
  readonly context: readonly string[];
  /** Labels of hooks that changed the input or the text. */
  readonly changedBy: readonly string[];
};

export type HookFacts = {
  readonly callId?: string;
  readonly tool?: string;
  readonly input?: unknown;
  readonly extra?: Readonly<Record<string, unknown>>;
};

export type HooksOptions = {
  /** Read at each event. */
  readonly hooks: () => readonly Hook[];
  readonly sessionId: string;
  /** Task of the running turn. Default: none. */
  readonly taskId?: () => string;
  readonly cwd: string;
  /** Folder of the Hermes home, absolute. */
  readonly home: string;
  readonly report: (run: RecordedHook) => void;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicNow: () => number;
};

/** Events whose context reaches the model. */
const CONTEXTUAL: ReadonlySet<HookEvent> = new Set(["on_session_start", "pre_llm_call", "post_tool_call"]);
/** Time for hooks to end when their session closes, before they are killed. Milliseconds. */
const CLOSING_MS = 1_000;

type Ran = { readonly hook: Hook; readonly verdict: HookVerdict };

export class Hooks {
  readonly #options: HooksOptions;
  readonly #closed = new AbortController();
  readonly #observing = new Set<Promise<unknown>>();
  readonly #background = new Set<Promise<unknown>>();
  /** Context of background hooks that have ended, for the next event that can bring it to the model. */
  readonly #late: string[] = [];

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  has(event: HookEvent): boolean {
    return this.#options.hooks().some((hook) => hook.event === event) || this.#hasLate(event);
  }

  /** Runs the hooks of the event. Rejects with the signal's reason when the turn was cancelled. */
  async run(event: HookEvent, facts: HookFacts, signal: AbortSignal): Promise<MergedVerdict> {
    const { tool } = facts;
    const chosen = this.#options
      .hooks()
      .filter((hook) => hook.event === event && (tool === undefined || (hook.matcher?.(tool) ?? true)));
    if (chosen.length === 0 && !this.#hasLate(event)) return merge([], undefined);
    const { sessionId, taskId, cwd, home } = this.#options;
    const profile = basename(dirname(home)) === "profiles" ? basename(home) : "default";
    const payload: HookPayload = {
      hook_event_name: event,
      tool_name: tool ?? null,
      tool_input: facts.input ?? null,
      session_id: sessionId,
      cwd,
      profile,
      extra: {
        ...(taskId && { task_id: taskId() }),
        ...facts.extra,
        ...(facts.callId !== undefined && { tool_call_id: facts.callId }),
      },
    };
    const waited = chosen.filter(({ isBackground }) => isBackground !== true);
    const ran = Promise.all(waited.map((hook) => this.#runOne(hook, payload, facts.callId, signal)));
    for (const hook of chosen.filter(({ isBackground }) => isBackground))
      track(this.#background, this.#runOne(hook, payload, facts.callId, this.#closed.signal));
    const merged = merge(await ran, facts.input);
    signal.throwIfAborted();
    return this.#hasLate(event) ? { ...merged, context: [...this.#late.splice(0), ...merged.context] } : merged;
  }

  #hasLate(event: HookEvent): boolean {
    return this.#late.length > 0 && CONTEXTUAL.has(event);
  }

  /** Runs the hooks of an event that no verdict can change. `idle` waits for them. */
  observe(event: HookEvent, facts: HookFacts): void {
    if (this.#closed.signal.aborted || !this.has(event)) return;
    const running = this.run(event, facts, this.#closed.signal).catch(() => undefined); // the session has closed
    track(this.#observing, running);
  }

  /** Waits for the hooks of observed events, at most until the signal is aborted. */
  async idle(signal: AbortSignal): Promise<void> {
    await abortable(Promise.all(this.#observing), signal).catch(() => undefined); // `close` ends those that still run
  }

  /** Waits for the hooks that still run, and ends those that take too long. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#closed.abort(new Error("the session has closed")), CLOSING_MS);
    await Promise.all([...this.#observing, ...this.#background]);
    clearTimeout(timer);
    this.#closed.abort(new Error("the session has closed"));
  }

  async #runOne(hook: Hook, payload: HookPayload, callId: string | undefined, signal: AbortSignal): Promise<Ran> {
    const { monotonicNow, report } = this.#options;
    const start = monotonicNow();
    let verdict: HookVerdict;
    let failure: string | undefined;
    try {
      verdict = ownVerdict(hook, await withTimeout(hook, payload, signal));
    } catch (error) {
      failure = messageOf(error);
      const reason = `The hook "${hook.label}" failed: ${failure}`;
      verdict = hook.failClosed && hook.event === "pre_tool_call" ? { decision: "block", reason } : {};
    }
    const late = verdict.context ?? (verdict.decision === "block" ? verdict.reason : undefined);
    if (hook.isBackground && late !== undefined) this.#late.push(late);
    if (!signal.aborted) {
      const { event, label } = hook;
      const outcome = failure === undefined ? outcomeOf(verdict) : "failed";
      const durationMs = Math.round(monotonicNow() - start);
      const message = failure ?? verdict.reason;
      report({
        name: label,
        event,
        outcome,
        durationMs,
        ...(callId !== undefined && { callId }),
        ...(message !== undefined && { message }),
      });
    }
    return { hook, verdict };
  }
}

function track(running: Set<Promise<unknown>>, one: Promise<unknown>): void {
  running.add(one);
  void one.finally(() => running.delete(one));
}

/** Drops the approval of a workspace's hook: a workspace must not give itself permissions. */
function ownVerdict({ origin }: Hook, { decision, ...rest }: HookVerdict): HookVerdict {
  return decision === undefined || (decision === "approve" && origin !== "home") ? rest : { decision, ...rest };
}

function outcomeOf({ decision, input, text }: HookVerdict): RecordedHook["outcome"] {
  if (decision === "block") return "blocked";
  return input === undefined && text === undefined ? "passed" : "changed";
}

/** Settles at the timeout or the cancel even if the hook ignores its signal. */
async function withTimeout(hook: Hook, payload: HookPayload, signal: AbortSignal): Promise<HookVerdict> {
  signal.throwIfAborted();
  const timeout = new AbortController();
  const late = new Error(`no answer within ${hook.timeoutMs / 1_000} s`);
  const timer = setTimeout(() => timeout.abort(late), hook.timeoutMs);
  const ended = AbortSignal.any([signal, timeout.signal]);
  try {
    return await abortable(hook.run(payload, ended), ended);
  } finally {
    clearTimeout(timer);
  }
}

function merge(ran: readonly Ran[], before: unknown): MergedVerdict {
  const changing = ran.filter(({ verdict }) => verdict.input !== undefined || verdict.text !== undefined);
  const decision = (["block", "ask", "approve"] as const).find((kind) =>
    ran.some(({ verdict }) => verdict.decision === kind),
  );
  const deciding = ran.filter(({ verdict }) => decision !== undefined && verdict.decision === decision);
  const changed = mergedInput(ran, before);
  const merged: MergedVerdict = {
    decision: decision ?? "continue",
    reasons: deciding.map(({ hook, verdict }) => verdict.reason ?? `The hook "${hook.label}" gave no reason.`),
    decidedBy: deciding.map(({ hook }) => hook.label),
    input: changed.input,
    text: changing.find(({ verdict }) => verdict.text !== undefined)?.verdict.text,
    context: ran.flatMap(({ verdict }) => verdict.context ?? []),
    changedBy: changing.map(({ hook }) => hook.label),
  };
  if (changed.conflict === undefined || decision === "block") return merged;
  return { ...merged, decision: "block", reasons: [changed.conflict], decidedBy: merged.changedBy };
}

/** The changes of all hooks to the input. Two hooks that give one argument different values are a conflict. */
function mergedInput(
  ran: readonly Ran[],
  before: unknown,
): { readonly input: HookVerdict["input"] | undefined; readonly conflict?: string } {
  const first = { ...(typeof before === "object" ? before : {}) } as Readonly<Record<string, unknown>>; // of a call
  const changes = new Map<string, { readonly value: unknown; readonly by: string }>();
  for (const { hook, verdict } of ran) {
    const { input } = verdict;
    if (input === undefined) continue;
    for (const key of new Set([...Object.keys(first), ...Object.keys(input)])) {
      if (isEqual(input[key], first[key])) continue;
      const other = changes.get(key);
      if (other !== undefined && !isEqual(other.value, input[key])) {
        const conflict = `The hooks "${other.by}" and "${hook.label}" change ${key} of this call in different ways.`;
        return { input: undefined, conflict };
      }
      changes.set(key, { value: input[key], by: hook.label });
    }
  }
  if (changes.size === 0) return { input: undefined };
  const input = { ...first, ...Object.fromEntries([...changes].map(([key, { value }]) => [key, value])) };
  return { input: Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
