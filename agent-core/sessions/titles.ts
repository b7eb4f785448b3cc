/** Titles of sessions: one clean line, and a number for forks. */
import { ESCAPE_SEQUENCES } from "../platform/ansi.ts";
import { INVISIBLE } from "../platform/visible-text.ts";

/** Control characters and marks that change text direction. The joiners of emoji and scripts stay. */
const { override, direction, widthless, byteOrderMark } = INVISIBLE;
const UNSEEN = new RegExp(`[\\p{Cc}${override}${direction}${widthless}${byteOrderMark}]`, "gu");

/** Part of a text that titles come from: a message of megabytes would hold up the process for seconds. Characters. */
const READ_CHARS = 5_000;

/** The text's start as one line of visible characters; empty when there are none. */
export function titleLine(text: string): string {
  const start = text.trimStart().slice(0, READ_CHARS);
  const seen = start.replaceAll(ESCAPE_SEQUENCES, "").replaceAll(/\s+/g, " ").replaceAll(UNSEEN, "");
  return seen.replaceAll(/ +/g, " ").trim().toWellFormed();
}

const NUMBER = / \((\d{1,4})\)$/;

/** `Title (2)`, or the next number that is not in `taken`. Undefined without a title. */
export function forkTitle(title: string | undefined, taken: readonly string[]): string | undefined {
  if (title === undefined) return undefined;
  const plain = title.replace(NUMBER, "");
  const numbers = [title, ...taken]
    .filter((other) => other.replace(NUMBER, "") === plain)
    .map((other) => Number(NUMBER.exec(other)?.[1] ?? 1));
  return `${plain} (${Math.max(...numbers) + 1})`;
}
