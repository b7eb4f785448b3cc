/** A command as one line that can be typed at the prompt of an interactive shell. */
import type { HermesUserShell } from "../../agent-core/protocol/terminals.ts";
import { meansTheSame } from "./other-grammars.ts";

/** Beyond this a shell's line editor is no place for it. Characters. */
const MAX_TYPED = 4_000;
/**
 * What bash tells VS Code of nothing, or of no end: a subshell or group at the beginning, a comment, the definition of a
 * function. Its DEBUG trap, which the marks come from, does not run for those.
 */
const UNTOLD = /^(?:[^\w./~$"'@:+-]|(?:coproc|function|if|select|time|until|while)\b|[^\s"'$]*\s*\(\s*\))/;

export type TypingShell = {
  /** What VS Code takes it for. */
  readonly kind: string | undefined;
  /**
   * Told of under their first command alone, lines lose what they print first: VS Code keeps from the beginning only what
   * it knows the line by. bash does so where HISTCONTROL says what the history leaves out.
   */
  readonly tellsWhole: boolean;
};

/** Undefined: typed there it would not be the command that was judged. */
export function typedLine({ line, language }: HermesUserShell, shell: TypingShell): string | undefined {
  const { kind, tellsWhole } = shell;
  const command = line.trim();
  if (command.length > MAX_TYPED || !isUnderstood(command, language, kind)) return undefined;
  if (!tellsWhole && kind !== undefined && ansiCQuoting.has(kind)) return asOneWord(command);
  if (isPlain(command)) return command;
  return kind !== undefined && ansiCQuoting.has(kind) ? `eval $'${escaped(command, "\\x")}'` : undefined;
}

/** Exit code of the line that a bash begins with which tells of a line by its first command alone. */
export const TELLS_FIRST_ONLY = 110;

/** The line that goes to a folder, whatever the user's `cd` stands for. */
export function changeFolderLine(folder: string, shell: string | undefined): string {
  if (shell === "pwsh") return `Set-Location -LiteralPath '${folder.replaceAll("'", "''")}'`;
  // A leading dash or a `cd` with a mind of its own must not lead elsewhere.
  const quoted = shell === "fish" ? folder.replace(/[\\']/g, "\\$&") : folder.replaceAll("'", "'\\''");
  return `builtin cd -- '${quoted}'`;
}

/**
 * The line that a new shell begins with, empty when it needs none: takes the variables from what it gives its programs
 * (`names` are names of variables), and what it prints after a command of its own accord.
 */
export function preparingLine(names: readonly string[], shell: string | undefined): string {
  if (shell === "pwsh") {
    if (names.length === 0) return "";
    return `Remove-Item -ErrorAction Ignore -LiteralPath ${names.map((name) => `Env:${name}`).join(",")}`;
  }
  if (shell === "fish") {
    if (names.length === 0) return "";
    // What is universal stays so for the user's other shells: it can only be covered, by one without a value.
    return `for name in ${names.join(" ")}; if set -qU $name; set -gx $name ''; else; set -eg $name; end; end; true`;
  }
  const lines = ["builtin true", ...names.map((name) => `builtin unset -v ${name}`)];
  // zsh marks an output without a last line break, and wipes the mark out where there is one.
  if (shell === "zsh") lines.push("builtin unsetopt prompt_sp");
  else lines.push(`{ [ "\${__vsc_history_verify-1}" = 1 ] || (exit ${TELLS_FIRST_ONLY}); }`);
  return lines.join(" && ");
}

/** Shells that speak bash, of which `eval $'…'` is understood; zsh for what it has in common with bash. */
const ansiCQuoting: ReadonlySet<string> = new Set(["bash", "gitbash", "zsh"]);

function isUnderstood(command: string, language: HermesUserShell["language"], shell: string | undefined): boolean {
  if (language === "powershell") return shell === "pwsh";
  if (shell === "zsh" || shell === "fish") return meansTheSame(command, shell);
  return shell !== undefined && ansiCQuoting.has(shell);
}

/** A prompt takes it as a script would: no history expansion, no key with a meaning, and Enter ends it. */
function isPlain(line: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of a line editor
  return !/[\u0000-\u001f\u007f!]|<<|(?:\\|\||&&)$/.test(line) && !UNTOLD.test(line) && quotesAreClosed(line);
}

function quotesAreClosed(line: string): boolean {
  return !/['"`]/.test(line.replace(/\\.|'[^']*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g, ""));
}

/** bash tells of it as it is typed: `$'…'` it would tell of as what that comes to. */
function asOneWord(command: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of a line editor
  if (!/[\u0000-\u001f\u007f!']/.test(command)) return `eval '${command}'`;
  return `eval "$(builtin printf %b '${escaped(command, "\\0")}')"`;
}

/** `code` begins a character's number: of two hexadecimal digits after `\x`, of three octal ones after `\0`. */
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
