/** Which files a path of a patch may mean. Approval judges them all, so that none is changed that was not judged. */
import { absolutePath } from "../../resolve-path.ts";

/** What a diff puts before its paths. */
const DIFF_PREFIX = /^[ab]\/(?=[^/])/;

/** Absolute; the first that is there is meant. */
export function candidatePaths(written: string, cwd: string): readonly string[] {
  return [...new Set([written, written.replace(DIFF_PREFIX, "")])].map((path) => absolutePath(path, cwd));
}
