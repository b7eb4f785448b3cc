import { applyPatch, createTwoFilesPatch } from "diff";
import { expect, test } from "vitest";
import { unifiedDiff } from "../../../agent-core/tools/unified-diff.ts";
import { seeded } from "../approval/support/random.ts";

test("equal texts have no difference", () => {
  expect(unifiedDiff("a.txt", "one\n", "one\n")).toBe("");
});

test("the changed lines stand with three lines around them and the numbers of the whole file", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
  const changed = lines.with(19, "LINE 20");
  expect(unifiedDiff("a.txt", `${lines.join("\n")}\n`, `${changed.join("\n")}\n`).split("\n")).toEqual([
    "--- a.txt",
    "+++ a.txt",
    "@@ -17,7 +17,7 @@",
    ...[" line 17", " line 18", " line 19", "-line 20", "+LINE 20", " line 21", " line 22", " line 23"],
  ]);
});

test("a new file begins at line 0 of nothing", () => {
  expect(unifiedDiff("a.txt", "", "one\n")).toBe("--- a.txt\n+++ a.txt\n@@ -0,0 +1,1 @@\n+one");
});

test("a final line break that comes or goes is said", () => {
  expect(unifiedDiff("a.txt", "one", "one\n")).toContain("\\ No newline at end of file");
});

test("it says the same as a comparison of the whole texts, and leads from one to the other", () => {
  const random = seeded(7);
  for (let index = 0; index < 500; index++) {
    const end = "\n";
    const lines = Array.from({ length: random.below(60) }, () => `w${random.below(9)}`);
    const edited = [...lines];
    for (let edits = random.below(4); edits >= 0; edits--) {
      edited.splice(
        random.below(edited.length + 1),
        random.below(3),
        ...(random.chance(0.6) ? [`n${random.below(9)}`] : []),
      );
    }
    const before = lines.join(end) + (random.chance(0.8) ? end : "");
    const after = edited.join(end) + (random.chance(0.8) ? end : "");
    const diff = unifiedDiff("a", before, after);
    if (diff === "") continue;
    const whole = createTwoFilesPatch("a", "a", before, after, undefined, undefined, { context: 3 });
    const changes = (patch: string): number => patch.split("\n").filter((line) => /^[+-](?!--|\+\+)/.test(line)).length;
    expect(changes(diff), `case ${index}:\n${diff}\n${whole}`).toBe(changes(whole));
    expect(applyPatch(before, `${diff}\n`, { autoConvertLineEndings: false }), `case ${index}`).toBe(after);
  }
});

test("the diff of long texts shows every change, however far apart, and nothing else", () => {
  const random = seeded(11);
  for (let index = 0; index < 60; index++) {
    const lines = Array.from({ length: 1_500 }, (_, line) => (random.chance(0.3) ? "}" : `line ${line} of the text`));
    const edited = [...lines];
    for (let edits = 1 + random.below(12); edits > 0; edits--) {
      const fresh = Array.from({ length: random.below(4) }, () => `new ${random.below(99)}`);
      edited.splice(random.below(edited.length + 1), random.below(4), ...fresh);
    }
    const before = lines.join("\n") + (random.chance(0.5) ? "\n" : "");
    const after = edited.join("\n") + (random.chance(0.5) ? "\n" : "");
    const diff = unifiedDiff("a", before, after);
    const whole = createTwoFilesPatch("a", "a", before, after, undefined, undefined, { context: 3 });
    const size = (patch: string): number => patch.split("\n").filter((line) => /^[+-](?!--|\+\+)/.test(line)).length;
    expect(size(diff), `case ${index}:\n${diff}\n${whole}`).toBe(size(whole));
    expect(applyPatch(before, `${diff}\n`, { autoConvertLineEndings: false }), `case ${index}`).toBe(after);
  }
});

test("a long text that becomes another one altogether is still told apart", () => {
  const text = (word: string): string =>
    Array.from({ length: 300 }, (_, line) => `${word} ${line} ${"x".repeat(200)}\n`).join("");
  const diff = unifiedDiff("a", text("one"), text("two"), 1e6);
  expect(applyPatch(text("one"), `${diff}\n`, { autoConvertLineEndings: false })).toBe(text("two"));
});
