/** Answers of /resume, /export and /import. */
import { join } from "node:path";
import type { CommandAnswer } from "../../agent/extensions.ts";
import { messageOf, UsageError } from "../../platform/errors.ts";
import type { Building } from "../../sessions/index/index-messages.ts";
import type { SessionSummary } from "../../sessions/index/queries.ts";
import { type SessionIndex, stillBuilding } from "../../sessions/index/session-index.ts";
import { isSessionId } from "../../sessions/session-files.ts";
import { absolutePath, shownPath } from "../../tools/shown-path.ts";
import { replay } from "../replay.ts";
import type { CommandSession } from "./command.ts";

type Found = { readonly sessions: readonly SessionSummary[]; readonly building: Building | undefined };

const LISTED = 15;

export async function answerResume(
  argument: string,
  { agent, cwd, id, sessions: { index }, readStored, send }: CommandSession,
): Promise<CommandAnswer> {
  const { sessions: found, building } = await find(argument, index, { id, cwd });
  const note = building === undefined ? "" : `\n\n${stillBuilding(building)}`;
  const [session] = found;
  if (session === undefined && argument === "") return `This folder has no earlier session.${note}`;
  if (session === undefined) throw new UsageError(`No session matches “${argument}”.${note}`);
  if (argument === "" || found.length > 1) return sessionList(found) + note;
  if (session.id === id) return "You are already in that session.";
  const stored = await readStored(session.id);
  agent.resumeFrom(stored);
  for (const update of replay(stored)) send(update);
  return `\n\nContinuing from “${session.title ?? session.id}”. The original session is unchanged.`;
}

async function find(
  argument: string,
  index: SessionIndex,
  { id, cwd }: Pick<CommandSession, "id" | "cwd">,
): Promise<Found> {
  if (argument === "" || argument === "last") {
    const limit = argument === "" ? LISTED : 1;
    const { value, building } = await index.ask("list", { limit, cwd, except: id });
    return { sessions: value, building };
  }
  if (isSessionId(argument)) {
    const { value, building } = await index.ask("find", argument);
    return { sessions: value === undefined ? [] : [value], building };
  }
  const { value, building } = await index.ask("titled", argument, { cwd: undefined, limit: LISTED });
  return { sessions: value.filter((session) => session.id !== id), building };
}

function sessionList(sessions: readonly SessionSummary[]): string {
  const lines = sessions.map(({ id, title, updatedAt }) => {
    const day = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
    return `- ${title ?? "Untitled"} (${day}): \`/resume ${id}\``;
  });
  return ["Earlier sessions:", "", ...lines].join("\n");
}

const EXPORT_ARGUMENT = /^(?:(md|markdown|json)(?:\s+|$))?(.*)$/s;

export async function answerExport(
  argument: string,
  { id, agent, cwd, readStored }: CommandSession,
): Promise<CommandAnswer> {
  const [, form, path = ""] = EXPORT_ARGUMENT.exec(argument) ?? [];
  const format = form === "json" || (form === undefined && path.endsWith(".json")) ? "json" : "markdown";
  if (agent.transcript.length === 0) return "Nothing to export: this session has no messages yet.";
  const stored = await readStored(id).catch(messageOf);
  if (typeof stored === "string") return { failed: `The session was not exported: ${stored}` };
  const { exportName, exportSession, writeExport } = await import("../../sessions/export-session.ts");
  const target = path === "" ? join(cwd, exportName(stored, format)) : absolutePath(path, cwd);
  const written = await writeExport(target, await exportSession(stored, format));
  if (!written.ok) return { failed: `The session was not exported: ${written.message}` };
  return `Wrote ${shownPath(target, cwd)}.`;
}

export async function answerImport(
  argument: string,
  { cwd, sessions, signal }: CommandSession,
): Promise<CommandAnswer> {
  try {
    const request = argument === "" ? {} : { path: absolutePath(argument, cwd) };
    return (await sessions.import(request, signal)).summary;
  } catch (error) {
    return { failed: `The import failed: ${messageOf(error)}` };
  }
}
