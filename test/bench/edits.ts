/** Cost of an edit through an editor, and of editing a large file: matching, diffing, guarding, writing. Floor: read, search, splice, write. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Host } from "../../agent-core/host/host.ts";
import { nodeFiles } from "../../agent-core/host/node-files.ts";
import { tool } from "../../agent-core/tools/patch.ts";
import { FileMemory } from "../../agent-core/tools/seen-files.ts";
import type { ToolContext } from "../../agent-core/tools/tool.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, say, startModelServer } from "../support/model-server/model-server.ts";
import { environmentOf, median, type Row, times } from "./measuring.ts";

const LINES = 60_000;
/** Milliseconds for an edit of a file of that many lines. */
const TARGET_MS = 50;
/** A refusal writes nothing. */
const REFUSED_MS = 20;
const ROUNDS = 9;

type Case = { readonly what: string; readonly input: (line: string) => Record<string, unknown> };

const cases: readonly Case[] = [
  {
    what: "found to the letter",
    input: (line) => ({ path: "a.ts", old_string: line, new_string: `${line} // changed` }),
  },
  {
    what: "found by the ladder",
    input: (line) => ({ path: "a.ts", old_string: `${line.trim()}  \n`, new_string: "changed\n" }),
  },
  {
    what: "refused, with the nearest text",
    input: (line) => ({ path: "a.ts", old_string: `${line} and what\nis not there`, new_string: "x" }),
  },
  {
    what: "found by its likeness, the last resort",
    input: (line) => ({
      path: "a.ts",
      old_string: `${line}\n  const valu = compute(30001, "line of 30001");`,
      new_string: "changed",
    }),
  },
  {
    what: "refused, with the nearest of 40 lines",
    input: () => ({
      path: "a.ts",
      old_string: Array.from({ length: 40 }, (_, index) => `  let it = compute(${index * 7}, "line ${index}");`).join(
        "\n",
      ),
      new_string: "x",
    }),
  },
  {
    what: "mode patch, a hunk that is not there",
    input: () => ({
      mode: "patch",
      patch: [
        "*** Update File: a.ts",
        `@@ ${lineAt(100).trim()}`,
        ` ${lineAt(200)}`,
        "-let x = compute(30);",
        "+y",
      ].join("\n"),
    }),
  },
  {
    what: "mode patch, three hunks",
    input: () => ({
      mode: "patch",
      patch: [
        "*** Update File: a.ts",
        ...[100, 30_000, 59_900].flatMap((at) => ["@@", `-${lineAt(at)}`, "+changed"]),
      ].join("\n"),
    }),
  },
];

export async function measureEdits(): Promise<readonly Row[]> {
  const overEditor = await editThroughEditor();
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-edits-"));
  const path = join(folder, "a.ts");
  const text = `${Array.from({ length: LINES }, (_, index) => lineAt(index)).join("\n")}\n`;
  try {
    const floor = await times(ROUNDS, async () => plainReplace(path, text));
    const rows: Row[] = [overEditor];
    for (const { what, input } of cases) {
      const ours = await times(ROUNDS, () => edit(folder, path, text, input(lineAt(LINES / 2))));
      rows.push({
        what: `60,000-line file patched: ${what}`,
        ours,
        floor,
        target: what.startsWith("refused") ? REFUSED_MS : TARGET_MS,
        unit: "ms",
      });
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Milliseconds from a model's answer with an edit to the next request. Diagnostics of the editor take longer. */
const EDITOR_MS = 30;
const DIAGNOSTICS_MS = 500;

/** An edit in an editor whose files and diagnostics the agent uses. */
async function editThroughEditor(): Promise<Row> {
  const model = await startModelServer();
  const agent = new AcpProcess(environmentOf(model));
  agent
    .on("fs/read_text_file", ({ path }) => ({ content: readFileSync(String(path), "utf8") }))
    .on("fs/write_text_file", ({ path, content }) => writeFileSync(String(path), String(content)))
    .on("_hermes/editor/problems/watch", () => ({}))
    .on("_hermes/editor/problems/settled", () => delay(DIAGNOSTICS_MS, { files: [] }));
  const hermes = { problems: true };
  await agent.initialize({ fs: { readTextFile: true, writeTextFile: true }, _meta: { hermes } });
  const sessionId = await agent.newSession();
  const took: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const input = { path: "a.txt", old_string: round === 0 ? "two" : `two ${round - 1}`, new_string: `two ${round}` };
    model.script({ parts: [call("patch", input)] }, say("done"));
    await agent.prompt(sessionId, "go");
    const [asked, answered] = model.requests.slice(-2).map(({ at }) => at);
    took.push((answered ?? 0) - (asked ?? 0));
  }
  await agent.stop();
  await model.stop();
  // The first edit loads code.
  return {
    what: "edit through an editor, to the next request",
    ours: median(took.slice(1)),
    target: EDITOR_MS,
    unit: "ms",
  };
}

function lineAt(index: number): string {
  return `  const value${index} = compute(${index}, "line ${index}");`;
}

function plainReplace(path: string, text: string): number {
  writeFileSync(path, text);
  const begin = performance.now();
  const read = readFileSync(path, "utf8");
  const at = read.indexOf(lineAt(LINES / 2));
  writeFileSync(path, `${read.slice(0, at)}changed${read.slice(at)}`);
  return performance.now() - begin;
}

async function edit(folder: string, path: string, text: string, input: Record<string, unknown>): Promise<number> {
  writeFileSync(path, text);
  const context = {
    host: { files: nodeFiles() } as Host, // the tool touches files only
    cwd: folder,
    files: new FileMemory(),
    signal: new AbortController().signal,
  } as ToolContext;
  const begin = performance.now();
  const prepared = tool.prepare(input, folder);
  if (!prepared.ok) throw new Error(prepared.text);
  const staged = await prepared.call.stage(context);
  const result = staged.ok ? await staged.run() : staged;
  const took = performance.now() - begin;
  if (!result.ok && !result.text.includes("nearest text is at line")) throw new Error(result.text);
  return took;
}
