import { structuredPatch } from "diff";
import { describe, expect, test } from "vitest";
import { replaceText } from "../../../../agent-core/tools/patch/replace.ts";
import { applyHunks } from "../../../../agent-core/tools/patch/v4a/apply-hunks.ts";
import { parsePatch } from "../../../../agent-core/tools/patch/v4a/parse-patch.ts";
import { sweep } from "../../../support/scale.ts";
import { type Random, seeded } from "../../approval/support/random.ts";

const CASES = sweep(2_000, 500);
const WORDS = ["alpha", "beta();", "if (gamma) {", "}", "return delta;", "// note", "const x = 1;", "", "$& $1", "…"];

/** Lines of a text with a line break, and whether the last one has it, too. */
type Text = { readonly lines: readonly string[]; readonly end: string; readonly isEnded: boolean };

const joined = ({ lines, end, isEnded }: Text): string => lines.join(end) + (isEnded ? end : "");

/** Some lines stand in it more than once, as in programs. */
function randomText(random: Random): Text {
  const line = (index: number): string => {
    const word = random.pick(WORDS);
    const indent = word === "" ? "" : "\t".repeat(random.below(3));
    return random.chance(0.4) ? indent + word : `${indent}${word} ${index}`;
  };
  const lines = Array.from({ length: 3 + random.below(50) }, (_, index) => line(index));
  // A last line that is empty would be no line.
  return { lines: [...lines, "last line"], end: random.pick(["\n", "\r\n"]), isEnded: random.chance(0.7) };
}

function randomEdit(random: Random, lines: readonly string[]): readonly string[] {
  const edited = [...lines];
  for (let edits = 1 + random.below(3); edits > 0; edits--) {
    const fresh = Array.from({ length: random.below(3) }, () => `\tnew line ${random.below(1000)};`);
    edited.splice(random.below(edited.length), random.below(3), ...fresh);
  }
  // A last line that is empty would be no line.
  while (edited.at(-1) === "") edited.pop();
  return edited;
}

/** Hunks with a few lines around each change, as a model writes them. */
function patchOf(before: readonly string[], after: readonly string[], context: number): string {
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
  const { hunks } = structuredPatch("", "", text(before), text(after), "", "", { context });
  return ["*** Update File: a", ...hunks.flatMap(({ lines }) => ["@@", ...lines])].join("\n");
}

/** Undefined when it is refused. */
function applied(text: string, patch: string): string | undefined {
  const parsed = parsePatch(patch);
  const [section] = parsed.ok ? parsed.sections : [];
  if (section?.kind !== "update") throw new Error(`no update: ${patch}`);
  const result = applyHunks(text, section.hunks);
  return result.ok ? result.text : undefined;
}

/** A line as a model may remember it: with other blanks. */
function disturbed(random: Random, line: string): string {
  const [, indent = "", rest = ""] = /^([\t ]*)(.*)$/.exec(line) ?? [];
  const other = random.chance(0.5) ? indent.replaceAll("\t", "    ") : indent;
  return other + rest + random.pick(["", "", " ", "  "]);
}

const trimmed = (text: string | undefined): readonly string[] | undefined =>
  text?.split(/\r?\n/).map((line) => line.trim());

describe("a random edit", () => {
  test.each([1, 3, 8])("comes out of its patch with %i lines of context to the byte, or is refused", (context) => {
    const random = seeded(context);
    let taken = 0;
    for (let index = 0; index < CASES; index++) {
      const before = randomText(random);
      const after = { ...before, lines: randomEdit(random, before.lines) };
      if (joined(after) === joined(before) || after.lines.length === 0) continue;
      const result = applied(joined(before), patchOf(before.lines, after.lines, context));
      if (result === undefined) continue;
      taken += 1;
      expect(result, `case ${index}`).toBe(joined(after));
    }
    expect(taken / CASES).toBeGreaterThan({ 1: 0.5, 3: 0.8, 8: 0.9 }[context] ?? 1);
  });

  test("is taken back by the inverse of its patch to the byte", () => {
    const random = seeded(11);
    let taken = 0;
    for (let index = 0; index < CASES; index++) {
      const before = randomText(random);
      const after = { ...before, lines: randomEdit(random, before.lines) };
      if (joined(after) === joined(before) || after.lines.length === 0) continue;
      const result = applied(joined(after), patchOf(after.lines, before.lines, 4));
      if (result === undefined) continue;
      taken += 1;
      expect(result, `case ${index}`).toBe(joined(before));
    }
    expect(taken / CASES).toBeGreaterThan(0.8);
  });

  test("comes out of its replacement, and goes back with old and new swapped", () => {
    const random = seeded(12);
    let taken = 0;
    for (let index = 0; index < CASES; index++) {
      const { lines, ...form } = randomText(random);
      const [from, count] = [random.below(lines.length), 1 + random.below(4)];
      const fresh = [`\tnew line ${index};`, "\tand more"].slice(random.below(2));
      const [before, after] = [
        joined({ ...form, lines }),
        joined({ ...form, lines: lines.toSpliced(from, count, ...fresh) }),
      ];
      const [oldString, newString] = [lines.slice(from, from + count).join("\n"), fresh.join("\n")];
      if (oldString === "") continue;
      const there = replaceText(before, { oldString, newString, replaceAll: false });
      if (there.kind !== "changed") continue;
      taken += 1;
      expect(there.newText, `case ${index}`).toBe(after);
      const back = replaceText(after, { oldString: newString, newString: oldString, replaceAll: false });
      if (back.kind === "changed") expect(back.newText, `case ${index} back`).toBe(before);
    }
    expect(taken / CASES).toBeGreaterThan(0.5);
  });

  test("is recognised with other blanks; what it leaves alone stays to the byte, and new lines are indented as the file", () => {
    const random = seeded(13);
    let taken = 0;
    for (let index = 0; index < CASES; index++) {
      const before = randomText(random);
      const after = { ...before, lines: randomEdit(random, before.lines) };
      if (joined(after) === joined(before) || after.lines.length === 0) continue;
      const patch = patchOf(before.lines, after.lines, 4)
        .split("\n")
        .map((line) => (/^[ -]/.test(line) ? line.slice(0, 1) + disturbed(random, line.slice(1)) : line))
        .join("\n");
      const result = applied(joined(before), patch);
      if (result === undefined) continue;
      taken += 1;
      expect(trimmed(result), `case ${index}: ${patch}`).toEqual(trimmed(joined(after)));
      const kept = joined(before)
        .split("\n")
        .filter((line) => !/new line/.test(line));
      const strange = result
        .split("\n")
        .filter((line) => !/new line/.test(line) && !kept.some((one) => one.trimEnd() === line.trimEnd()));
      expect(strange, `case ${index}: ${patch}`).toEqual([]);
    }
    expect(taken / CASES).toBeGreaterThan(0.7);
  });
});
