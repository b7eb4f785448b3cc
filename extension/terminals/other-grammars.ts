/**
 * Commands are judged as bash. Shells with another grammar read some of them otherwise: `#` begins no comment at a zsh
 * prompt, `\'` ends no quote in fish. There only what has one meaning in all of them may be typed.
 */

const NAME = String.raw`\$[A-Za-z_]\w*(?![\w[])`;
/** Text of a word; globs and braces are data wherever they stand. */
const BARE = String.raw`[\w./:@%+,?*{}~=-]`;
/** No backslash, of which fish makes more than bash, and no command in it that a builtin might evaluate. */
const SINGLE = String.raw`'(?:[^'\\\`$]|\$(?!\())*'`;
const DOUBLE = String.raw`"(?:[^"\\\`$]|${NAME})*"`;
const OPERATOR = String.raw`&&|\|\|(?![&|])|\|(?![&|])|;(?![;&|])|[12]?>>?(?![>|!&(])|[12]>&[12]|&>(?![>|!&(])|<(?![<>&(])|&(?![&|!>])`;
const LINE = new RegExp(`^(?:${BARE}|${NAME}|${SINGLE}|${DOUBLE}|${OPERATOR}|\\s)*$`);

/** A word that is another one's path in zsh, or hides the program behind it there. */
const ZSH_WORD = /(?:^|[\s;&|])(?:=|-(?=\s|$))/;
/** What reads a string as a program does so by the shell's own grammar. */
const READS_PROGRAM = /(?:^|[\s;&|])(?:eval|trap|alias)(?=\s|$)/;
/** What fish has other words for, or takes no assignment as. */
const NOT_FISH = /(?:^|[;&|\n])\s*(?:\w+=|(?:if|for|while|until|case|select|function)\b)/;

/** Whether the line, judged as bash, does the same when it is typed into that shell. */
export function meansTheSame(line: string, shell: "zsh" | "fish"): boolean {
  if (!LINE.test(line) || ZSH_WORD.test(line) || READS_PROGRAM.test(line)) return false;
  return shell === "zsh" || !NOT_FISH.test(line);
}
