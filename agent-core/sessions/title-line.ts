/** A title as lists, tabs and terminals can show it, whoever made it up. */

import { ESCAPE_SEQUENCES } from "../platform/ansi.ts";

/** Controls, and what turns the direction of the words around it; the joiners of emoji and scripts stay. */
const UNSEEN = /\p{Cc}|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu;

/** One line without anything that is not seen; empty when nothing is. */
export function titleLine(text: string): string {
  const seen = text.replaceAll(ESCAPE_SEQUENCES, "").replaceAll(/\s+/g, " ").replaceAll(UNSEEN, "");
  return seen.replaceAll(/ +/g, " ").trim().toWellFormed();
}
