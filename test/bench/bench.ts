// `npm run bench`: our figures beside a floor measured in the same run; absolute times drift between machines, ratios
// do not. The floor is a small Node script that fetches, parses the event stream, reads a file and loops.
import { existsSync, statSync } from "node:fs";
import { measureAnswers } from "./answers.ts";
import { measureCheckpoints } from "./checkpoints.ts";
import { measureEdits } from "./edits.ts";
import { measureEnding } from "./ending.ts";
import { measureIterations } from "./iterations.ts";
import { measureLife } from "./life.ts";
import { measureLongSessions } from "./long-sessions.ts";
import { measureManyTurns } from "./many-turns.ts";
import type { Row } from "./measuring.ts";
import { measurePanel } from "./panel.ts";
import { measureSearch } from "./search.ts";
import { measureSessions } from "./sessions.ts";
import { measureVerdicts } from "./verdicts.ts";

const PACKAGE = "dist/hermes-vscode.vsix";

for (const measure of [
  measureLife,
  measureEnding,
  measureIterations,
  measureAnswers,
  measureSessions,
  measureLongSessions,
  measureManyTurns,
  measureEdits,
  measureSearch,
  measureCheckpoints,
  measureVerdicts,
  measurePanel,
  measureSize,
]) {
  for (const row of await measure()) print(row);
}

async function measureSize(): Promise<readonly Row[]> {
  if (!existsSync(PACKAGE)) return [];
  return [{ what: "packaged extension", ours: statSync(PACKAGE).size / 1e6, target: 6, unit: "MB" }];
}

function print({ what, ours, floor, target, targetFloor, unit }: Row): void {
  const most = targetFloor === undefined ? "" : ` (at most ${(target / targetFloor).toFixed(1)})`;
  const beside =
    floor === undefined ? "" : `  floor ${floor.toFixed(2)} ${unit}, ratio ${(ours / floor).toFixed(1)}${most}`;
  console.log(`${what.padEnd(64)} ${ours.toFixed(2).padStart(8)} ${unit}  (at most ${target})${beside}`);
}
