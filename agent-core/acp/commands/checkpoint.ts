import { counted, fileLines, quoted } from "../restore-words.ts";
import type { RestoreParts, RestorePoint } from "../session-restores.ts";
import type { Command, CommandSession } from "./command.ts";

const PARTS: Readonly<Record<string, RestoreParts>> = {
  files: { files: true, conversation: false },
  conversation: { files: false, conversation: true },
  both: { files: true, conversation: true },
};

const USAGE =
  "Usage: `/checkpoint` lists them, `/checkpoint restore N [files|conversation|both]` shows what a restore would do, with `confirm` at its end it is done; `/checkpoint undo` undoes what the last restore did to files.";

/** Shows first and does it only with `confirm`: every editor has text, not every one shows a request as a preview. */
export const command: Command = {
  name: "checkpoint",
  description: "List your messages as places to go back to, or restore files and conversation to one",
  hint: "restore N [files|conversation|both] [confirm] | undo",
  run(argument, session) {
    const [action = "", ...words] = argument.split(/\s+/);
    switch (action) {
      case "":
        return list(session.restores.points());
      case "undo":
        return undo(session);
      case "restore":
        return restore(words, session);
      default:
        return USAGE;
    }
  },
};

function list(points: readonly RestorePoint[]): string {
  if (points.length === 0) return "There are no checkpoints yet: each of your messages becomes one.";
  const lines = points.map(({ prompt, changedFiles }, index) => {
    const since = changedFiles === 0 ? "no files changed since" : `${counted(changedFiles, "file")} changed since`;
    return `${index + 1}. ${quoted(prompt)}: ${since}`;
  });
  return [...lines, "", "`/checkpoint restore N` shows what going back to before message N would do."].join("\n");
}

async function restore(words: readonly string[], session: CommandSession): Promise<string> {
  const [number = "", ...rest] = words;
  const isConfirmed = rest.at(-1) === "confirm";
  const [what = "both", ...others] = isConfirmed ? rest.slice(0, -1) : rest;
  const parts = PARTS[what];
  if (parts === undefined || others.length > 0) return USAGE;
  const point = session.restores.points()[Number(number) - 1];
  if (point === undefined) return `There is no checkpoint ${number || "without a number"}. \`/checkpoint\` lists them.`;
  return isConfirmed ? carryOut(point, parts, session) : preview({ point, number, what }, parts, session);
}

async function preview(
  { point, number, what }: { readonly point: RestorePoint; readonly number: string; readonly what: string },
  parts: RestoreParts,
  { restores, cwd, signal }: CommandSession,
): Promise<string> {
  const { files, messages } = await restores.preview(point.position, false, signal);
  const lines = parts.files ? fileLines(files, cwd) : [];
  return [
    `Going back to before ${quoted(point.prompt)} would do this:`,
    "",
    ...(parts.files && lines.length === 0 ? ["- no files need to change"] : lines),
    ...(parts.conversation ? [`- ${counted(messages, "message")} taken back`] : []),
    "",
    `\`/checkpoint restore ${number} ${what} confirm\` does it.`,
  ].join("\n");
}

async function carryOut(
  point: RestorePoint,
  parts: RestoreParts,
  { restores, cwd, signal }: CommandSession,
): Promise<string> {
  const { files, restoreId } = await restores.restore(point.position, parts, signal);
  const lines = fileLines(files, cwd);
  return [
    `Went back to before ${quoted(point.prompt)}.`,
    "",
    ...(parts.files && lines.length === 0 ? ["- no files had to change"] : lines),
    ...(parts.conversation ? ["- what was said since is taken back"] : []),
    ...(restoreId === undefined ? [] : ["", "`/checkpoint undo` undoes what was done to the files."]),
  ].join("\n");
}

async function undo({ restores, cwd, signal }: CommandSession): Promise<string> {
  const undone = await restores.undo(undefined, signal);
  if (undone === undefined) return "Nothing was restored in this session, so there is nothing to undo.";
  const lines = fileLines(undone.files, cwd);
  return [
    "Undid what the last restore did to files:",
    "",
    ...(lines.length === 0 ? ["- nothing had to change"] : lines),
  ].join("\n");
}
