/** Calls the callbacks that only tell: in one place, so that one that throws can never end a turn. */

import type { NewEntry } from "../sessions/journal.ts";
import type { AgentCallbacks, ToolProgressEvent } from "./callbacks.ts";

type Told = Required<Omit<AgentCallbacks, "clarify" | "approval">>;

export type Notifier = { readonly [Name in keyof Told]: Told[Name] };

/** `onDefect` is told of a callback that threw; its message is for the log. */
export function notifier(callbacks: AgentCallbacks, onDefect: (message: string) => void): Notifier {
  const guard =
    <Event>(name: keyof Told, callback: ((event: Event) => void) | undefined) =>
    (event: Event): void => {
      try {
        callback?.(event);
      } catch (error) {
        onDefect(
          `The callback ${name} threw: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
      }
    };
  return {
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

/** Writes down how each tool call was shown, so that a resumed session can be replayed with its diffs. */

type ToolProgress = (event: ToolProgressEvent) => void;
type Started = Extract<ToolProgressEvent, { type: "started" }>;

/** The same callback, with every finished call journalled before it is told. */
export function journalledProgress(tell: ToolProgress, journal: (entry: NewEntry) => void): ToolProgress {
  const open = new Map<string, Started>();
  return (event) => {
    if (event.type === "started") open.set(event.callId, event);
    if (event.type === "finished") {
      const started = open.get(event.callId);
      open.delete(event.callId);
      if (started) journal(entryOf(started, event));
    }
    tell(event);
  };
}

function entryOf(
  { callId, name, title, kind, locations }: Started,
  { result, durationMs }: Extract<ToolProgressEvent, { type: "finished" }>,
): NewEntry {
  return {
    type: "tool",
    callId,
    name,
    title,
    kind,
    locations: locations.map((location) => ({ ...location })),
    diffs: (result.diffs ?? []).map((diff) => ({ ...diff })),
    ...(result.problems && { problems: [...result.problems] }),
    ok: result.ok,
    durationMs: Math.round(durationMs),
  };
}
