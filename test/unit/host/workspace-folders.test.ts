import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { titleInFolders, withMeantPaths } from "../../../agent-core/host/workspace-folders.ts";
import { distinctNames } from "../../../agent-core/platform/names.ts";

test("folders of the same name are told apart by their parents", () => {
  expect(distinctNames(["/w/one/app", "/w/two/app", "/w/lib"])).toEqual(["one/app", "two/app", "lib"]);
  expect(distinctNames(["/a", "/b/a", "C:\\c\\a"])).toEqual(["/a", "b/a", "c/a"]);
});

test("titles show paths as VS Code labels them, and never one name for two folders", () => {
  const title = "Compare /w/one/app/a.ts with /w/two/app/a.ts and /w/lib/a.ts";
  expect(titleInFolders(title, "/w/one/app", ["/w/two/app", "/w/lib"])).toBe(
    "Compare a.ts with two/app/a.ts and lib/a.ts",
  );
  expect(titleInFolders("Read /w/one/app/src/a.ts", "/w/one/app", [])).toBe("Read src/a.ts");
});

test("a path that begins with a folder's name is in that folder, unless two folders have the name", () => {
  const folders = ["/w/two/app", "/w/lib"];
  const pathOf = (path: string) => withMeantPaths({ path }, { cwd: "/w/one/app", otherFolders: folders });
  expect(pathOf("lib/a.ts")).toEqual({ path: "/w/lib/a.ts" });
  expect(pathOf("two/app/a.ts")).toEqual({ path: "/w/two/app/a.ts" });
  expect(pathOf("one/app")).toEqual({ path: "/w/one/app" });
  expect(pathOf("app/a.ts")).toEqual({ path: "app/a.ts" });
});

test.each([
  [
    "a narrow blank of macOS",
    "Screenshot 2026-11-28 at 9.41.12\u202fAM.png",
    "Screenshot 2026-11-28 at 9.41.12 AM.png",
  ],
  ["a blank that does not break", "my\u00a0notes.md", "my notes.md"],
  ["letters in two parts", "Cafe\u0301.txt", "Caf\u00e9.txt"],
  ["typographic quotes", "don\u2019t.txt", "don't.txt"],
  ["a long dash", "a\u2013b.txt", "a-b.txt"],
  ["wide letters", "\uff21\uff22.txt", "AB.txt"],
  ["a letter without width", "a\u200bb.txt", "ab.txt"],
  ["a mark for the look of a picture", "\u2764\ufe0f.txt", "\u2764.txt"],
])("a name with %s is meant by the name that looks the same, in its folder too", (_, real, written) => {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-names-"));
  for (const name of [real, join(`in ${real}`, "x.txt")]) {
    mkdirSync(join(cwd, name, ".."), { recursive: true });
    writeFileSync(join(cwd, name), "");
  }
  const meant = (input: object) => withMeantPaths(input, { cwd });
  expect(meant({ path: written })).toEqual({ path: join(cwd, real) });
  expect(meant({ image: join(cwd, written), question: "?" })).toEqual({ image: join(cwd, real), question: "?" });
  expect(meant({ path: `in ${written}/x.txt` })).toEqual({ path: join(cwd, `in ${real}`, "x.txt") });
  expect(meant({ path: real })).toEqual({ path: real });
  expect(meant({ path: "none.txt" })).toEqual({ path: "none.txt" });
  rmSync(cwd, { recursive: true });
});

test.each([
  ["in quotes", '"src/a b.ts"'],
  ["as a mention", "@src/a b.ts"],
  ["with a line", "src/a b.ts:12"],
  ["with a line and a column", "src/a b.ts:12:3"],
  ["with a line of GitHub", "src/a b.ts#L3-L9"],
  ["with a range of lines", "src/a b.ts:10-20"],
  ["with a place of a compiler", "src/a b.ts(10,5)"],
  ["with a line in words", "src/a b.ts (line 3)"],
  ["as a link of Markdown", "[a b.ts](src/a b.ts)"],
  ["in angle brackets", "<src/a b.ts>"],
  ["in bold letters", "**src/a b.ts**"],
  ["with the prefix of a diff", "b/src/a b.ts"],
  ["escaped for a shell", "src/a\\ b.ts"],
  ["escaped for a link", "src/a%20b.ts"],
  ["as Windows writes it", "src\\a b.ts"],
  ["with blanks around it", " src/a b.ts\n"],
  ["from the root", "/src/a b.ts"],
  ["in quotes, with a line behind", '"src/a b.ts":12'],
  ["in quotes, with a line inside", "`src/a b.ts:12:5`"],
  ["as Windows writes it, with a line", "src\\a b.ts:7"],
  ["as a mention in quotes", '"@src/a b.ts"'],
  ["escaped for a link, with a line of GitHub", "src/a%20b.ts#L12"],
  ["as a relative file address", "file://src/a b.ts"],
  ["as a relative file address, escaped", "file:src/a%20b.ts:3"],
  ["in other letters", "SRC/A B.ts"],
  ["in quotes before a comma", '"src/a b.ts",'],
  ["in backticks before a colon", "`src/a b.ts`:"],
  ["in brackets", "(src/a b.ts)"],
  ["with lines of GitHub in words", "src/a b.ts L12-L20"],
  ["without its blank", "src/ab.ts"],
  ["in other letters, with a line", "Src/a b.TS:4"],
  ["as a link of Markdown with a line", "[a b.ts:3](src/a%20b.ts#L3)"],
])("a path that is written %s is meant", (_, written) => {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-names-"));
  const file = join(cwd, "src", "a b.ts");
  mkdirSync(join(cwd, "src"));
  writeFileSync(file, "");
  expect(withMeantPaths({ path: written }, { cwd })).toEqual({ path: file });
  expect(withMeantPaths({ path: `file://${file.replace(" ", "%20")}` }, { cwd })).toEqual({ path: file });
  const patch = (path: string) => ({ patch: `*** Begin Patch\n*** Update File: ${path}\n*** End Patch` });
  if (!written.endsWith("\n")) expect(withMeantPaths(patch(written), { cwd })).toEqual(patch(file));
  rmSync(cwd, { recursive: true });
});

test.each([
  ["as git quotes it", '"caf\\303\\251/\\346\\227\\245 R&D.md"'],
  ["as git quotes it, without the quotes", "caf\\303\\251/\\346\\227\\245 R&D.md"],
])("a name beyond ASCII is meant that is written %s", (_, written) => {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-names-"));
  mkdirSync(join(cwd, "caf\u00e9"));
  writeFileSync(join(cwd, "caf\u00e9", "日 R&D.md"), "");
  expect(withMeantPaths({ path: written }, { cwd })).toEqual({ path: join(cwd, "caf\u00e9", "日 R&D.md") });
  rmSync(cwd, { recursive: true });
});

test.each([
  ["an escape of XML", "R&amp;D/it&#39;s.md", "R&D/it's.md"],
  ["an address of VS Code", "vscode://file/CWD/src/a%23b.ts:12:5", "src/a#b.ts"],
  ["an address of VS Code Insiders", "vscode-insiders://file/CWD/src/a#b.ts", "src/a#b.ts"],
  ["an address of Zed", "zed://file/CWD/src/a%23b.ts:12", "src/a#b.ts"],
  ["an address of Cursor", "cursor://file/CWD/100%.txt", "100%.txt"],
  ["a file address with a line", "file:///CWD/src/a%23b.ts#L12", "src/a#b.ts"],
  ["a file address with a line behind a colon", "file:///CWD/src/a%23b.ts:12:5", "src/a#b.ts"],
  ["a file address of this machine", "file://localhost/CWD/100%25.txt", "100%.txt"],
  ["other letters", "readme.MD", "README.md"],
])("%s means the file that exists", (_, written, real) => {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-names-"));
  for (const name of ["R&D/it's.md", "src/a#b.ts", "100%.txt", "README.md"]) {
    mkdirSync(join(cwd, name, ".."), { recursive: true });
    writeFileSync(join(cwd, name), "");
  }
  const path = written.replace("/CWD", cwd);
  expect(withMeantPaths({ path }, { cwd })).toEqual({ path: join(cwd, real) });
  rmSync(cwd, { recursive: true });
});

test("a name that exists as it is written is meant, and a new file keeps its own letters", () => {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-names-"));
  for (const name of ["a.ts:12", "a.ts", "R&amp;D", "R&D", "Read.me", "read.ME"]) writeFileSync(join(cwd, name), "");
  for (const path of ["a.ts:12", "R&amp;D", "READ.ME"]) expect(withMeantPaths({ path }, { cwd })).toEqual({ path });
  expect(withMeantPaths({ path: "A.TS" }, { cwd })).toEqual({ path: join(cwd, "a.ts") });
  const write = { path: "A.TS", content: "" };
  expect(withMeantPaths(write, { cwd })).toEqual(write);
  rmSync(cwd, { recursive: true });
});

test("all of /tmp is the folder that commands in the sandbox see there", () => {
  const own = mkdtempSync(join(tmpdir(), "hermes-names-"));
  const places = { cwd: "/w", temporaryFolder: () => own };
  for (const path of ["/tmp", "/tmp/"])
    expect(withMeantPaths({ path, pattern: "x" }, places)).toMatchObject({ path: own });
  expect(withMeantPaths({ path: "/tmp", pattern: "x" }, { cwd: "/w" })).toMatchObject({ path: "/tmp" });
  expect(withMeantPaths({ workdir: "/tmp", command: "ls" }, places)).toMatchObject({ workdir: "/tmp" });
  rmSync(own, { recursive: true });
});

test("neither of two names that look the same is meant", () => {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-names-"));
  for (const name of ["a\u00a0b", "a\u202fb"]) writeFileSync(join(cwd, name), "");
  expect(withMeantPaths({ path: "a b" }, { cwd })).toEqual({ path: "a b" });
  rmSync(cwd, { recursive: true });
});
