/** Reads the corpus: one command a line, under the level that it must get. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Level } from "../../../../agent-core/approval/command-effect.ts";

export type Case = { readonly command: string; readonly level: Level };

const FOLDER = join(import.meta.dirname, "..", "corpus");

/** Cases of one corpus file; `⏎` in a command is a line feed. */
export function readCorpus(name: string): readonly Case[] {
  const cases: Case[] = [];
  let level: Level | undefined;
  for (const line of readFileSync(join(FOLDER, `${name}.txt`), "utf8").split("\n")) {
    const heading = /^## (safe|ask|block)$/.exec(line)?.[1];
    if (heading === "safe" || heading === "ask" || heading === "block") level = heading;
    else if (line !== "" && !line.startsWith("# ")) {
      if (level === undefined)
        throw new Error(
          `${name}.txt: the command ${line} precedes the first level. Add a heading such as "## ask" above it.`,
        );
      cases.push({ command: line.replaceAll("⏎", "\n"), level });
    }
  }
  return cases;
}
