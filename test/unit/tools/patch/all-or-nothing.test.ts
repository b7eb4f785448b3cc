import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FileFailure, HostFiles } from "../../../../agent-core/host/host.ts";
import { tool } from "../../../../agent-core/tools/patch.ts";
import { toolBench } from "../../../support/tool-context.ts";
import { type Random, seeded } from "../../approval/support/random.ts";

const FAILED: FileFailure = { ok: false, reason: "failed", message: "The disk is full." };
const CASES = 300;

/** The same files, but change number `failing` (from 0) does not come about. */
function failingFiles(files: HostFiles, failing: number, fail: () => Promise<FileFailure>): HostFiles {
  let changes = 0;
  const orFail = <Result>(change: () => Promise<Result>): Promise<Result | FileFailure> =>
    changes++ === failing ? fail() : change();
  return {
    ...files,
    writeText: (...call) => orFail(() => files.writeText(...call)),
    remove: (...call) => orFail(() => files.remove(...call)),
    rename: (...call) => orFail(() => files.rename(...call)),
  };
}

function snapshot(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true }) as string[];
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(folder, name), "latin1")]));
}

const PATCH = [
  ...["*** Add File: new/d.txt", "+four"],
  ...["*** Update File: a.txt", "-one", "+ONE"],
  ...["*** Update File: b.txt", "*** Move to: c/b.txt", "-two", "+TWO"],
  ...["*** Delete File: e.txt"],
  ...["*** Delete File: f.txt"],
].join("\n");

function workspace() {
  const bench = toolBench();
  for (const [name, text] of Object.entries({ "a.txt": "one\r\n", "b.txt": "two", "e.txt": "e\n", "f.txt": "f\n" })) {
    writeFileSync(join(bench.folder, name), text);
  }
  return bench;
}

async function run(bench: ReturnType<typeof toolBench>, files: HostFiles) {
  const context = { ...bench.context, host: { ...bench.context.host, files } };
  const prepared = tool.prepare({ mode: "patch", patch: PATCH }, bench.folder);
  if (!prepared.ok) throw new Error(prepared.text);
  const staged = await prepared.call.stage(context);
  if (!staged.ok) throw new Error(staged.text);
  return staged.run();
}

test.each([0, 1, 2, 3, 4, 5])("when change %i fails, every file is as it was", async (failing) => {
  const bench = workspace();
  const before = snapshot(bench.folder);
  const files = failingFiles(bench.context.host.files, failing, () => Promise.resolve(FAILED));
  const result = await run(bench, files);
  expect(result.text).toBe("patch: The disk is full. Everything else of the patch was put back; no file is changed.");
  expect(snapshot(bench.folder)).toEqual(before);
});

test.each([0, 1, 2, 3, 4, 5])("when the turn is cancelled at change %i, every file is as it was", async (failing) => {
  const bench = workspace();
  const before = snapshot(bench.folder);
  const files = failingFiles(bench.context.host.files, failing, () => Promise.reject(new Error("cancelled")));
  await expect(run(bench, files)).rejects.toThrow("cancelled");
  expect(snapshot(bench.folder)).toEqual(before);
});

test("what cannot be put back either is said", async () => {
  const bench = workspace();
  const { files } = bench.context.host;
  let changes = 0;
  const stubborn: HostFiles = {
    ...files,
    writeText: (...call) => (changes++ < 1 ? files.writeText(...call) : Promise.resolve(FAILED)),
    putBack: () => Promise.resolve({ ok: false, reason: "denied", message: "new/d.txt cannot be removed." }),
  };
  const result = await run(bench, stubborn);
  expect(result.text).toContain("Not everything could be put back: new/d.txt cannot be removed. Look at these files.");
});

const WORDS = ["alpha", "beta", "gamma", "delta", "", "  indented", "\tx = 1;", "}", "return", "$&", "a|b", "…"];
const ENDS = ["\n", "\r\n"];

function randomText(random: Random): string {
  const end = random.pick(ENDS);
  const lines = Array.from({ length: 1 + random.below(40) }, (_, index) =>
    random.chance(0.3) ? random.pick(WORDS) : `${random.pick(WORDS)} ${index}`,
  );
  return lines.join(end) + (random.chance(0.8) ? end : "");
}

function randomEdit(random: Random, lines: readonly string[]): string[] {
  const edited = [...lines];
  for (let edits = 1 + random.below(3); edits > 0; edits--) {
    const at = random.below(edited.length + 1);
    const fresh = Array.from({ length: random.below(3) }, () => `new ${random.below(1000)}`);
    edited.splice(at, random.below(3), ...fresh);
  }
  return edited;
}

/** A patch with every line of both texts in one hunk: what a careful model would write. */
function wholeHunk(before: readonly string[], after: readonly string[]): string {
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < Math.min(before.length, after.length) - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [
    "*** Update File: a.txt",
    "@@",
    ...before.slice(0, head).map((line) => ` ${line}`),
    ...before.slice(head, before.length - tail).map((line) => `-${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+${line}`),
    ...before.slice(before.length - tail).map((line) => ` ${line}`),
  ].join("\n");
}

test("a random edit is recovered from its patch, and its inverse gives the bytes back", async () => {
  const random = seeded(20_261_121);
  for (let index = 0; index < CASES; index++) {
    const bench = toolBench();
    mkdirSync(bench.folder, { recursive: true });
    const before = randomText(random);
    const end = before.includes("\r\n") ? "\r\n" : "\n";
    const isEnded = before.endsWith(end);
    const lines = (isEnded ? before.slice(0, -end.length) : before).split(end);
    const edited = randomEdit(random, lines);
    if (edited.length === 0 || edited.join() === lines.join()) continue;
    const after = edited.join(end) + (isEnded ? end : "");
    const path = join(bench.folder, "a.txt");
    writeFileSync(path, before);
    const there = await bench.run(tool, { mode: "patch", patch: wholeHunk(lines, edited) });
    expect([there.ok, readFileSync(path, "utf8")], `case ${index}: ${there.text}`).toEqual([true, after]);
    const back = await bench.run(tool, { mode: "patch", patch: wholeHunk(edited, lines) });
    expect([back.ok, readFileSync(path, "utf8")], `case ${index} back: ${back.text}`).toEqual([true, before]);
  }
});
