/** Judges lines in a language that is not read: each asks, and what stands in its text only adds reasons. */
import type { ShellLanguage } from "../host/terminals/terminals.ts";
import { pathRules } from "../platform/paths.ts";
import { catastrophicReason } from "./catastrophic-paths.ts";
import { type CommandScope, placeOf } from "./command-scope.ts";
import { askUnlessGranted, asProtected, type Decision, deny, type Effect, type PolicyContext } from "./decision.ts";
import type { Grant } from "./grants.ts";
import { hashOf, isData, readScript } from "./project-scripts.ts";
import { secretOfAnyHome, secretReason } from "./secret-paths.ts";
import type { Recorder } from "./shell/recorder.ts";

type UnreadLanguage = Exclude<ShellLanguage, "sh">;

const NAMES: Readonly<Record<UnreadLanguage, string>> = {
  powershell: "PowerShell",
  cmd: "cmd",
  fish: "fish",
  nushell: "Nushell",
};

/** Characters that escape the next one in PowerShell and in cmd. */
const ESCAPE = /[`^](?:\r?\n)?/g;
const BETWEEN_WORDS = /[\s"'`;|&(){}<>,=@[\]]+/;
const QUOTED = /"([^"]*)"|'([^']*)'/g;
const BETWEEN_STATEMENTS = /[;|&\r\n(){}]+/;
/** Ways to write the home folder. */
const HOME = /^(?:~|\$(?:env:)?(?:home|userprofile)|%userprofile%|%homedrive%%homepath%)(?=\/|$)/i;
const APP_DATA = /^(?:\$env:(local)?appdata|%(local)?appdata%)(?=\/|$)/i;
/** Prefixes of a drive: of the system's own name space, and of a share of the same disk. */
const DRIVE_PREFIX = /^\/\/(?:[?.]\/(?=[a-z]:)|[^/]+\/([a-z])\$(?=\/|$))/i;
/** Words before the program that they start. */
const STARTERS =
  /^(?:cmd|%comspec%|\$env:comspec|powershell|pwsh|start|start-process|saps|sudo|gsudo|call|iex|invoke-expression|\.)$/;
const ENDS_MACHINE = /^(?:stop-computer|restart-computer|shutdown|poweroff|reboot|halt)$/;
const WIPES_DISK = /^(?:format-volume|clear-disk|initialize-disk|remove-partition|diskpart|mkfs(?:\..+)?)$/;
const DELETES = /^(?:remove-item|ri|rm|rmdir|rd|del|erase)$/;
const CHANGES_MACHINE = /\b(?:reg(?:\.exe)?\s+delete|bcdedit|vssadmin|takeown|cipher\s+\/w)\b/i;

/** Records that the line asks; blocks one that surely ends the machine or wipes a disk or the home. */
export function judgeUnread(command: string, language: UnreadLanguage, scope: CommandScope, record: Recorder): void {
  record.markUnparsed(`Hermes cannot read ${NAMES[language]} commands, so it asks for each one`);
  const text = command.replace(ESCAPE, "");
  for (const word of wordsOf(text)) {
    const reason = secretIn(word, scope);
    if (reason !== undefined) record.askAlways(`Names ${word}: ${reason}`);
  }
  const machine = CHANGES_MACHINE.exec(text)?.[0];
  if (machine !== undefined) record.askAlways(`Runs ${machine}, which changes the system`);
  for (const statement of statementsOf(text)) {
    const catastrophe = catastropheOf(statement, scope);
    if (catastrophe !== undefined) record.block(catastrophe);
  }
}

/**
 * Decides on a line that is not blocked, by the `reasons` of `judgeUnread`. It asks in every mode that runs commands, and the
 * user alone answers.
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
  const key = reasons.length > 1 ? undefined : lineGrant(command, { ...context.scope, cwd });
  const decision = asProtected(askUnlessGranted(reasons, key && { ...key, keys: [key] }, context));
  if (!sandbox || reach === "outside") return decision;
  return { ...decision, sandbox: reach === "network" ? "networked" : "isolated" };
}

/** Grant for this line alone, in this folder, as long as the programs that it names do not change. */
function lineGrant(command: string, scope: CommandScope): Grant {
  const folder = scope.resolvePath(scope.cwd);
  const programs = wordsOf(command.replace(ESCAPE, ""))
    .map((word) => scope.resolvePath(absolute(word, scope)))
    .filter((path) => !isData(path) && placeOf(path, scope).kind === "workspace");
  const texts = programs.flatMap((path) => readScript(path) ?? []);
  const id = ["line", scope.language, folder, command, ...texts.map(hashOf)];
  const until = texts.length === 0 ? "" : ", until a file that it names changes";
  return { id: JSON.stringify(id), description: `exactly \`${command}\` in ${folder}${until}` };
}

function wordsOf(text: string): readonly string[] {
  const quoted = [...text.matchAll(QUOTED)].map(([, double, single]) => double ?? single ?? "");
  const words = [...quoted, ...text.split(BETWEEN_WORDS)].map((word) => word.replace(/^-+\w+:(?=.)/, ""));
  return [...new Set(words)].filter((word) => word !== "");
}

function withSlashes(word: string, { home }: CommandScope): string {
  return word
    .replaceAll("\\", "/")
    .replace(DRIVE_PREFIX, (_, drive: string | undefined) => (drive === undefined ? "" : `${drive}:`))
    .replace(HOME, home)
    .replace(APP_DATA, (name) => `${home}/AppData/${/local/i.test(name) ? "Local" : "Roaming"}`);
}

function absolute(word: string, scope: CommandScope): string {
  return pathRules(scope.cwd).resolve(scope.cwd, withSlashes(word, scope));
}

function secretIn(word: string, scope: CommandScope): string | undefined {
  const path = absolute(word, scope);
  // The start of such a path is not known.
  const isVague = /[$%]/.test(withSlashes(word, scope));
  const isInside = !isVague && placeOf(scope.resolvePath(path), scope).kind === "workspace";
  return secretReason(path, scope) ?? (isInside ? undefined : secretOfAnyHome(path));
}

/** Words of each statement. A quoted text with spaces is one word, and none of its parts starts a program. */
function statementsOf(text: string): readonly (readonly string[])[] {
  const bare = text.replace(QUOTED, (_, double: string | undefined, single: string | undefined) => {
    const inner = double ?? single ?? "";
    return /[\s;|&]/.test(inner) ? "_" : inner;
  });
  return bare.split(BETWEEN_STATEMENTS).map((statement) => {
    const words = statement.trim().split(/[\s,]+/);
    const first = words.findIndex((word) => !/^[-/]\w/.test(word) && !STARTERS.test(programOf(word)));
    return first < 0 ? [] : words.slice(first);
  });
}

function programOf(word: string): string {
  const name = word.replace(/^@/, "").split(/[\\/]/).at(-1) || word;
  return name.toLowerCase().replace(/\.(?:exe|com|cmd|bat)$/, "");
}

function catastropheOf([first = "", ...operands]: readonly string[], scope: CommandScope): string | undefined {
  const program = programOf(first);
  if (ENDS_MACHINE.test(program)) return `Stops the machine: ${program}`;
  const formats = program === "format" && operands.some((word) => /^[a-z]:$/i.test(word));
  if (formats || WIPES_DISK.test(program)) return `Wipes a disk: ${program}`;
  if (!DELETES.test(program)) return undefined;
  for (const word of operands.filter((operand) => !/^(?:-|\/[a-z]$)/i.test(operand))) {
    const folder = absolute(word.replace(/[\\/](?:\*|\*\.\*)?$/, "\\"), scope);
    const wiped = catastrophicReason(folder, false, scope);
    if (wiped !== undefined) return `Deletes ${word}: that is ${wiped}`;
  }
  return undefined;
}
