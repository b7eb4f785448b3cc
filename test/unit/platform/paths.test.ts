import { expect, test } from "vitest";
import { entriesOf, pathBelow, statOf } from "../../../agent-core/platform/paths.ts";

test("pathBelow gives the part of a path below a folder, also of a name that begins with dots", () => {
  expect(pathBelow("/project", "/project/src/a.ts")).toBe("src/a.ts");
  expect(pathBelow("/project", "/project/..notes/a.md")).toBe("..notes/a.md");
  expect(pathBelow("/project", "/project")).toBe("");
  expect(pathBelow("/", "/project")).toBe("project");
});

test("pathBelow knows a path outside a folder", () => {
  for (const path of ["/", "/projects", "/project/../other", "/home"])
    expect(pathBelow("/project", path)).toBeUndefined();
});

test("statOf has no facts about a path that nobody can reach", () => {
  expect(statOf("/dev/null/below")).toBeUndefined();
  expect(entriesOf("/dev/null")).toEqual([]);
});
