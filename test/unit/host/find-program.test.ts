import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { expect, test } from "vitest";
import { findProgram } from "../../../agent-core/platform/find-program.ts";

const folder = mkdtempSync(join(tmpdir(), "hermes-programs-"));

/** A folder with a program `tool` in it. */
function folderWith(name: string, mode: number): string {
  const made = join(folder, name);
  mkdirSync(made);
  writeFileSync(join(made, "tool"), "#!/bin/sh\n");
  chmodSync(join(made, "tool"), mode);
  return made;
}

const [text, first, second] = [folderWith("text", 0o644), folderWith("first", 0o755), folderWith("second", 0o755)];
const onPath = (...folders: readonly string[]): string => folders.join(delimiter);

test("the look-up finds the first executable file, and no folder of that name", () => {
  mkdirSync(join(folder, "folder", "tool"), { recursive: true });
  expect(findProgram("tool", onPath(join(folder, "nothing"), join(folder, "folder"), text, first, second))).toBe(
    join(first, "tool"),
  );
});

test("the look-up ignores relative folders", () => {
  const here = relative(process.cwd(), first);
  expect(findProgram("tool", onPath(here, ".", "", second))).toBe(join(second, "tool"));
});

test("the look-up finds nothing in empty folders", () => {
  expect(findProgram("no-such-tool", onPath(first, second))).toBeUndefined();
  expect(findProgram("tool", "")).toBeUndefined();
});

test("searches PATH by default", () => {
  expect(findProgram("sh")).toMatch(/^\/.*\/sh$/);
});
