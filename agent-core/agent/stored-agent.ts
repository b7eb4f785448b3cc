/** An agent that continues a stored session: its options, and the edits of its last turn. */
import { ObjectStore } from "../checkpoints/object-store.ts";
import { checkpointsFolder, homeFolder, sessionsFolder } from "../config/home.ts";
import { callsOf } from "../messages/message.ts";
import { systemClock } from "../platform/clock.ts";
import { messageOf } from "../platform/errors.ts";
import { parseChoice } from "../providers/model-choice.ts";
import type { TextDiff } from "../sessions/entry.ts";
import { Journal } from "../sessions/journal.ts";
import { type ReadSession, readJournal, readJournalSync, type StoredSession } from "../sessions/read-journal.ts";
import { journalPath } from "../sessions/session-files.ts";
import { recoverResults } from "../sessions/stored-session.ts";
import type { AIAgentOptions } from "./agent-options.ts";

/**
 * Reader of the last turn's edits on which nobody has decided, in order. A file that a command changed afterwards is left
 * out: the edit is no longer what the turn left.
 */
export function lastEditsOf(stored: StoredSession): () => readonly TextDiff[] {
  const { conversation, records, lastVerdictAt = 0, toolEntry, diffsOf } = stored;
  const { transcript } = conversation; // before the next message joins it
  const from = transcript.findLastIndex(
    ({ role, message }) => role === "user" && message.role === "user" && message.synthetic !== true,
  );
  const turn = transcript.slice(Math.max(0, from));
  return () => {
    const calls = turn.flatMap(({ message }) => callsOf(message));
    const changes = records.filter((entry) => entry.type === "file-change");
    const left = new Map(
      changes.filter(({ position }) => position > (turn[0]?.position ?? 0)).map(({ path, by }) => [path, by]),
    );
    const edits = calls.flatMap(({ id }) => toolEntry(id) ?? []).filter(({ at }) => at > lastVerdictAt);
    return edits.flatMap(diffsOf).filter(({ path }) => (left.get(path) ?? "edit") === "edit");
  };
}

export type StoredOptions = AIAgentOptions & { readonly journal: Journal };

/**
 * Reads the session `id` of the home with the results that were lost with its process, and claims its journal. `options`
 * override the stored folder and model. Rejects with an Error in one line when there is no such session, or when another
 * process has it open.
 */
export async function openStored(id: string, options: AIAgentOptions): Promise<StoredOptions> {
  const { path, textOf } = placeOf(id, options);
  if (path === undefined) throw new Error(`${JSON.stringify(id)} is not the id of a session.`);
  const read = async (): Promise<StoredSession> => sessionIn(await readJournal(path, undefined, textOf), id);
  return claimed(await withLostResults(read, options.onDefect), { ...options, sessionId: id });
}

/** The same at once, if the options name a stored session and bring none of their own. Else the options. Throws as `openStored`. */
export function withStored(options: AIAgentOptions): AIAgentOptions | StoredOptions {
  const { sessionId: id, journal, stored, inherited } = options;
  if (id === undefined || journal !== undefined || stored !== undefined || inherited !== undefined) return options;
  const { path, textOf } = placeOf(id, options);
  const read = path === undefined ? undefined : readJournalSync(path, textOf);
  return read === undefined ? options : claimed(sessionIn(read, id), { ...options, sessionId: id });
}

type Place = { readonly path: string | undefined; readonly textOf: (hash: string) => string | undefined };

function placeOf(id: string, options: AIAgentOptions): Place {
  const home = options.home ?? homeFolder(options.environment ?? process.env);
  const objects = new ObjectStore(checkpointsFolder(home));
  return { path: journalPath(sessionsFolder(home), id), textOf: (hash) => objects.textOf(hash) };
}

function sessionIn(read: ReadSession, id: string): StoredSession {
  if (!read.ok) throw new Error(`The session ${id} could not be read: ${read.message}`);
  return read.session;
}

function claimed(stored: StoredSession, options: AIAgentOptions & { readonly sessionId: string }): StoredOptions {
  const { sessionId, callbacks, clock = systemClock } = options;
  const cwd = options.cwd ?? (stored.cwd || process.cwd());
  const journal = new Journal({
    path: stored.path,
    sessionId,
    cwd,
    knownSize: stored.size,
    now: () => clock.now(),
    onFailure: (message) => callbacks?.status?.({ severity: "error", message }),
  });
  const problem = journal.claim();
  if (problem !== undefined) throw new Error(`The session ${sessionId} could not be opened: ${problem}`);
  return { ...options, ...modelOf(options, stored), stored, cwd, journal };
}

/** Reads a session, and stores the results that were lost with its process. Rejects as `read`. */
export async function withLostResults(
  read: () => Promise<StoredSession>,
  onDefect?: (message: string) => void,
): Promise<StoredSession> {
  let stored = await read();
  if (stored.unsaved !== undefined) return stored;
  try {
    if (await recoverResults(stored)) stored = await read();
    if (!stored.records.some(({ type }) => type === "delegation")) return stored;
    const { recoverDelegations } = await import("../orchestration/recover-delegations.ts");
    return (await recoverDelegations(stored)) ? await read() : stored;
  } catch (error) {
    onDefect?.(`could not recover lost results of session ${stored.id}: ${messageOf(error)}`);
    return stored;
  }
}

/** The given model; without one the last that the user chose in the session. */
function modelOf(
  { provider, model }: AIAgentOptions,
  stored: StoredSession,
): Pick<AIAgentOptions, "provider" | "model"> {
  const last = stored.model === undefined ? undefined : parseChoice(stored.model);
  return { provider: provider ?? last?.provider, model: model ?? last?.model };
}
