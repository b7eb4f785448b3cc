import { expect, test } from "vitest";
import {
  afterEdit,
  afterForeignChange,
  type ReviewedText,
  withKept,
  withUndone,
} from "../../../../extension/review/reviewed-text.ts";
import { sweep } from "../../../support/scale.ts";
import { type Random, seeded } from "../../approval/support/random.ts";
import { isTyped, linesOf, RandomFile, type Typing, typedIn, withoutEnds } from "./support/random-file.ts";

/** Each round is another file with other edits and decisions. */
const ROUNDS = sweep(500, 125);
const SEED = 1;

const WAYS: readonly Typing[] = ["line", "lines", "on", "away"];

/** Runs the rounds, each with a file and dice of its own; a failure names its round. */
function rounds(salt: number, round: (random: Random, file: RandomFile) => void): void {
  for (let count = 0; count < ROUNDS; count += 1) {
    const random = seeded(SEED * 7919 + salt * 104_729 + count);
    try {
      round(random, new RandomFile(random));
    } catch (error) {
      throw new Error(`seed ${SEED}, round ${count}: ${String(error)}`, { cause: error });
    }
  }
}

/** Several edits of the agent, one right after the other. */
function agentEdits(random: Random, file: RandomFile): ReviewedText {
  let text: ReviewedText | undefined;
  for (let count = 0; count <= random.below(3); count += 1) text = agentEdit(text, file);
  return text ?? agentEdit(undefined, file);
}

function agentEdit(known: ReviewedText | undefined, file: RandomFile): ReviewedText {
  const before = file.text;
  file.agentEdits();
  return afterEdit(known, "/file", before, file.text);
}

/** The hunks and the text around them add up to both sides. */
function assertWhole(text: ReviewedText): void {
  const present = linesOf(text.present);
  const back = text.hunks.toReversed().reduce((lines, hunk) => {
    expect(lines.slice(hunk.newStart, hunk.newStart + hunk.newLines.length)).toEqual(hunk.newLines);
    return lines.toSpliced(hunk.newStart, hunk.newLines.length, ...hunk.oldLines);
  }, present);
  expect(back.join("")).toBe(text.baseline ?? "");
}

test("undoing every hunk, in any order, gives back every byte", () => {
  rounds(1, (random, file) => {
    const original = file.text;
    let text = agentEdits(random, file);
    assertWhole(text);
    while (text.hunks.length > 0) {
      text = undone(text, random);
      assertWhole(text);
    }
    expect(text.present).toBe(original);
  });
});

test("keeping every hunk, in any order, leaves every byte as the agent wrote it", () => {
  rounds(2, (random, file) => {
    let text = agentEdits(random, file);
    while (text.hunks.length > 0) {
      text = kept(text, random);
      assertWhole(text);
    }
    expect(text.present).toBe(file.text);
    expect(text.baseline).toBe(file.text);
  });
});

test("a decision leaves all other hunks unchanged, in any order", () => {
  rounds(3, (random, file) => {
    let text = agentEdits(random, file);
    while (text.hunks.length > 0) {
      const before = text.hunks.map(linesOfHunk);
      const index = random.below(text.hunks.length);
      text = decided(text, index, random.below(2) === 0 ? "keep" : "undo");
      expect(text.hunks.map(linesOfHunk)).toEqual(before.toSpliced(index, 1));
      assertWhole(text);
    }
    expect(text.baseline).toBe(text.present);
  });
});

test("undoing everything keeps the user's text and all other bytes", () => {
  rounds(4, (random, file) => {
    const original = linesOf(file.text);
    let text = agentEdits(random, file);
    for (let count = 0; count < 6; count += 1) {
      if (random.below(4) === 0) text = agentEdit(text, file);
      else for (const present of file.userTypes("line")) text = afterForeignChange(text, present);
      assertWhole(text);
    }
    const left = withUndone(text, undefined)?.present ?? "";
    expect(typedIn(left)).toEqual(file.typed);
    // The user's typing decides whether the last line has a line end.
    expect(withoutEnds(linesOf(left).filter((line) => !isTyped(line)))).toEqual(withoutEnds(original));
  });
});

test("no verdict in between loses a line of the user's or joins it with another one", () => {
  rounds(5, (random, file) => {
    let text = agentEdits(random, file);
    for (let count = 0; count < 10; count += 1) {
      text = somethingHappens(text, random, file);
      assertWhole(text);
      expect(typedIn(text.present)).toEqual(file.typed);
    }
    expect(typedIn(withUndone(text, undefined)?.present ?? "")).toEqual(file.typed);
  });
});

function somethingHappens(text: ReviewedText, random: Random, file: RandomFile): ReviewedText {
  const dice = random.below(5);
  if (dice < 2 && text.hunks.length > 0) {
    const after = dice === 0 ? kept(text, random) : undone(text, random);
    file.text = after.present;
    return after;
  }
  return dice === 2 ? agentEdit(text, file) : file.userTypes(random.pick(WAYS)).reduce(afterForeignChange, text);
}

function undone(text: ReviewedText, random: Random): ReviewedText {
  return decided(text, random.below(text.hunks.length), "undo");
}

function kept(text: ReviewedText, random: Random): ReviewedText {
  return decided(text, random.below(text.hunks.length), "keep");
}

function decided(text: ReviewedText, index: number, verdict: "keep" | "undo"): ReviewedText {
  const hunk = text.hunks[index];
  const after = hunk && (verdict === "keep" ? withKept(text, hunk) : withUndone(text, hunk));
  if (after === undefined) throw new Error(`There is no hunk ${index} to ${verdict}.`);
  return after;
}

function linesOfHunk({ oldLines, newLines }: ReviewedText["hunks"][number]) {
  return [oldLines, newLines];
}
