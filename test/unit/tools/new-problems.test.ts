import { describe, expect, it } from "vitest";
import type { Problem } from "../../../agent-core/host/host.ts";
import { hunksBetween } from "../../../agent-core/platform/hunks.ts";
import { newProblems } from "../../../agent-core/tools/edit-problems.ts";

const path = "/w/a.ts";

function problem(line: number, message = "bad"): Problem {
  return { line, column: 1, severity: "error", message, source: "ts" };
}

function found(before: readonly Problem[], after: readonly Problem[], oldText: string, newText: string) {
  return newProblems({ path, before, after }, { path, oldText, newText }, hunksBetween).map(
    ({ line, message }) => `${line} ${message}`,
  );
}

const lines = (...some: readonly string[]): string => some.map((line) => `${line}\n`).join("");
const ten = lines(..."abcdefghij");

describe("new problems", () => {
  it("are all of a new file", () => {
    expect(
      newProblems({ path, before: [], after: [problem(1)] }, { path, oldText: null, newText: "x" }, hunksBetween),
    ).toHaveLength(1);
  });

  it("leave out what has only moved down", () => {
    expect(found([problem(5)], [problem(7)], ten, lines("new", "new", ..."abcdefghij"))).toEqual([]);
  });

  it("leave out what has only moved up", () => {
    expect(found([problem(10)], [problem(8)], ten, lines(..."bcdefghj"))).toEqual([]);
  });

  it("name the same words on another line", () => {
    expect(found([problem(2)], [problem(2), problem(6)], ten, lines(..."abcde", "F", ..."ghij"))).toEqual(["6 bad"]);
  });

  it("leave out what a rewritten line had before", () => {
    expect(found([problem(6)], [problem(6)], ten, lines(..."abcde", "F", ..."ghij"))).toEqual([]);
  });

  it("name a second one of the same in rewritten lines", () => {
    const newText = lines(..."abcde", "F", "F", ..."ghij");
    expect(found([problem(6)], [problem(6), problem(7)], ten, newText)).toEqual(["7 bad"]);
  });

  it("are new when they have other words on the same line", () => {
    expect(found([problem(6)], [problem(6, "worse")], ten, lines(..."abcde", "F", ..."ghij"))).toEqual(["6 worse"]);
  });

  it("of a file that was not edited are those that were not there", () => {
    const file = { path, before: [problem(3)], after: [problem(3), problem(4)] };
    expect(newProblems(file, undefined, hunksBetween)).toEqual([problem(4)]);
  });

  it("are found behind two edits far apart", () => {
    const many = Array.from({ length: 400 }, (_, index) => `line ${index}`);
    const edited = ["top", ...many.slice(0, 200), "middle", ...many.slice(200)];
    const before = [problem(100), problem(300)];
    const after = [problem(101), problem(302), problem(303)];
    expect(found(before, after, lines(...many), lines(...edited))).toEqual(["303 bad"]);
  });

  it("are found at the end of a text without a last line break", () => {
    expect(found([problem(1)], [problem(1), problem(2)], "a", "a\nb")).toEqual(["2 bad"]);
  });
});
