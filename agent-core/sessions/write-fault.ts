/** Why something cannot be written, in words for people. */
import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { codeOf, hasCode } from "../platform/errors.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "your quota of the disk is used up",
  EROFS: "the disk is read-only",
  EACCES: "this may not be written to",
  EPERM: "this may not be written to",
  EIO: "the disk fails",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
};

/** No full stop at its end; what the system said follows in parentheses. */
export function writeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const words = WORDS[codeOf(error) ?? ""];
  return words === undefined ? error.message : `${words} (${error.message})`;
}

/** Whether what was asked for needs more room than there is. */
export function isFull(error: unknown): boolean {
  return hasCode(error, "ENOSPC", "EDQUOT");
}

/** Why the file at `path` (absolute), or another one beside it, cannot be written; undefined: nothing is known. */
export function writeProblem(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    return undefined;
  } catch (error) {
    return writeFault(error);
  }
}
