/** Writes down how each tool call was shown, so that a resumed session can be replayed with its diffs. */
import type { NewEntry } from "../sessions/journal.ts";
import type { AgentCallbacks, ToolProgressEvent } from "./callbacks.ts";

type Started = Extract<ToolProgressEvent, { type: "started" }>;

/** The same callbacks, with every finished call journalled before it is told. */
export function journalToolProgress(callbacks: AgentCallbacks, journal: (entry: NewEntry) => void): AgentCallbacks {
  const open = new Map<string, Started>();
  return {
    thinking: (event) => callbacks.thinking?.(event),
    reasoning: (event) => callbacks.reasoning?.(event),
    step: (event) => callbacks.step?.(event),
    streamDelta: (event) => callbacks.streamDelta?.(event),
    toolGen: (event) => callbacks.toolGen?.(event),
    steered: (event) => callbacks.steered?.(event),
    title: (event) => callbacks.title?.(event),
    plan: (items) => callbacks.plan?.(items),
    status: (event) => callbacks.status?.(event),
    toolProgress: (event) => {
      if (event.type === "started") open.set(event.callId, event);
      if (event.type === "finished") {
        const started = open.get(event.callId);
        open.delete(event.callId);
        if (started) journal(entryOf(started, event));
      }
      callbacks.toolProgress?.(event);
    },
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
    ok: result.ok,
    durationMs: Math.round(durationMs),
  };
}
