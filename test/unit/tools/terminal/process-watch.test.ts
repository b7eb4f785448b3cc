import { afterEach, expect, test } from "vitest";
import type { HermesProcess } from "../../../../agent-core/protocol/processes.ts";
import { ProcessWatch } from "../../../../agent-core/tools/terminal/process-watch.ts";
import { tool as terminal } from "../../../../agent-core/tools/terminal.ts";
import { type Bench, toolBench } from "../../../support/tool-context.ts";

const open: { dispose(): unknown }[] = [];

afterEach(async () => {
  for (const it of open.splice(0)) await it.dispose();
});

function watched(): { readonly bench: Bench; readonly seen: (readonly HermesProcess[])[] } {
  const bench = toolBench();
  const seen: (readonly HermesProcess[])[] = [];
  const { processes } = bench.context;
  const watch = new ProcessWatch({ processes, onChange: (views) => seen.push(views), onDefect: expect.fail });
  open.push(watch, processes);
  return { bench, seen };
}

const states = (views: readonly HermesProcess[] | undefined) => views?.map(({ id, state }) => `${id} ${state}`);

test("the watch tells what runs, that it waits for input, and how it ended, each once", async () => {
  const { bench, seen } = watched();
  await bench.run(terminal, { command: "read -r line; exit 3", background: true });
  await expect.poll(() => states(seen.at(-1))).toEqual(["p1 waits-for-input"]);
  await bench.context.processes.find("p1")?.running.write("x\n");
  await expect.poll(() => states(seen.at(-1))).toEqual(["p1 ended"]);
  expect(seen.at(-1)?.[0]?.note).toBe("exit code 3");
  expect(new Set(seen.map((views) => JSON.stringify(views))).size).toBe(seen.length);
});

test("one that the model was told of is gone", async () => {
  const { bench, seen } = watched();
  await bench.run(terminal, { command: "cat", background: true });
  const process = bench.context.processes.find("p1");
  expect(await process?.writeForUser("\u0004")).toEqual({ ok: true });
  await process?.running.exit;
  expect(await bench.context.processes.notices()).toEqual([
    "[the user has typed into p1]",
    expect.stringMatching(/^\[p1 has ended: exit code 0/),
  ]);
  await expect.poll(() => states(seen.at(-1))).toEqual([]);
});

test("the watch tells nothing more once it is disposed of", async () => {
  const { bench, seen } = watched();
  await open[0]?.dispose();
  await bench.run(terminal, { command: "cat", background: true });
  await bench.context.processes.find("p1")?.stopForUser();
  expect(seen).toEqual([]);
});
