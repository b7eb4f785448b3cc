/** Files of a project that memory cites: a fact, or a step of a learnt skill, holds while its file shows it. */
import { join } from "node:path";
import { pathBelow } from "../platform/paths.ts";
import { readText } from "../platform/text-file.ts";
import { holdsValue } from "./statement.ts";

/** Longer files are not read for a citation. Characters. */
const MAX_CITED = 1_000_000;

/** Text that cites `path` below the folder; undefined for a file outside, and for one that cannot be read or is too long. */
export async function readCited(folder: string, path: string): Promise<string | undefined> {
  const file = join(folder, path);
  if (pathBelow(folder, file) === undefined) return undefined;
  const text = await readText(file).catch(() => undefined);
  return text !== undefined && text.length <= MAX_CITED ? text : undefined;
}

/**
 * The first text that a file of the project no longer has, as a part of a sentence. `cites`: texts of a skill's steps, each as
 * `bin/README: bin/publish`.
 */
export async function lostCitation(cites: readonly string[], project: string): Promise<string | undefined> {
  for (const cite of cites) {
    const [, path = "", text = ""] = /^(.+?): (.+)$/.exec(cite) ?? [];
    const found = await readCited(project, path);
    if (found === undefined || !holdsValue(found, text)) return `${path} no longer has ${text}`;
  }
  return undefined;
}
