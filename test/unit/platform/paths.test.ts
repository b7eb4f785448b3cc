import { expect, test } from "vitest";
import { entriesOf, pathBelow, statOf } from "../../../agent-core/platform/paths.ts";

test("gives the part of a path below a folder, also of a name that begins with dots", () => {
  expect(pathBelow("/work", "/work/src/a.ts")).toBe("src/a.ts");
  expect(pathBelow("/work", "/work/..notes/a.md")).toBe("..notes/a.md");
  expect(pathBelow("/work", "/work")).toBe("");
  expect(pathBelow("/", "/work")).toBe("work");
});

test("knows a path outside a folder", () => {
  for (const path of ["/", "/workshop", "/work/../other", "/home"]) expect(pathBelow("/work", path)).toBeUndefined();
});

test("has no facts about a path that nobody can reach", () => {
  expect(statOf("/dev/null/below")).toBeUndefined();
  expect(entriesOf("/dev/null")).toEqual([]);
});
