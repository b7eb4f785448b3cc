/** Reasons of failed writes, in words for people. */
import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { codeOf, hasCode } from "../platform/errors.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "your disk quota is used up",
  EROFS: "the disk is read-only",
  EACCES: "Hermes has no permission to write there",
  EPERM: "Hermes has no permission to write there",
  EIO: "the disk reports an error",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
};

/** A clause without a full stop, with the system's message in parentheses. */
export function writeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const words = WORDS[codeOf(error) ?? ""];
  return words === undefined ? error.message : `${words} (${error.message})`;
}

/** True when the disk has no space for the write. */
export function isFull(error: unknown): boolean {
  return hasCode(error, "ENOSPC", "EDQUOT");
}

/** Reason why `path` (absolute), or a file next to it, cannot be written. Undefined: unknown. */
export function writeProblem(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    return undefined;
  } catch (error) {
    return writeFault(error);
  }
}
