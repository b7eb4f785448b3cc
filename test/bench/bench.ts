// `npm run bench`: our figures beside a floor measured in the same run; absolute times drift between machines, ratios
// do not. The floor is a small Node script that fetches, parses the event stream, reads a file and loops. Arguments name
// the measurements to run; default: all.
import { existsSync, statSync } from "node:fs";
import { useRunFolder } from "../../scripts/run-folder.ts";
import { measureAnswers } from "./answers.ts";
import { measureBatch } from "./batch.ts";
import { measureBrowser } from "./browser.ts";
import { measureCheckpoints } from "./checkpoints.ts";
import { measureCode } from "./code.ts";
import { measureConsolidation } from "./consolidation.ts";
import { measureDelegation } from "./delegation.ts";
import { measureEdits } from "./edits.ts";
import { measureEnding } from "./ending.ts";
import { measureExtensionHost } from "./extension-host.ts";
import { measureGateway } from "./gateway.ts";
import { measureHealthReport } from "./health-report.ts";
import { measureHooks } from "./hooks.ts";
import { measureIterations } from "./iterations.ts";
import { measureLongSessions } from "./long-sessions.ts";
import { measureManyTurns } from "./many-turns.ts";
import { measureMcp } from "./mcp.ts";
import type { Row } from "./measuring.ts";
import { measureMentions } from "./mentions.ts";
import { measurePanelDelegation, measurePanelMentions, measurePanelReplay, measurePanelStream } from "./panel.ts";
import { measurePanelHour } from "./panel-hour.ts";
import { measurePanelTexts } from "./panel-texts.ts";
import { measurePlugins } from "./plugins.ts";
import { measureRemote } from "./remote.ts";
import { measureSandbox } from "./sandbox.ts";
import { measureSearch } from "./search.ts";
import { measureSessions } from "./sessions.ts";
import { measureStart } from "./start.ts";
import { measureTerminal } from "./terminal.ts";
import { measureVerdicts } from "./verdicts.ts";
import { measureWeb } from "./web.ts";
import { measureWorktrees } from "./worktrees.ts";

const PACKAGE = "dist/hermes-vscode.vsix";

const measurements = {
  start: measureStart,
  terminal: measureTerminal,
  iterations: measureIterations,
  answers: measureAnswers,
  ending: measureEnding,
  sessions: measureSessions,
  health: measureHealthReport,
  "long-sessions": measureLongSessions,
  "many-turns": measureManyTurns,
  worktrees: measureWorktrees,
  edits: measureEdits,
  search: measureSearch,
  mentions: measureMentions,
  checkpoints: measureCheckpoints,
  verdicts: measureVerdicts,
  sandbox: measureSandbox,
  code: measureCode,
  mcp: measureMcp,
  hooks: measureHooks,
  browser: measureBrowser,
  delegation: measureDelegation,
  consolidation: measureConsolidation,
  plugins: measurePlugins,
  web: measureWeb,
  remote: measureRemote,
  gateway: measureGateway,
  batch: measureBatch,
  "extension-host": measureExtensionHost,
  "panel-replay": measurePanelReplay,
  "panel-stream": measurePanelStream,
  "panel-delegation": measurePanelDelegation,
  "panel-mentions": measurePanelMentions,
  "panel-texts": measurePanelTexts,
  "panel-hour": measurePanelHour,
  size: measureSize,
};

const chosen = process.argv.slice(2);
const unknown = chosen.find((name) => !(name in measurements));
if (unknown !== undefined) {
  console.error(`No measurement is named ${unknown}. There are ${Object.keys(measurements).join(", ")}.`);
  process.exit(1);
}
const removeRunFolder = useRunFolder();
for (const [name, measure] of Object.entries(measurements)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  for (const row of await measure()) console.log(lineOf(row));
}
await removeRunFolder();

async function measureSize(): Promise<readonly Row[]> {
  if (!existsSync(PACKAGE)) return [];
  return [{ what: "packaged extension", ours: statSync(PACKAGE).size / 1e6, target: 6, unit: "MB" }];
}

function lineOf({ what, ours, floor, processor, ratio, target, targetFloor, unit }: Row): string {
  const goal = ratio ?? (target !== undefined && targetFloor !== undefined ? target / targetFloor : undefined);
  const isMet = floor !== undefined && goal !== undefined ? ours / floor <= goal : ours <= (target ?? Infinity);
  const most = ratio === undefined ? `${target} ${unit}` : `${ratio} x floor`;
  const cells = [
    what.padEnd(64),
    `${ours.toFixed(2).padStart(8)} ${unit}`,
    `at most ${most}: ${isMet ? "met" : "MISSED"}`,
    floor === undefined ? "" : `floor ${floor.toFixed(2)} ${unit}, ratio ${(ours / floor).toFixed(2)}`,
    processor === undefined ? "" : `processor ${ratioOf(processor)}`,
  ];
  return cells.filter((cell) => cell !== "").join("  ");
}

function ratioOf({ ours, floor }: { readonly ours: number; readonly floor: number }): string {
  return `${ours.toFixed(0)} : ${floor.toFixed(0)} ms, ratio ${(ours / floor).toFixed(2)}`;
}
