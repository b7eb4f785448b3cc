import { expect, test } from "vitest";
import { globMatcher } from "../../../agent-core/host/search-rules.ts";

test.each([
  ["*.(ts|js)", "d/a.js", "d/a.jsx"],
  ["(*.ts|*.js)", "d/a.js", "a.jsx"],
  ["*.ts$", "d/a.ts", "a.tsx"],
  ["\\.ts$", "d/a.ts", "a.tsx"],
  [".*\\.(ts|js)", "d/a.js", "a.jsx"],
  ["foo\\.ts", "d/foo.ts", "d/xfoo.ts"],
])("a glob in the words of an expression is read as one: %s", (glob, selected, other) => {
  const matches = globMatcher(glob, "/w");
  expect([matches(`/w/${selected}`), matches(`/w/${other}`)]).toEqual([true, false]);
});

test.each([".", "./", ""])("the glob %j selects all files", (glob) => {
  expect(globMatcher(glob, "/w")("/w/d/a.ts")).toBe(true);
});
