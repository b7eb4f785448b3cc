import { expect, test } from "vitest";
import { withMergedImports } from "../../../scripts/merge-chunks.ts";

test("an import from a merged chunk keeps its local name, whatever letters a minifier chose", () => {
  const names = new Map([["chunk-A.js", "m0"]]);
  const imported = (list: string): string => withMergedImports(`import{${list}}from"./chunk-A.js";`, names);
  expect(imported("a")).toBe('import{m0_a as a}from"./core.js";');
  expect(imported("$")).toBe('import{m0_$ as $}from"./core.js";');
  expect(imported("b as $a,c")).toBe('import{m0_b as $a,m0_c as c}from"./core.js";');
  expect(withMergedImports('import"./chunk-A.js";', names)).toBe('import"./core.js";');
  expect(withMergedImports('import{a}from"./chunk-B.js";', names)).toBe('import{a}from"./chunk-B.js";');
});
