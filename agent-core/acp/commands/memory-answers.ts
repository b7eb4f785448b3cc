/** Answers of /memory: the entries of the memory with their origins, and the undo of a write. */
import type { ShownPlan } from "../../checkpoints/restore-plan.ts";
import type { Memory, MemoryEntry, MemoryUndo } from "../../memory/memory.ts";
import type { MemoryWrite, MemoryWriter } from "../../memory/memory-ledger.ts";
import { MEMORY_TARGETS, notesLength } from "../../memory/notes.ts";
import { infoUpdate } from "../conversation-updates.ts";
import type { CommandSession } from "./command.ts";

export const MEMORY_OFF = "The memory is off: `memory.memory_enabled` in config.yaml.";

/** Changes in the list of those that can be undone. */
const LISTED = 5;
const SYNTAX = "`/memory`, `/memory remove TEXT`, `/memory undo` for the last change, or `/memory undo ID`";

/** Answer to `/memory` with this argument. */
export async function answerMemory(
  argument: string,
  session: Pick<CommandSession, "agent" | "signal" | "send">,
): Promise<string> {
  const { agent } = session;
  if (agent.setup.memory === undefined) return MEMORY_OFF;
  if (argument === "") return shown(agent.setup.memory);
  const [, part] = /^remove\s+(.+)$/s.exec(argument) ?? [];
  if (part !== undefined) return removed(agent.setup.memory, part.trim(), agent.sessionId);
  const [, id] = /^undo(?:\s+(\w+))?$/.exec(argument) ?? ["", ""];
  if (id === "") return `Type ${SYNTAX}.`;
  const writes = await agent.setup.memory.writes();
  const chosen = id === undefined ? writes.at(-1) : writes.find((write) => write.id === id);
  if (chosen === undefined && id !== undefined) return (await undoCall(session, id)).message;
  if (chosen === undefined) return "Nothing to undo: Hermes has not changed the memory.";
  const undone = await agent.setup.memory.undo([chosen]);
  return noted(undone, session, chosen.sessionId === agent.sessionId ? chosen.callId : undefined).message;
}

/** Marks the call whose changes were undone, in the client and for a replay. */
function noted(undone: MemoryUndo, { agent, send }: Undoing, callId: string | undefined): MemoryUndo {
  if (!undone.ok || callId === undefined) return undone;
  agent.session.journal({ type: "memory-undo", callId });
  send(infoUpdate({ undoneCalls: [callId] }));
  return undone;
}

type Undoing = Pick<CommandSession, "agent" | "send">;

/** Undoes what a call wrote: entries of the memory, and files of skills. Of a repeated id, the entries of the last call. */
export async function undoCall(session: Undoing & Pick<CommandSession, "signal">, callId: string): Promise<MemoryUndo> {
  const { setup, checkpoints, sessionId } = session.agent;
  const files = (await checkpoints?.undoCall(callId, session.signal)) ?? [];
  const all = (await setup.memory?.writes()) ?? [];
  const writes = all.filter((write) => write.sessionId === sessionId && write.callId === callId);
  const ofFiles = filesUndone(files);
  if (setup.memory === undefined || (writes.length === 0 && files.length > 0)) return noted(ofFiles, session, callId);
  // A call of a turn changes one entry. A review changes several under an id of its own.
  const undone = await setup.memory.undo(writes.at(-1)?.by === "agent" ? writes.slice(-1) : writes);
  if (files.length === 0) return noted(undone, session, callId);
  const both = { ok: ofFiles.ok && undone.ok, message: `${undone.message} ${ofFiles.message}` };
  return noted(both, session, callId);
}

function filesUndone(files: readonly ShownPlan[]): MemoryUndo {
  const lines = files.map(({ path, change, leftAlone }) => {
    if (leftAlone !== undefined) return `Not undone: ${path}: ${leftAlone}.`;
    return change === "remove" ? `Removed ${path}.` : `Restored ${path}.`;
  });
  return { ok: files.every(({ leftAlone }) => leftAlone === undefined), message: lines.join(" ") };
}

/** Removes the one entry that contains `part`. */
async function removed(of: Memory, part: string, sessionId: string): Promise<string> {
  const read = await Promise.all(MEMORY_TARGETS.map(async (target) => ({ target, notes: await of.read(target) })));
  const found = read.flatMap(({ target, notes }) => notes.map((text) => ({ target, text })));
  const exact = found.filter(({ text }) => text === part);
  const [first, ...others] = exact.length > 0 ? exact : found.filter(({ text }) => text.includes(part));
  if (first === undefined) return `No entry of the memory contains ${JSON.stringify(part)}.`;
  if (others.length > 0) return `${others.length + 1} entries contain ${JSON.stringify(part)}. Type more of the entry.`;
  return `${(await of.remove(first.target, first.text, { sessionId })).message} \`/memory undo\` restores it.`;
}

async function shown(of: Memory): Promise<string> {
  const [entries, writes] = await Promise.all([
    Promise.all(MEMORY_TARGETS.map((target) => of.entries(target))),
    of.writes(),
  ]);
  const [work = [], project = [], user = []] = entries;
  const changes = writes.slice(-LISTED).toReversed().map(changeLine);
  return [
    section(`MEMORY.md, ${size(work)}/${of.limit("memory")} characters`, work),
    ...(project.length === 0
      ? []
      : [section(`MEMORY.md of this project, ${size(project)}/${of.limit("project")} characters`, project)]),
    section(`USER.md, ${size(user)}/${of.limit("user")} characters`, user),
    ...(changes.length === 0 ? [] : [`**Last changes**\n\n${changes.join("\n")}\n\nType ${SYNTAX}.`]),
  ].join("\n\n");
}

function size(entries: readonly MemoryEntry[]): number {
  return notesLength(entries.map(({ text }) => text));
}

function section(title: string, entries: readonly MemoryEntry[]): string {
  const lines = entries.map((entry) => `- ${oneLine(entry.text)} *(${originText(entry.write)})*`);
  return `**${title}**\n\n${lines.length === 0 ? "No entries." : lines.join("\n")}`;
}

function changeLine(write: MemoryWrite): string {
  const { id, before, after } = write;
  const [verb, text] = after === null ? ["Removed", before] : [before === null ? "Added" : "Corrected", after];
  return `- \`${id}\` ${verb}: ${oneLine(text ?? "")} *(${originText(write)})*`;
}

const WRITERS: Readonly<Record<MemoryWriter, string>> = {
  agent: "by the agent",
  flush: "before a summary of the conversation",
  review: "by the background review",
  learning: "by learning from a session",
  user: "by you",
  undo: "by an undo",
};

/** Writer and time of an entry in a phrase. */
export function originText(write: MemoryWrite | undefined): string {
  if (write === undefined) return "written by hand or by another program";
  return `${WRITERS[write.by]}, ${new Date(write.at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
