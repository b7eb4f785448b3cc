import { expect, test } from "vitest";
import { forkTitle } from "../../../agent-core/sessions/titles.ts";

test.each([
  ["Mend the parser", [], "Mend the parser (2)"],
  ["Mend the parser", ["Mend the parser", "Mend the parser (2)", "Other (7)"], "Mend the parser (3)"],
  ["Mend the parser (2)", ["Mend the parser"], "Mend the parser (3)"],
  ["Look (twice)", [], "Look (twice) (2)"],
])("a fork of %j beside %j is called %j", (title, taken, expected) => {
  expect(forkTitle(title, taken)).toBe(expected);
});

test("a fork of a session without a title has none", () => {
  expect(forkTitle(undefined, [])).toBeUndefined();
});
