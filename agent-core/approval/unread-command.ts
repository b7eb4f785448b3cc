/** Lines in a language that is not read: each asks. */

import { hash as digestOf } from "node:crypto";
import type { ShellLanguage } from "../host/terminals/terminals.ts";
import { pathRules } from "../platform/paths.ts";
import { block, unread } from "./command-effect.ts";
import { type CommandScope, placeOf } from "./command-scope.ts";
import { askUnlessGranted, asProtected, type Decision, deny, type Effect, type PolicyContext } from "./decision.ts";
import type { Grant } from "./grants.ts";
import { isData, readScript } from "./project-scripts.ts";
import type { Recorder } from "./shell/recorder.ts";

type UnreadLanguage = Exclude<ShellLanguage, "sh">;

const WORDS = /[^\s"'`;|&(){}<>,=@[\]]+/g;

const START = String.raw`^\s*(?:cmd\s+/c\s+|[%&.]\s*)*(?:\S*[\\/])?`;
const PLACE = String.raw`(?:[a-z]:[\\/]?(?:windows|users(?:[\\/][^\\/\s]+)?)?|~|/|\$home|\$env:userprofile|%userprofile%)`;
/** Statements that end the machine, or wipe a disk, the system or a home. */
const WIPES = [
  `${START}(?:shutdown|(?:stop|restart)-computer|format-volume|clear-disk|initialize-disk|remove-partition|diskpart|format\\s+[a-z]:|mkfs|poweroff|reboot)(?![\\w-])`,
  `${START}(?:remove-item|ri|rm|rmdir|rd|del|erase)\\s(?:.*\\s)?${PLACE}[\\\\/]*(?:\\*(?:\\.\\*)?)?(?:\\s|$)`,
].map((source) => new RegExp(source, "i"));

/** Records that the line asks, or is blocked. A part that was not read has a reason of its own. */
export function judgeUnread(
  line: string,
  language: UnreadLanguage,
  { powerShell }: CommandScope,
  record: Recorder,
): void {
  const what =
    powerShell === undefined
      ? `${language === "powershell" ? "PowerShell" : language} commands, so it asks for each one`
      : "this line of PowerShell";
  if (record.isFullyParsed) record.add(unread(`Hermes cannot read ${what}`));
  // A quoted text with spaces is one word, and none of its parts starts a program.
  const bare = line
    .replace(/[`^]/g, "")
    .replace(/(["'])(.*?)\1/g, (_, __, text: string) => (/[\s;|&]/.test(text) ? "_" : text));
  for (const statement of bare.split(/[;|&\r\n(){}]+/))
    if (WIPES.some((wipes) => wipes.test(statement)))
      record.add(block(`Stops the machine, or wipes a disk or a home: ${statement.trim()}`));
}

/**
 * Decides on a line that is not blocked, for these reasons. It asks in every mode that runs commands, and the user alone answers.
 */
export function decideUnread(
  reasons: readonly string[],
  { command, cwd, reach = "inside" }: Extract<Effect, { kind: "command" }>,
  context: PolicyContext,
): Decision {
  const { mode, asks, sandbox } = context;
  const [unread = ""] = reasons;
  if (mode === "plan") return deny(`Plan mode is read-only. ${unread}. Read with the file and search tools instead.`);
  if (asks === false) {
    return deny(
      `This command was not run: ${unread}, and approvals.mode is off. Use other tools, or ask the user to set it to manual.`,
    );
  }
  const grant = lineGrant(command, { ...context.scope, cwd });
  const decision = asProtected(askUnlessGranted(reasons, [grant], context));
  if (!sandbox || reach === "outside") return decision;
  return { ...decision, sandbox: reach === "network" ? "networked" : "isolated" };
}

/** Grant for this line alone, in this folder, as long as the programs that it names do not change. */
function lineGrant(command: string, scope: CommandScope): Grant {
  const folder = scope.resolvePath(scope.cwd);
  const { resolve } = pathRules(scope.cwd);
  const programs = (command.replace(/[`^]/g, "").match(WORDS) ?? [])
    .map((word) => scope.resolvePath(resolve(scope.cwd, word.replaceAll("\\", "/"))))
    .filter((path) => !isData(path) && placeOf(path, scope).kind === "workspace");
  const texts = programs.flatMap((path) => readScript(path) ?? []);
  const hash = texts.length === 0 ? "" : ` as of ${digestOf("sha256", JSON.stringify(texts)).slice(0, 12)}`;
  return { row: `${scope.language}: ${command} in ${folder}${hash}` };
}
