import { expect, test } from "vitest";
import { hunksBetween } from "../../../../agent-core/platform/hunks.ts";
import { undoHunk } from "../../../../extension/review/hunks.ts";
import { rebaseHunks } from "../../../../extension/review/rebase-hunks.ts";
import {
  afterEdit,
  afterForeignChange,
  type ReviewedText,
  reviewedText,
  withUndone,
} from "../../../../extension/review/reviewed-text.ts";

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

/** Hunks of a file after the user changed it through these texts since the agent's edit. */
function typed(baseline: string, present: string, ...texts: readonly string[]): ReviewedText {
  return texts.reduce(afterForeignChange, reviewedText({ path: "/a", baseline, present }));
}

/** A change from `before` to `after` taken over into a text that differs from `before`. */
function carried(text: string, before: string, after: string) {
  const { text: moved, isComplete: complete } = rebaseHunks({ text, before, hunks: hunksBetween(text, before) }, after);
  return { text: moved, complete };
}

test("lines that the user puts in anywhere are theirs: undoing every hunk leaves them and the old text", () => {
  for (let round = 0; round < 400; round += 1) {
    const baseline = numbered(20);
    let lines = agentsEdit(baseline);
    let text = typed(baseline.join(""), lines.join(""));
    for (let count = 0; count < 4; count += 1) {
      lines = lines.toSpliced(random(lines.length + 1), 0, `user ${round} ${count}\n`);
      text = afterForeignChange(text, lines.join(""));
    }
    let undone = text.present;
    const moved = text.baseline ?? "";
    for (let [hunk] = hunksBetween(moved, undone); hunk !== undefined; [hunk] = hunksBetween(moved, undone)) {
      undone = undoHunk(undone, hunk);
    }
    const left = undone.split(/(?<=\n)/);
    expect(left.filter((line) => !line.startsWith("user"))).toEqual(baseline);
    expect(left.filter((line) => line.startsWith("user"))).toHaveLength(4);
  }
});

test("a user's change between two hunks leaves the hunks as they were", () => {
  const baseline = numbered(9).join("");
  const present = baseline.replace("line 1", "AGENT 1").replace("line 7", "AGENT 7");
  const { hunks } = typed(baseline, present, present.replace("line 4\n", "mine\nand mine\n"));
  expect(hunks).toMatchObject([
    { oldLines: ["line 1\n"], newLines: ["AGENT 1\n"], newStart: 1 },
    { oldLines: ["line 7\n"], newLines: ["AGENT 7\n"], newStart: 8 },
  ]);
});

test("text that the user types outside hunks is never counted as the agent's", () => {
  const { baseline, hunks } = typed("a\nb\nc\nd\ne\n", "a\nB\nc\nd\ne\n", "top\na\nB\nc\nd\ne\nend\n");
  expect(baseline).toBe("top\na\nb\nc\nd\ne\nend\n");
  expect(hunks).toMatchObject([{ oldLines: ["b\n"], newLines: ["B\n"], newStart: 2 }]);
});

test("text that the user types inside a hunk belongs to it, and undoing it gives the old text", () => {
  const text = typed("a\nb\nc\n", "a\nB\nc\n", "a\nB typed\nc\n");
  expect(text.hunks).toMatchObject([{ oldLines: ["b\n"], newLines: ["B typed\n"] }]);
  expect(withUndone(text, undefined)?.present).toBe("a\nb\nc\n");
});

test("removed lines that the user restores are no longer up for review, and exist once", () => {
  const baseline = "a\n\nb\n\nc\n";
  const text = typed(baseline, "a\n\nc\nd\n", "a\n\nb\n\nc\nd\n");
  expect(text.baseline).toBe(baseline);
  expect(text.hunks).toMatchObject([{ oldLines: [], newLines: ["d\n"] }]);
});

test("a file that the agent made and the user added to keeps the user's lines when it is undone", () => {
  expect(typed("", "a\nb\n", "a\nmine\nb\n").baseline).toBe("mine\n");
});

test("a change of a line that only one text has cannot be carried over, and says so", () => {
  expect(carried("a\nB\nc\n", "a\nb\nc\n", "a\nbb\nc\n")).toEqual({ text: "a\nB\nc\n", complete: false });
  expect(carried("a\nB\nc\n", "a\nb\nc\n", "a\nb\nC\n")).toEqual({ text: "a\nB\nC\n", complete: true });
});

test("a user's line keeps its own place where the file's last line has no line end", () => {
  expect(typed("a", "a\nagent", "a\nmine\nagent").baseline).toBe("a\nmine");
  expect(typed("a\nb", "a\nB", "a\nB\nmine").baseline).toBe("a\nb\nmine");
  expect(typed("a\r\nb", "a\r\nB", "a\r\nB\r\nmine\r\n").baseline).toBe("a\r\nb\r\nmine\r\n");
});

test("a line that is typed key by key stays the user's, also where equal lines make it look like the agent's", () => {
  const agents = "a\na\n\nb\n\nx\nb\n";
  const { baseline } = typed("a\na\n\n\nb\nb\n", agents, `${agents}\n`, `${agents}m\n`, `${agents}mine\n`);
  expect(baseline).toContain("\nmine\n");
});

test("line ends that the editor evens out are no change of a line", () => {
  const { baseline, hunks } = typed("a\r\nb\nc\r\n", "a\r\nB\nc\r\n", "a\r\nB\r\nmine\r\nc\r\n");
  expect(baseline).toBe("a\r\nb\r\nmine\r\nc\r\n");
  expect(hunks).toMatchObject([{ oldLines: ["b\r\n"], newLines: ["B\r\n"] }]);
});

const large = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`);

test.each([
  ["is another file", large.map((line) => `other ${line}`), 1],
  ["is indented at every third line", large.map((line, index) => (index % 3 === 0 ? `  ${line}` : line)), 1],
  ["has lost every eleventh line", large.filter((_, index) => index % 11 !== 0), 1_819],
])(
  "a text of 20,000 lines that %s is compared in seconds, not minutes, and so is each change of it",
  (_, lines, count) => {
    const present = lines.join("");
    const text = reviewedText({ path: "/a", baseline: large.join(""), present });
    expect(text.hunks).toHaveLength(count);
    const changed = lines.toSpliced(9_999, 0, "user\n").join("");
    expect(afterForeignChange(text, changed).present).toBe(changed);
    expect(afterEdit(text, "/a", present, changed).present).toBe(changed);
    expect(withUndone(text, text.hunks[0])?.present.length).toBeGreaterThan(0);
  },
);
