import { describe, expect, test } from "vitest";
import { findingsIn } from "../../../../extension/commands/review-findings.ts";

describe("findings in an answer", () => {
  test("have their place, severity, text and suggestion", () => {
    const answer =
      "Two.\n\n### src/a.ts:3-4 (error)\nWrong.\n\n```suggestion\n  new;\n```\n\n## `b c.ts:1` (note)\nno\n### b.py:7 (note)\nFine `x`.\n";
    expect(findingsIn(answer)).toEqual([
      { place: "src/a.ts:3-4", severity: "error", text: expect.stringContaining("Wrong."), suggestion: "  new;\n" },
      { place: "b.py:7", severity: "note", text: "Fine `x`.", suggestion: undefined },
    ]);
  });

  test.each(["", "### Summary\nGood.", "src/a.ts:3 (error)", "### src/a.ts (error)", "### src/a.ts:3 (fatal)"])(
    "are none in %j",
    (answer) => {
      expect(findingsIn(answer)).toEqual([]);
    },
  );
});
