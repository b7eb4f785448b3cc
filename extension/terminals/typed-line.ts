/** A command as one line that can be typed at the prompt of an interactive shell. */

/** Beyond this a shell's line editor is no place for it. Characters. */
const MAX_TYPED = 4_000;
/**
 * What bash tells VS Code of nothing, or of no end: a subshell or group at the beginning, a comment, the definition of a
 * function. Its DEBUG trap, which the marks come from, does not run for those.
 */
const UNTOLD = /^(?:[^\w./~$"'@:+-]|(?:coproc|function|if|select|time|until|while)\b|[^\s"'$]*\s*\(\s*\))/;
/** Shells of which `eval $'…'` is understood. */
const ANSI_C_QUOTING: ReadonlySet<string | undefined> = new Set(["bash", "gitbash", "ksh", "wsl", "zsh"]);

/** `shell` is what VS Code takes the shell for. Undefined: it cannot be typed there. */
export function typedLine(command: string, shell: string | undefined): string | undefined {
  const line = command.trim();
  if (line.length > MAX_TYPED) return undefined;
  if (isPlain(line)) return line;
  return ANSI_C_QUOTING.has(shell) ? `eval $'${escaped(line)}'` : undefined;
}

/** The line that goes to a folder, whatever the user's `cd` stands for. */
export function changeFolderLine(folder: string, shell: string | undefined): string {
  if (shell === "pwsh") return `Set-Location -LiteralPath '${folder.replaceAll("'", "''")}'`;
  // A leading dash or a `cd` with a mind of its own must not lead elsewhere.
  const quoted = shell === "fish" ? folder.replace(/[\\']/g, "\\$&") : folder.replaceAll("'", "'\\''");
  return `builtin cd -- '${quoted}'`;
}

/** A prompt takes it as a script would: no history expansion, no key with a meaning, and Enter ends it. */
function isPlain(line: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of a line editor
  return !/[\u0000-\u001f\u007f!]|<<|(?:\\|\||&&)$/.test(line) && !UNTOLD.test(line) && quotesAreClosed(line);
}

function quotesAreClosed(line: string): boolean {
  return !/['"`]/.test(line.replace(/\\.|'[^']*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g, ""));
}

function escaped(line: string): string {
  return (
    line
      .replaceAll("\\", "\\\\")
      .replaceAll("\r\n", "\n")
      .replaceAll("\n", "\\n")
      .replaceAll("\t", "\\t")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of a line editor
      .replace(/[\u0000-\u001f\u007f'!]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`)
  );
}
