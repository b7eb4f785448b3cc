/** Writes down how each tool call was shown, so that a resumed session can be replayed with its diffs. */
import type { NewEntry } from "../sessions/journal.ts";
import type { ToolProgressEvent } from "./callbacks.ts";

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
