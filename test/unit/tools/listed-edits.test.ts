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

test.each<[string, readonly string[], string]>([
  ["of different lines", ["a =", "c ="], "const a2 = 1;\nconst b = 2;\nconst c2 = 3;\n"],
  ["of one line", ["const a", "a2 ="], "const a22 = 1;\nconst b = 2;\nconst c = 3;\n"],
  [
    "of the end of one line and the start of the next",
    ["= 1;\nconst b", "c ="],
    "const a = 1;\nconst b2 = 2;\nconst c2 = 3;\n",
  ],
])("several edits of parts %s are made", async (_, parts, after) => {
  const edits = parts.map((part) => ({ old_string: part, new_string: part.replace(/\w(?=( =)?$)/, "$&2") }));
  expect(await use({ path: "a.ts", edits })).toMatchObject({ ok: true });
  expect(text("a.ts")).toBe(after);
});

test("several edits of which one part is at two places are refused, and nothing changes", async () => {
  const edits = ["a =", "const"].map((part) => ({ old_string: part, new_string: "x" }));
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
