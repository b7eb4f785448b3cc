/** Places in a project's files that show a fact or the steps of a skill, and whether they still do. */
import { readCited } from "../memory/cited-file.ts";
import { holdsValue } from "../memory/statement.ts";
import { EVERYWHERE, type Fact } from "./facts.ts";
import { PROGRAM } from "./rule-checks.ts";

/** Words that the cited file must have: the whole value, or what a command says beside the file's own path. */
function partsIn(value: string, path: string): readonly string[] {
  const words = value.split(/\s+/);
  return words.includes(path) ? words.filter((word) => word !== path) : [value];
}

/** Place in a project's own file that names the other words of its command: `bin/check:2`. */
export async function commandCitation(value: string, folder: string): Promise<string | undefined> {
  for (const path of value.split(/\s+/).filter((word) => word.includes("/"))) {
    const parts = partsIn(value, path);
    const text = parts.length === 0 ? undefined : await readCited(folder, path);
    const line = text?.split("\n").findIndex((row) => parts.every((part) => row.includes(part))) ?? -1;
    if (line >= 0) return `${path}:${line + 1}`;
  }
  return undefined;
}

/** False for a fact whose cited file no longer has its value. A fact without a citation of a file holds as far as is known. */
export async function holdsAtCitation({ cites, value, scope }: Fact): Promise<boolean> {
  const [, path] = /^(.+):\d+$/.exec(cites ?? "") ?? [];
  if (path === undefined || value === undefined || scope === EVERYWHERE) return true;
  const text = await readCited(scope, path);
  return text !== undefined && partsIn(value, path).every((part) => text.includes(part));
}

/** Files of a project that are searched for the steps of a skill. */
const MAX_SEARCHED = 40;

/**
 * Texts of steps that files of the project show, as `bin/README: bin/publish`. A single word is in many files by chance, and a
 * program does not show itself. `files`: paths below the folder, in any form.
 */
export async function stepCitations(
  steps: readonly string[],
  files: readonly string[],
  folder: string,
): Promise<readonly string[]> {
  const programs = new Set(steps.map((step) => PROGRAM.exec(step)?.[0] ?? "").filter((text) => /[ /]/.test(text)));
  const cites: string[] = [];
  for (const path of programs.size === 0 ? [] : [...new Set(files)].slice(-MAX_SEARCHED)) {
    const text = await readCited(folder, path);
    const shown = [...programs].filter((each) => each !== path && text !== undefined && holdsValue(text, each));
    cites.push(...shown.map((each) => `${path}: ${each}`));
  }
  return cites;
}
