import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { tool as readFile } from "../../../agent-core/tools/read-file.ts";
import { tool as writeFile } from "../../../agent-core/tools/write-file.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";
import { seeded } from "../approval/support/random.ts";

const NOTE = "The file had changed since it was read: your edit was applied to its current text";

let bench: Bench;
let path: string;

beforeEach(async () => {
  bench = toolBench();
  path = join(bench.folder, "a.txt");
});

/** The model reads a text; then the user changes it. */
async function changed(from: string, to: string): Promise<void> {
  writeFileSync(path, from);
  await bench.run(readFile, { path: "a.txt" });
  writeFileSync(path, to);
}

const text = (): string => readFileSync(path, "utf8");
const replace = (old_string: string, new_string: string, more = {}) =>
  bench.run(patch, { path: "a.txt", old_string, new_string, ...more });
const apply = (...lines: string[]) =>
  bench.run(patch, { mode: "patch", patch: ["*** Update File: a.txt", ...lines].join("\n") });

test.each([
  ["a replacement", () => replace("two", "TWO")],
  ["a patch", () => apply("-two", "+TWO")],
])("%s with an exact, unique match is applied to the changed file, and the result says so", async (_, edit) => {
  await changed("one\ntwo\nthree\n", "typed\none\ntwo\nthree\n");
  const result = await edit();
  expect(result.ok).toBe(true);
  expect(result.text).toContain(NOTE);
  expect(result.text).toContain("+typed");
  expect(result.diffs).toEqual([{ path, oldText: "typed\none\ntwo\nthree\n", newText: "typed\none\nTWO\nthree\n" }]);
  expect(text()).toBe("typed\none\nTWO\nthree\n");
});

test("the model knows the changes that the result showed, so the next edit needs no note", async () => {
  await changed("one\ntwo\n", "typed\none\ntwo\n");
  await replace("two", "TWO");
  const next = await replace("typed", "seen");
  expect(next.ok).toBe(true);
  expect(next.text).not.toContain(NOTE);
});

test("a change too long to be shown stays unknown: the whole text is not written over it", async () => {
  const typed = Array.from({ length: 100 }, (_, index) => `typed ${index}\n`).join("");
  await changed("one\ntwo\n", `${typed}one\ntwo\n`);
  expect((await replace("two", "TWO")).text).toContain("Read the file again before you edit those parts.");
  expect(await bench.run(writeFile, { path: "a.txt", content: "x\n" })).toMatchObject({ ok: false });
  expect(text()).toBe(`${typed}one\nTWO\n`);
});

test.each([
  ["fuzzy", () => replace("  two", "TWO")],
  ["fuzzy in a patch", () => apply("-  two", "+TWO")],
  ["no longer unique", () => replace("one", "ONE")],
  ["no longer unique in a patch", () => apply("-one", "+ONE")],
  ["of several places", () => replace("e", "E", { replace_all: true })],
  ["in the changed lines", () => replace("typed one", "ONE")],
  ["of the whole text", () => bench.run(writeFile, { path: "a.txt", content: "x\n" })],
  ["a deletion", () => bench.run(patch, { mode: "patch", patch: "*** Delete File: a.txt" })],
  ["a move", () => apply("*** Move to: b.txt", "-two", "+TWO")],
  ["partly fuzzy", () => apply("-two", "+TWO", "@@", "-  three", "+THREE")],
])("an edit that is %s is refused where the file has changed", async (_, edit) => {
  await changed("one\ntwo\nthree\n", "typed one\none\ntwo\nthree\none\n");
  const result = await edit();
  expect(result.ok).toBe(false);
  expect(result.text).toContain("a.txt has changed since you read it; nothing was written. Read it again.");
  expect(text()).toBe("typed one\none\ntwo\nthree\none\n");
});

test("two sections of a patch for one changed file both fit exactly, or nothing is written", async () => {
  await changed("one\ntwo\nthree\n", "typed\none\ntwo\nthree\n");
  const section = ["*** Update File: a.txt", "-three"];
  expect(await apply("-two", "+TWO", ...section.with(1, "-  three"), "+THREE")).toMatchObject({ ok: false });
  expect(await apply("-two", "+TWO", ...section, "+THREE")).toMatchObject({ ok: true });
  expect(text()).toBe("typed\none\nTWO\nTHREE\n");
});

test("CRLF line ends are no obstacle", async () => {
  await changed("one\r\ntwo\r\nthree\r\n", "typed\r\none\r\ntwo\r\nthree\r\n");
  expect(await replace("two\nthree", "TWO")).toMatchObject({ ok: true });
  expect(text()).toBe("typed\r\none\r\nTWO\r\n");
});

test.each([
  [{ path: "a.txt", old_string: "two", new_string: "TWO" }],
  [{ mode: "patch", patch: "*** Update File: a.txt\n-two\n+TWO" }],
])("a change between the diff and the write is kept, too: %j", async (input) => {
  writeFileSync(path, "one\ntwo\n");
  const prepared = patch.prepare(input, bench.folder);
  const staged = prepared.ok ? await prepared.call.stage(bench.context) : prepared;
  if (!staged.ok) throw new Error(staged.text);
  writeFileSync(path, "typed\none\ntwo\n");
  const result = await staged.run();
  expect(result.text).toContain(NOTE);
  expect(text()).toBe("typed\none\nTWO\n");
});

test("random edits over random changes lose no line that anybody else wrote", async () => {
  const random = seeded(20_261_123);
  let applied = 0;
  for (let round = 0; round < 300; round += 1) {
    const lines = Array.from({ length: 3 + random.below(6) }, (_, index) => `line ${random.below(4)} ${index % 3}`);
    const typed = `typed ${round}`;
    const at = random.below(lines.length + 1);
    await changed(`${lines.join("\n")}\n`, `${lines.toSpliced(at, random.below(2), typed).join("\n")}\n`);
    const first = random.below(lines.length);
    const old = lines.slice(first, first + 1 + random.below(2)).join("\n");
    const result = await random.pick([
      () => replace(old, "edited"),
      () => apply(...old.split("\n").map((line) => `-${line}`), "+edited"),
      () => bench.run(writeFile, { path: "a.txt", content: "edited\n" }),
    ])();
    if (result.ok) applied += 1;
    expect(text(), `round ${round}: ${result.text}`).toContain(typed);
    expect(text().includes("edited")).toBe(result.ok);
    bench.context.files.forget(path);
  }
  expect(applied).toBeGreaterThan(30);
});
