/** Text of a project's instruction file for a prompt: scanned, cut and marked as data. */
import { findThreat } from "./injection-scan.ts";
import { wrapData } from "./wrap-data.ts";

/** Gives a file's text as the user sees it; undefined for a missing file, and for one without text. */
export type ReadText = (path: string) => Promise<string | undefined>;

/** Limit of one file in a prompt. Characters. */
const MAX_CHARS = 20_000;
/** Parts of the limit for the beginning and the end of a longer file. */
const HEAD = 0.7;
const TAIL = 0.2;
/** Name of the element around the file's text. */
const TAG = "project_instructions";

const FRONT_MATTER = /^---\r?\n[\s\S]*?\r?\n---\r?\n/;

/** `shown` is the name for the model. Undefined for an empty file. */
export function presentFile(shown: string, text: string): string | undefined {
  const body = text.replace(FRONT_MATTER, "").trim();
  if (body === "") return undefined;
  const threat = findThreat(body);
  if (threat !== undefined) return `[${shown} was left out: it holds ${threat}. Tell the user when it matters.]`;
  return wrapData(TAG, shown, cutText(body, shown));
}

/** Keeps most of the beginning and some of the end. `path` tells the model the file with the whole text. */
function cutText(text: string, path: string): string {
  if (text.length <= MAX_CHARS) return text;
  const head = text.slice(0, MAX_CHARS * HEAD).toWellFormed();
  const tail = text.slice(-MAX_CHARS * TAIL).toWellFormed();
  const left = text.length - head.length - tail.length;
  return `${head}\n\n[… ${left} of ${text.length} characters left out; read ${path} for all of it …]\n\n${tail}`;
}
