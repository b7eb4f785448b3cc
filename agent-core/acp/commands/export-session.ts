import { join } from "node:path";
import { messageOf } from "../../platform/errors.ts";
import { exportName, exportSession, writeExport } from "../../sessions/export-session.ts";
import { absolutePath, shownPath } from "../../tools/resolve-path.ts";
import type { Command } from "./command.ts";

const ARGUMENT = /^(?:(md|markdown|json)\b\s*)?(.*)$/s;

export const command: Command = {
  name: "export",
  description: "Write this session into a file",
  hint: "md | json, then a path",
  async run(argument, { id, agent, cwd, readStored }) {
    const [, form, path = ""] = ARGUMENT.exec(argument) ?? [];
    const format = form === "json" || (form === undefined && path.endsWith(".json")) ? "json" : "markdown";
    if (agent.said.length === 0) return "There is nothing to export yet: nothing has been said.";
    const stored = await readStored(id).catch(messageOf);
    if (typeof stored === "string") return `Nothing was written: ${stored}`;
    const target = path === "" ? join(cwd, exportName(stored, format)) : absolutePath(path, cwd);
    const written = await writeExport(target, await exportSession(stored, format));
    return written.ok ? `Wrote ${shownPath(target, cwd)}.` : `Nothing was written: ${written.message}`;
  },
};
