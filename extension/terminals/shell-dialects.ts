/**
 * Lines with the same meaning in bash and in another shell. Approvals judge commands as bash; zsh and fish read some lines
 * differently: `#` starts no comment at a zsh prompt, and `\'` ends no quote in fish.
 */

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
