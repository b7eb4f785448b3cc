/** Names near a file that does not exist, so that the next call can be right. */
import { basename, dirname, join } from "node:path";
import type { Host } from "../host/host.ts";
import { nearestNames } from "./nearest.ts";
import { shownPath } from "./resolve-path.ts";

/** A sentence to add to "does not exist"; empty when nothing is near. */
export async function nearFiles(path: string, cwd: string, { files }: Host): Promise<string> {
  let folder = dirname(path);
  let wanted = basename(path);
  while ((await files.stat(folder)) === undefined && folder !== dirname(folder)) {
    wanted = basename(folder);
    folder = dirname(folder);
  }
  const near = nearestNames(wanted, await files.list(folder));
  if (near.length === 0) return "";
  return ` Near it: ${near.map((name) => shownPath(join(folder, name), cwd)).join(", ")}.`;
}
