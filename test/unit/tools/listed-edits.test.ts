import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";

let bench: Bench;
beforeEach(() => {
  bench = toolBench();
  writeFileSync(join(bench.folder, "a.ts"), "const a = 1;\nconst b = 2;\nconst c = 3;\n");
  writeFileSync(join(bench.folder, "b.ts"), "const d = 4;\n");
});
const text = (name: string): string => readFileSync(join(bench.folder, name), "utf8");
const use = (input: Record<string, unknown>) => bench.run(patch, patch.ownForm?.(input));

test.each<[string, Record<string, unknown>]>([
  [
    "Claude Code's MultiEdit",
    {
      file_path: "a.ts",
      edits: [
        { old_string: "const a = 1;", new_string: "const a = 9;" },
        { old_string: "const c = 3;", new_string: "const c = 7;" },
      ],
    },
  ],
  [
    "pi",
    {
      path: "a.ts",
      edits: [
        { oldText: "const a = 1;\n", newText: "const a = 9;\n" },
        { oldText: "const c = 3;\n", newText: "const c = 7;\n" },
      ],
    },
  ],
  [
    "a list as JSON",
    {
      path: "a.ts",
      edits:
        '[{"search": "const a = 1;", "replace": "const a = 9;"}, {"search": "const c = 3;", "replace": "const c = 7;"}]',
    },
  ],
  [
    "edits in another order",
    {
      filePath: "a.ts",
      changes: [
        { find: "const c = 3;", replacement: "const c = 7;" },
        { find: "const a = 1;", replacement: "const a = 9;" },
      ],
    },
  ],
])("a list of edits in the form of %s is made", async (_, input) => {
  expect(await use(input)).toMatchObject({ ok: true });
  expect(text("a.ts")).toBe("const a = 9;\nconst b = 2;\nconst c = 7;\n");
});

test("one edit in a list is a replacement, also of a part of a line", async () => {
  const input = { path: "a.ts", edits: [{ old_string: "b = 2", new_string: "b = 8" }] };
  expect(await use(input)).toMatchObject({ ok: true });
  expect(text("a.ts")).toContain("const b = 8;");
});

test("several edits of parts of lines are refused, and nothing changes", async () => {
  const edits = ["a", "c"].map((name) => ({ old_string: `${name} =`, new_string: `${name}2 =` }));
  expect(await use({ path: "a.ts", edits })).toMatchObject({ ok: false });
  expect(text("a.ts")).toBe("const a = 1;\nconst b = 2;\nconst c = 3;\n");
});

test.each([
  ["the name of another file", "b.ts", ["const d = 4;", "const d = 5;"], "b.ts"],
  ["a name in backticks", "`b.ts`", ["const d = 4;", "const d = 5;"], "b.ts"],
  ["a sentence", "Now change this:", ["const a = 1;", "const a = 6;"], "a.ts"],
  ["the end of the same path", "a.ts", ["const a = 1;", "const a = 6;"], "a.ts"],
])("a block below %s changes the file that is meant", async (_, line, [search = "", replace = ""], name) => {
  const diff = `${line}\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`;
  expect(await use({ path: "./a.ts", diff })).toMatchObject({ ok: true });
  expect(text(name)).toContain(replace);
});

test.each([
  ["the start of a line", "@@\n const a\n+  const z = 1;\n"],
  ["the start of another line", "@@\n-const b\n+const y\n"],
  ["a part of a word", "@@\n-cons\n+var\n"],
  ["a part at the end of a file", "@@\n-const b\n+const y\n*** End of File\n"],
])("a patch that has only %s is refused, and nothing changes", async (_, hunk) => {
  expect(await use({ mode: "patch", patch: `*** Update File: a.ts\n${hunk}` })).toMatchObject({ ok: false });
  expect(text("a.ts")).toBe("const a = 1;\nconst b = 2;\nconst c = 3;\n");
});

test.each([
  ["adds one", { old: "const a", new: "const a\n" }],
  ["takes one away", { old: "= 1;\n", new: "= 1; " }],
])("a list with an edit of a part that %s line break is refused, and nothing changes", async (_, edit) => {
  const edits = [edit, { old: "const c = 3;", new: "const c = 4;" }];
  expect(await use({ path: "a.ts", edits })).toMatchObject({ ok: false });
  expect(text("a.ts")).toBe("const a = 1;\nconst b = 2;\nconst c = 3;\n");
});
