/** Answers of /checkpoint, /undo and /retry: back to an earlier message of the user. */
import type { CommandAnswer } from "../../agent/extensions.ts";
import { counted } from "../../platform/counted.ts";
import { oneLine } from "../../platform/one-line.ts";
import type { HermesRestoredFile } from "../../protocol/restores.ts";
import { shownPath } from "../../tools/shown-path.ts";
import type { RestoreParts, RestorePoint } from "../restore-points.ts";
import type { CommandSession } from "./command.ts";

/** Longest quotation of a message. Characters. */
const QUOTED_CHARS = 60;
/** Limit of named files; the rest is counted. */
const NAMED_FILES = 30;

const CHANGES: Readonly<Record<HermesRestoredFile["change"], string>> = {
  restore: "restored",
  remove: "removed: the agent created it",
  recreate: "recreated",
};

const PARTS: Readonly<Record<string, RestoreParts>> = {
  files: { files: true, conversation: false },
  conversation: { files: false, conversation: true },
  both: { files: true, conversation: true },
};

const USAGE =
  "Usage: `/checkpoint` lists the checkpoints. `/checkpoint restore N [files|conversation|both]` previews a restore; add `confirm` to run it. `/checkpoint undo` reverts the last restore.";

/** Answer to `/checkpoint`. A restore needs `confirm`; without it the answer is a preview, which every editor can show. */
export function answerCheckpoint(argument: string, session: CommandSession): string | Promise<string> {
  const [action = "", ...words] = argument.split(/\s+/);
  switch (action) {
    case "":
      return pointList(session.restores.points());
    case "undo":
      return undoRestore(session);
    case "restore":
      return restore(words, session);
    default:
      return USAGE;
  }
}

function pointList(points: readonly RestorePoint[]): string {
  if (points.length === 0) return "There are no checkpoints yet: each message you send creates one.";
  const lines = points.map(({ prompt, changedFiles }, index) => {
    const since = changedFiles === 0 ? "no changes recorded since" : `${counted(changedFiles, "file")} changed since`;
    return `${index + 1}. ${quoted(prompt)}: ${since}`;
  });
  return [...lines, "", "`/checkpoint restore N` previews a restore to before message N."].join("\n");
}

async function restore(words: readonly string[], session: CommandSession): Promise<string> {
  const [number = "", ...rest] = words;
  const isConfirmed = rest.at(-1) === "confirm";
  const [what = "both", ...others] = isConfirmed ? rest.slice(0, -1) : rest;
  const parts = PARTS[what];
  if (parts === undefined || others.length > 0) return USAGE;
  const point = session.restores.points()[Number(number) - 1];
  if (point === undefined) {
    const problem = number === "" ? "The number of the checkpoint is missing" : `There is no checkpoint ${number}`;
    return `${problem}. \`/checkpoint\` lists them.`;
  }
  return isConfirmed ? carryOut(point, parts, session) : preview({ point, number, what }, parts, session);
}

async function preview(
  { point, number, what }: { readonly point: RestorePoint; readonly number: string; readonly what: string },
  parts: RestoreParts,
  { restores, cwd, signal }: CommandSession,
): Promise<string> {
  const { files, messages, limits } = await restores.preview(point.position, false, signal);
  const lines = parts.files ? fileLines(files, cwd) : [];
  return [
    `A restore to before ${quoted(point.prompt)} would make these changes:`,
    "",
    ...(parts.files && lines.length === 0 ? ["- no files need to change"] : lines),
    ...(parts.files ? limitLines(limits) : []),
    ...(parts.conversation
      ? [`- ${counted(messages, "message")} of yours, with the answers, removed from the conversation`]
      : []),
    "",
    `\`/checkpoint restore ${number} ${what} confirm\` runs it.`,
  ].join("\n");
}

async function carryOut(
  point: RestorePoint,
  parts: RestoreParts,
  { restores, cwd, signal }: CommandSession,
): Promise<string> {
  const { files, limits, restoreId } = await restores.restore(point.position, parts, signal);
  const lines = fileLines(files, cwd);
  return [
    `Restored to before ${quoted(point.prompt)}.`,
    "",
    ...(parts.files && lines.length === 0 ? ["- no files had to change"] : lines),
    ...limitLines(limits),
    ...(parts.conversation ? ["- later messages removed from the conversation"] : []),
    ...(restoreId === undefined ? [] : ["", "`/checkpoint undo` reverts this."]),
  ].join("\n");
}

async function undoRestore({ restores, cwd, signal }: CommandSession): Promise<string> {
  const undone = await restores.undo(undefined, signal);
  if (undone === undefined) return "Nothing to undo: this session has no restore.";
  const lines = fileLines(undone.files, cwd);
  return ["Reverted the last restore:", "", ...(lines.length === 0 ? ["- no files had to change"] : lines)].join("\n");
}

/** Answer to `/undo`: the last message is gone, with everything after it, in conversation and files. */
export async function answerUndo({ restores, cwd, signal }: CommandSession): Promise<string> {
  const last = restores.points().at(-1);
  if (last === undefined) return "Nothing to undo: this session has no messages yet.";
  const parts = { files: true, conversation: true };
  const { files, limits, restoreId } = await restores.restore(last.position, parts, signal);
  const lines = fileLines(files, cwd);
  return [
    `Undid ${quoted(last.prompt)} and everything after it.`,
    "",
    ...(lines.length === 0 ? ["There are no files to restore."] : lines),
    ...limitLines(limits),
    ...(restoreId === undefined ? [] : ["", "`/checkpoint undo` reverts this."]),
  ].join("\n");
}

/** Answer to `/retry`: the last prompt again, without its answer. */
export function answerRetry({ agent, restores }: CommandSession): CommandAnswer {
  const last = restores.points().at(-1);
  const lastPrompt = agent.transcript.find(({ position }) => position === last?.position)?.message;
  if (last === undefined || lastPrompt?.role !== "user") return "Nothing to retry: this session has no messages yet.";
  restores.rewindTo(last.position, true);
  return { ask: lastPrompt.content };
}

function limitLines(limits: readonly string[] = []): readonly string[] {
  return limits.map((limit) => `- ${limit}`);
}

/** Markdown list of the files; those that are skipped come first. */
function fileLines(files: readonly HermesRestoredFile[], cwd: string): readonly string[] {
  const skipped = files.filter(({ leftAlone }) => leftAlone !== undefined);
  const lines = [...skipped, ...files.filter(({ leftAlone }) => leftAlone === undefined)].map(
    ({ path, change, added, removed, leftAlone }) => {
      const name = `\`${shownPath(path, cwd)}\``;
      if (leftAlone !== undefined) return `- ${name} skipped: ${leftAlone}`;
      const counts = added === undefined || removed === undefined ? "" : ` (+${added} −${removed})`;
      return `- ${name} ${CHANGES[change]}${counts}`;
    },
  );
  const more = lines.length - NAMED_FILES;
  return more > 0 ? [...lines.slice(0, NAMED_FILES), `- … and ${more} more`] : lines;
}

/** The start of a message, in quotation marks. */
function quoted(prompt: string): string {
  return `“${oneLine(prompt, QUOTED_CHARS)}”`;
}
