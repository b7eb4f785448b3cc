/** One instruction file of a project, as it may stand in a prompt. */
import { cutText } from "./cut-text.ts";
import { findThreat } from "./injection-scan.ts";
import { wrapData } from "./wrap-data.ts";

/** Gives a file's text as the user sees it; undefined when it is not there or is no text. */
export type ReadText = (path: string) => Promise<string | undefined>;

/** Name of the element around the file's text. */
const TAG = "project_instructions";

const FRONT_MATTER = /^---\r?\n[\s\S]*?\r?\n---\r?\n/;

/** `shown` is the name that the model sees. Undefined for a file with nothing in it. */
export function presentFile(shown: string, text: string): string | undefined {
  const body = text.replace(FRONT_MATTER, "").trim();
  if (body === "") return undefined;
  const threat = findThreat(body);
  if (threat !== undefined) return `[${shown} was left out: it holds ${threat}. Tell the user when it matters.]`;
  return wrapData(TAG, shown, cutText(body, shown));
}
