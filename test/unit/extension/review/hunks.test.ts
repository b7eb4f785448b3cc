import { expect, test } from "vitest";
import { carryChange, followTyping, hunksBetween, undoHunk } from "../../../../extension/review/hunks.ts";

let seed = 11;
const random = (limit: number): number => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return Math.floor((seed / 2147483648) * limit);
};
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index}\n`);

/** Lines with some changed, removed and put in, as an agent would. */
function agentsEdit(lines: readonly string[]): string[] {
  return lines.flatMap((line, index) => {
    const dice = random(8);
    if (dice === 0) return [];
    if (dice === 1) return [`agent changed ${index}\n`];
    return dice === 2 ? [line, `agent added ${index}\n`, `agent added more ${index}\n`] : [line];
  });
}

test("lines that the user puts in anywhere are theirs: undoing every hunk leaves them and the old text", () => {
  for (let round = 0; round < 400; round += 1) {
    const baseline = numbered(20);
    let text = agentsEdit(baseline);
    let moved = baseline.join("");
    for (let typed = 0; typed < 4; typed += 1) {
      const after = text.toSpliced(random(text.length + 1), 0, `user ${round} ${typed}\n`);
      moved = followTyping(moved, text.join(""), after.join(""));
      text = after;
    }
    let undone = text.join("");
    for (let [hunk] = hunksBetween(moved, undone); hunk !== undefined; [hunk] = hunksBetween(moved, undone)) {
      undone = undoHunk(undone, hunk);
    }
    const lines = undone.split(/(?<=\n)/);
    expect(lines.filter((line) => !line.startsWith("user"))).toEqual(baseline);
    expect(lines.filter((line) => line.startsWith("user"))).toHaveLength(4);
  }
});

test("a user's change between two hunks leaves the hunks as they were", () => {
  const baseline = numbered(9).join("");
  const present = baseline.replace("line 1", "AGENT 1").replace("line 7", "AGENT 7");
  const typed = present.replace("line 4\n", "mine\nand mine\n");
  const moved = followTyping(baseline, present, typed);
  expect(hunksBetween(moved, typed)).toMatchObject([
    { oldLines: ["line 1\n"], newLines: ["AGENT 1\n"], newStart: 1 },
    { oldLines: ["line 7\n"], newLines: ["AGENT 7\n"], newStart: 8 },
  ]);
});

test("lines that the agent removed and the user puts back are up no more, and are there once", () => {
  const baseline = "a\n\nb\n\nc\n";
  const present = "a\n\nc\nd\n";
  const back = "a\n\nb\n\nc\nd\n";
  const moved = followTyping(baseline, present, back);
  expect(moved).toBe(baseline);
  expect(hunksBetween(moved, back)).toMatchObject([{ oldLines: [], newLines: ["d\n"] }]);
});

test("a file that the agent made and the user added to keeps the user's lines when it is undone", () => {
  const moved = followTyping("", "a\nb\n", "a\nmine\nb\n");
  expect(moved).toBe("mine\n");
});

test("a change of a line that only one text has cannot be carried over, and says so", () => {
  expect(carryChange("a\nB\nc\n", "a\nb\nc\n", "a\nbb\nc\n")).toEqual({ text: "a\nB\nc\n", complete: false });
  expect(carryChange("a\nB\nc\n", "a\nb\nc\n", "a\nb\nC\n")).toEqual({ text: "a\nB\nC\n", complete: true });
});
