/** Lines for the prompt of an interactive shell, and the lines that mean the same in bash and in that shell. */
import type { HermesUserShell } from "../../agent-core/protocol/processes.ts";

/** Limit for a shell's line editor. Characters. */
const MAX_TYPED = 4_000;
/**
 * Lines whose start or end bash does not report: a subshell or group at the beginning, a comment, a function. The DEBUG
 * trap, which prints the marks, does not run for those.
 */
const UNREPORTED = /^(?:[^\w./~$"'@:+-]|(?:coproc|function|if|select|time|until|while)\b|[^\s"'$]*\s*\(\s*\))/;

export type TypingShell = {
  /** Name of the shell in VS Code. */
  readonly kind: string | undefined;
  /**
   * False for a bash with HISTCONTROL, which reports the first command of a line only. VS Code then loses the beginning of
   * the output.
   */
  readonly reportsWholeLine: boolean;
};

/** Line to type; undefined when it would mean something else than the approved command. */
export function typedLine({ line, language }: HermesUserShell, shell: TypingShell): string | undefined {
  const { kind, reportsWholeLine } = shell;
  const command = line.trim();
  if (command.length > MAX_TYPED || !isUnderstood(command, language, kind)) return undefined;
  if (!reportsWholeLine && kind !== undefined && ansiCQuoting.has(kind)) return asOneWord(command);
  if (isPlain(command)) return command;
  return kind !== undefined && ansiCQuoting.has(kind) ? `eval $'${escaped(command, "\\x")}'` : undefined;
}

/** Exit code of the preparing line in a bash that reports the first command of a line only. */
export const REPORTS_FIRST_ONLY = 110;

/** Line that changes the folder, even when the user has redefined `cd`. */
export function changeFolderLine(folder: string, shell: string | undefined): string {
  if (shell === "pwsh") return `Set-Location -LiteralPath '${folder.replaceAll("'", "''")}'`;
  // Neither a leading dash nor a redefined `cd` must lead elsewhere.
  const quoted = shell === "fish" ? folder.replace(/[\\']/g, "\\$&") : folder.replaceAll("'", "'\\''");
  return `builtin cd -- '${quoted}'`;
}

/**
 * First line of a new shell, empty when it needs none. Unsets variables (`names` are their names), and turns off what the
 * shell prints after a command.
 */
export function preparingLine(names: readonly string[], shell: string | undefined): string {
  if (shell === "pwsh") {
    if (names.length === 0) return "";
    return `Remove-Item -ErrorAction Ignore -LiteralPath ${names.map((name) => `Env:${name}`).join(",")}`;
  }
  if (shell === "fish") {
    if (names.length === 0) return "";
    // A universal variable stays for the user's other shells: an empty global one hides it.
    return `for name in ${names.join(" ")}; if set -qU $name; set -gx $name ''; else; set -eg $name; end; end; true`;
  }
  const lines = ["builtin true", ...names.map((name) => `builtin unset -v ${name}`)];
  // zsh marks an output without a final line break.
  if (shell === "zsh") lines.push("builtin unsetopt prompt_sp");
  else lines.push(`{ [ "\${__vsc_history_verify-1}" = 1 ] || (exit ${REPORTS_FIRST_ONLY}); }`);
  return lines.join(" && ");
}

/** Shells that understand `eval $'…'`. */
const ansiCQuoting: ReadonlySet<string> = new Set(["bash", "gitbash", "zsh"]);

function isUnderstood(command: string, language: HermesUserShell["language"], shell: string | undefined): boolean {
  if (language === "powershell") return shell === "pwsh";
  if (shell === "zsh" || shell === "fish") return meansSameIn(command, shell);
  return shell !== undefined && ansiCQuoting.has(shell);
}

/** True when a prompt reads the line as a script does: without history expansion or keys, and Enter ends it. */
function isPlain(line: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of a line editor
  return !/[\u0000-\u001f\u007f!]|<<|(?:\\|\||&&)$/.test(line) && !UNREPORTED.test(line) && quotesAreClosed(line);
}

function quotesAreClosed(line: string): boolean {
  return !/['"`]/.test(line.replace(/\\.|'[^']*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g, ""));
}

/** Form of the line that bash reports as typed; it would report the result of `$'…'`. */
function asOneWord(command: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of a line editor
  if (!/[\u0000-\u001f\u007f!']/.test(command)) return `eval '${command}'`;
  return `eval "$(builtin printf %b '${escaped(command, "\\0")}')"`;
}

/** `code` is the prefix of a character's number: two hexadecimal digits after `\x`, three octal ones after `\0`. */
function escaped(line: string, code: "\\x" | "\\0"): string {
  const digits = (character: string): string =>
    code === "\\x"
      ? character.charCodeAt(0).toString(16).padStart(2, "0")
      : character.charCodeAt(0).toString(8).padStart(3, "0");
  return (
    line
      .replaceAll("\\", "\\\\")
      .replaceAll("\r\n", "\n")
      .replaceAll("\n", "\\n")
      .replaceAll("\t", "\\t")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of a line editor
      .replace(/[\u0000-\u001f\u007f'!]/g, (character) => `${code}${digits(character)}`)
  );
}

const NAME = String.raw`\$[A-Za-z_]\w*(?![\w[])`;
/** Text of a word; globs and braces are data everywhere. */
const BARE = String.raw`[\w./:@%+,?*{}~=-]`;
/** Without a backslash, which means more in fish, and without a command that a builtin could evaluate. */
const SINGLE = String.raw`'(?:[^'\\\`$]|\$(?!\())*'`;
const DOUBLE = String.raw`"(?:[^"\\\`$]|${NAME})*"`;
const OPERATOR = String.raw`&&|\|\|(?![&|])|\|(?![&|])|;(?![;&|])|[12]?>>?(?![>|!&(])|[12]>&[12]|&>(?![>|!&(])|<(?![<>&(])|&(?![&|!>])`;
const LINE = new RegExp(`^(?:${BARE}|${NAME}|${SINGLE}|${DOUBLE}|${OPERATOR}|\\s)*$`);

/** Words that zsh replaces by a path, or that hide the program after them. */
const ZSH_WORD = /(?:^|[\s;&|])(?:=|-(?=\s|$))/;
/** Builtins that run a string by the shell's own grammar. */
const READS_PROGRAM = /(?:^|[\s;&|])(?:eval|trap|alias)(?=\s|$)/;
/** Assignments and compound commands that fish writes differently. */
const NOT_FISH = /(?:^|[;&|\n])\s*(?:\w+=|(?:if|for|while|until|case|select|function)\b)/;

/** True when a line of bash does the same in that shell. */
export function meansSameIn(line: string, shell: "zsh" | "fish"): boolean {
  if (!LINE.test(line) || ZSH_WORD.test(line) || READS_PROGRAM.test(line)) return false;
  return shell === "zsh" || !NOT_FISH.test(line);
}
