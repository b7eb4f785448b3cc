/** Emits the agent's notifications. A callback that throws never ends a turn. */
import type { EntryOf, StoredDiff } from "../sessions/entry.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { RecordedHook } from "../sessions/outcome-entries.ts";
import type { FileDiff } from "../tools/tool.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import type { AgentCallbacks, AgentState, ToolProgressEvent } from "./callbacks.ts";

type Notifications = Required<Omit<AgentCallbacks, "clarify" | "approval" | "password">>;

export type Notifier = { readonly [Name in keyof Notifications]: Notifications[Name] };

/** The callbacks with `state`, derived from the others: the user is asked by three of them. */
export function withStates(callbacks: AgentCallbacks): AgentCallbacks {
  const { state, approval, clarify, password } = callbacks;
  if (state === undefined) return callbacks;
  let current: AgentState = "idle";
  let shown: AgentState = "idle";
  let questions = 0;
  const show = (next: AgentState): void => {
    current = next;
    const visible = questions > 0 ? "waiting" : current;
    if (visible === shown) return;
    shown = visible;
    state.call(callbacks, { state: visible });
  };
  const asking =
    <Args extends unknown[], Answer>(ask: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      questions += 1;
      show(current);
      try {
        return await ask.apply(callbacks, args);
      } finally {
        questions -= 1;
        show(current);
      }
    };
  return {
    ...callbacks,
    state: (event) => show(event.state),
    thinking: (event) => {
      if (event.active) show("thinking");
      callbacks.thinking?.(event);
    },
    toolProgress: (event) => {
      if (event.type === "running") show("executing");
      callbacks.toolProgress?.(event);
    },
    ...(approval && { approval: asking(approval) }),
    ...(clarify && { clarify: asking(clarify) }),
    ...(password && { password: asking(password) }),
  };
}

/** Characters of an event in the log. */
const LOGGED_CHARS = 500;

/**
 * `onDefect` receives a line for the log about each callback that threw, and with `verboseLogging` about each event but
 * deltas. With `quietMode`, a status that is only information is dropped.
 */
export function notifier(
  callbacks: AgentCallbacks,
  onDefect: (message: string) => void,
  { verboseLogging, quietMode }: Pick<AIAgentOptions, "verboseLogging" | "quietMode"> = {},
): Notifier {
  const log = (name: keyof Notifications, event: unknown): void => {
    if (!verboseLogging || name === "streamDelta" || name === "reasoning") return;
    onDefect(`${name} ${JSON.stringify(event)}`.slice(0, LOGGED_CHARS));
  };
  const guard =
    <Event>(name: keyof Notifications, callback: ((event: Event) => void) | undefined) =>
    (event: Event): void => {
      log(name, event);
      if (quietMode && name === "status" && Object(event).severity === "info") return;
      try {
        callback?.(event);
      } catch (error) {
        onDefect(
          `The callback ${name} threw: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
      }
    };
  return {
    state: guard("state", callbacks.state?.bind(callbacks)),
    toolProgress: guard("toolProgress", callbacks.toolProgress?.bind(callbacks)),
    thinking: guard("thinking", callbacks.thinking?.bind(callbacks)),
    reasoning: guard("reasoning", callbacks.reasoning?.bind(callbacks)),
    step: guard("step", callbacks.step?.bind(callbacks)),
    streamDelta: guard("streamDelta", callbacks.streamDelta?.bind(callbacks)),
    toolGen: guard("toolGen", callbacks.toolGen?.bind(callbacks)),
    prompted: guard("prompted", callbacks.prompted?.bind(callbacks)),
    steered: guard("steered", callbacks.steered?.bind(callbacks)),
    compressed: guard("compressed", callbacks.compressed?.bind(callbacks)),
    contextPressure: guard("contextPressure", callbacks.contextPressure?.bind(callbacks)),
    title: guard("title", callbacks.title?.bind(callbacks)),
    plan: guard("plan", callbacks.plan?.bind(callbacks)),
    status: guard("status", callbacks.status?.bind(callbacks)),
  };
}

type ToolProgress = (event: ToolProgressEvent) => void;
type Started = Extract<ToolProgressEvent, { type: "started" }>;

/**
 * Wraps `emit` so that each finished call is written to the journal first. A resumed session replays these entries.
 * `storeDiff` gives a diff as the journal stores it.
 */
export function journalledProgress(
  emit: ToolProgress,
  journal: (entry: NewEntry) => void,
  storeDiff: (diff: FileDiff) => StoredDiff,
): ToolProgress {
  // An edit finishes again when its problems come late.
  const started = new Map<string, Started>();
  const hooks = new Map<string, RecordedHook[]>();
  return (event) => {
    if (event.type === "started") started.set(event.callId, { ...event, input: undefined });
    if (event.type === "dropped") started.delete(event.callId);
    if (event.type === "hook") hooks.set(event.callId, [...(hooks.get(event.callId) ?? []), event.run]);
    if (event.type === "finished") {
      const call = started.get(event.callId);
      const runs = hooks.get(event.callId)?.map(({ callId: _, ...run }) => run);
      const diffs = (event.result.diffs ?? []).map(storeDiff);
      if (call) journal({ ...entryOf(call, event), diffs, ...(runs && { hooks: runs }) });
    }
    emit(event);
  };
}

function entryOf(
  { callId, name, title, kind, locations, parentCallId }: Started,
  { result, durationMs }: Extract<ToolProgressEvent, { type: "finished" }>,
): Omit<EntryOf<"tool">, "at" | "diffs"> {
  return {
    type: "tool",
    callId,
    name,
    title,
    kind,
    ...(parentCallId !== undefined && { parent: parentCallId }),
    locations: locations.map((location) => ({ ...location })),
    ...(result.links && { links: [...result.links] }),
    ...(result.problems && { problems: [...result.problems] }),
    ...(result.tasks && { tasks: result.tasks }),
    ...(result.command && { command: result.command }),
    ok: result.ok,
    ...(result.rejected && { rejected: true }),
    durationMs: Math.round(durationMs),
  };
}
