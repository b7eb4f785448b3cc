/** Looks at a command's text before it is read as shell code. */

/** Longer commands (UTF-16 units) are not read. */
const MAX_LENGTH = 65_536;
/** Control characters but tab and line feed, and what people do not see: directions, zero widths, tags, fillers. */
const HIDDEN =
  /[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
/** Joiners and variation selectors within an emoji are nothing hidden. */
const EMOJI = /\p{Extended_Pictographic}(?:[\ufe0f\u{1f3fb}-\u{1f3ff}]|\u200d(?=\p{Extended_Pictographic}))*/gu;

/** What makes a text unfit to be judged. */
export type TextDefect = { readonly level: "ask" | "block"; readonly reason: string };

/** Why the text cannot be trusted to be what it looks like; undefined when it is plain text. */
export function inspectText(command: string): TextDefect | undefined {
  if (command.includes("\0"))
    return { level: "block", reason: "The command has a NUL character in it, which no shell takes" };
  if (command.length > MAX_LENGTH)
    return { level: "ask", reason: `The command is too long to be judged (${command.length} characters)` };
  const hidden = new Set(command.replace(EMOJI, "").match(HIDDEN) ?? []);
  if (hidden.size === 0) return undefined;
  const codes = [...hidden]
    .slice(0, 5)
    .map((character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`);
  return { level: "ask", reason: `The command has characters that one does not see: ${codes.join(", ")}` };
}
