/** /new, /resume, /title, /export and /import: this session and the stored ones. */
import { join } from "node:path";
import { messageOf } from "../../platform/errors.ts";
import { exportName, exportSession, writeExport } from "../../sessions/export-session.ts";
import type { SessionSummary } from "../../sessions/index/queries.ts";
import type { Building } from "../../sessions/index/questions.ts";
import { type SessionIndex, stillBuilding } from "../../sessions/index/session-index.ts";
import { titleLine } from "../../sessions/titles.ts";
import { absolutePath, shownPath } from "../../tools/resolve-path.ts";
import { replay } from "../replay.ts";
import type { Command, CommandSession } from "./command.ts";

export const newSession: Command = {
  name: "new",
  description: "Begin anew: the model forgets this conversation; its journal keeps it",
  run(_argument, { agent, restores }) {
    const [first] = restores.points();
    if (first === undefined) return "This session is new: nothing has been said yet.";
    restores.rewindTo(agent.transcript[0]?.position ?? first.position);
    return "A new conversation begins here. Files stay as they are.";
  },
};

type Found = { readonly sessions: readonly SessionSummary[]; readonly building: Building | undefined };

const LISTED = 15;
const SESSION_ID = /^\d{8}_\d{6}_[0-9a-f]{8}$/;

export const resume: Command = {
  name: "resume",
  description: "Go on with an earlier conversation here",
  hint: "last | id | words of its title",
  async run(argument, { agent, cwd, id, index, readStored, send }) {
    const { sessions: found, building } = await find(argument, index, { id, cwd });
    const note = building === undefined ? "" : `\n\n${stillBuilding(building)}`;
    const [session] = found;
    if (session === undefined) {
      return `${argument === "" ? "There is no earlier session of this folder." : "There is no such session."}${note}`;
    }
    if (argument === "" || found.length > 1) return sessionList(found) + note;
    if (session.id === id) return "This is that session.";
    const stored = await readStored(session.id);
    agent.resumeFrom(stored);
    for (const update of replay(stored)) send(update);
    return `\n\nGoes on with “${session.title ?? session.id}”, which itself stays as it is.`;
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
  if (SESSION_ID.test(argument)) {
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
    if (title === "") return "This title has nothing that can be seen.";
    agent.setTitle(title);
    return `Title: ${title}`;
  },
};

const EXPORT_ARGUMENT = /^(?:(md|markdown|json)\b\s*)?(.*)$/s;

export const exportToFile: Command = {
  name: "export",
  description: "Write this session into a file",
  hint: "md | json, then a path",
  async run(argument, { id, agent, cwd, readStored }) {
    const [, form, path = ""] = EXPORT_ARGUMENT.exec(argument) ?? [];
    const format = form === "json" || (form === undefined && path.endsWith(".json")) ? "json" : "markdown";
    if (agent.transcript.length === 0) return "There is nothing to export yet: nothing has been said.";
    const stored = await readStored(id).catch(messageOf);
    if (typeof stored === "string") return `Nothing was written: ${stored}`;
    const target = path === "" ? join(cwd, exportName(stored, format)) : absolutePath(path, cwd);
    const written = await writeExport(target, await exportSession(stored, format));
    return written.ok ? `Wrote ${shownPath(target, cwd)}.` : `Nothing was written: ${written.message}`;
  },
};

/** Argument that includes sessions deleted here. */
const AGAIN = /^--again(?:\s+|$)/;

export const importSessions: Command = {
  name: "import",
  description: "Bring the sessions of an original Hermes home over",
  hint: "path of state.db or its folder; default: Hermes' home; --again: also what was deleted here",
  async run(argument, { cwd, importSessions, signal }) {
    const again = AGAIN.test(argument);
    const path = argument.replace(AGAIN, "");
    try {
      const request = { again, ...(path !== "" && { path: absolutePath(path, cwd) }) };
      const { summary, deleted } = await importSessions(request, signal);
      return deleted === 0 ? summary : `${summary}\n\n\`/import --again\` brings what was deleted over all the same.`;
    } catch (error) {
      return `Nothing was imported: ${messageOf(error)}`;
    }
  },
};
