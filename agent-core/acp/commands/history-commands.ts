/** /new, /resume, /title, /export and /import: this session and the stored ones. */
import { join } from "node:path";
import { messageOf, UsageError } from "../../platform/errors.ts";
import type { Building } from "../../sessions/index/index-messages.ts";
import type { SessionSummary } from "../../sessions/index/queries.ts";
import { type SessionIndex, stillBuilding } from "../../sessions/index/session-index.ts";
import { isSessionId } from "../../sessions/session-files.ts";
import { titleLine } from "../../sessions/titles.ts";
import { absolutePath, shownPath } from "../../tools/shown-path.ts";
import { replay } from "../replay.ts";
import type { Command, CommandSession } from "./command.ts";

export const newSession: Command = {
  name: "new",
  description: "Start a new conversation: the model forgets this one, the journal keeps it",
  run(_argument, { agent, restores }) {
    const [first] = restores.points();
    if (first === undefined) return "This session has no messages yet.";
    restores.rewindTo(agent.transcript[0]?.position ?? first.position);
    return "A new conversation starts here. Files are unchanged.";
  },
};

type Found = { readonly sessions: readonly SessionSummary[]; readonly building: Building | undefined };

const LISTED = 15;

export const resume: Command = {
  name: "resume",
  description: "Continue an earlier conversation in this session",
  hint: "last | id | words of the title",
  async run(argument, { agent, cwd, id, index, readStored, send }) {
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
  },
};

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

const MAX_TITLE_CHARS = 200;

export const title: Command = {
  name: "title",
  description: "Show or set the title of this session",
  hint: "new title",
  run(argument, { agent }) {
    if (argument === "") return agent.title === undefined ? "This session has no title yet." : `Title: ${agent.title}`;
    const title = titleLine(argument.slice(0, MAX_TITLE_CHARS));
    if (title === "") return "The title has no visible characters. Type another one.";
    agent.setTitle(title);
    return `Title: ${title}`;
  },
};

const EXPORT_ARGUMENT = /^(?:(md|markdown|json)(?:\s+|$))?(.*)$/s;

export const exportToFile: Command = {
  name: "export",
  description: "Export this session to a file",
  hint: "[md | json] [path]",
  async run(argument, { id, agent, cwd, readStored }) {
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
  },
};

/** Option that also imports sessions which the user deleted here. */
const AGAIN = /^--again(?:\s+|$)/;

export const importSessions: Command = {
  name: "import",
  description: "Import the sessions of an original Hermes Agent home",
  hint: "path of state.db or its folder; default: the Hermes home; --again: include sessions deleted here",
  async run(argument, { cwd, importSessions, signal }) {
    const again = AGAIN.test(argument);
    const path = argument.replace(AGAIN, "");
    try {
      const request = { again, ...(path !== "" && { path: absolutePath(path, cwd) }) };
      const { summary, deleted } = await importSessions(request, signal);
      return deleted === 0
        ? summary
        : `${summary}\n\n\`/import --again\` also imports the sessions that were deleted here.`;
    } catch (error) {
      return { failed: `The import failed: ${messageOf(error)}` };
    }
  },
};
