import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { entriesOf, pathBelow, sameFolderAs, statOf } from "../../../agent-core/platform/paths.ts";

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

test("sameFolderAs knows a folder by each path that leads to it, and by none that does not", () => {
  const top = mkdtempSync(join(tmpdir(), "hermes-paths-"));
  for (const name of ["project", "project-2"]) mkdirSync(join(top, name));
  symlinkSync(join(top, "project"), join(top, "link"));
  symlinkSync(top, join(top, "project/up"));
  const paths = ["project", "link", "project/up/link", "project-2", "project/up", "gone"].map((name) =>
    join(top, name),
  );
  expect(paths.map(sameFolderAs(join(top, "link")))).toEqual([true, true, true, false, false, false]);
  expect(["", "/"].map(sameFolderAs(""))).toEqual([true, false]);
});
