import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
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

/** A folder with these files, which the test removes. */
function folderWith(...names: readonly string[]): string {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-names-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  for (const name of names) {
    mkdirSync(join(cwd, name, ".."), { recursive: true });
    writeFileSync(join(cwd, name), "");
  }
  return cwd;
}

/** Calls that create, replace, move or delete a file without a look at its text. */
const blind = (path: string): readonly object[] => [
  { path, content: "" },
  { patch: `*** Add File: ${path}\n+x` },
  { patch: `*** Delete File: ${path}` },
  { patch: `*** Update File: ${path}\n*** Move to: ${path}` },
  { patch: `*** Update File: ${path}\r\n*** Move to: ${path}\r\n-x` },
];
/** Calls that read a file, or whose old text must be in it. */
const seeing = (path: string): readonly object[] => [
  { path },
  { path, old_string: "a", new_string: "b" },
  { patch: `*** Delete File: index.ts\n*** Update File: ${path}\n-a\n+b\n*** Add File: x.ts\n+x` },
];

test.each([
  ["a mention", "@a/index.ts"],
  ["a prefix of a diff before a path of the system", "b/etc/hosts"],
  ["a path of the system without its slash", "etc/hosts"],
  ["a folder with the name of a prefix", "a/index.ts"],
  ["an escape of an escape", "docs/a%2520b.md"],
  ["an escape", "docs/a%20b.md"],
  ["brackets", "(lib/user.ts)"],
  ["a link of Markdown", "[user.ts](lib/user.ts)"],
  ["a line", "lib/user.ts:12"],
  ["a path from the root", "/lib/user.ts"],
  ["other letters", "LIB/User.ts"],
  ["blanks and other letters", "My Notes.md"],
  ["a letter without width", "lib/us\u200ber.ts"],
  ["an escape of XML", "R&amp;D.md"],
  ["slashes of Windows", "lib\\user.ts"],
])("%s names another file for reads and edits, and itself for calls that create, replace or delete", (_, path) => {
  const cwd = folderWith("index.ts", "docs/a b.md", "lib/user.ts", "mynotes.md", "R&D.md");
  for (const input of blind(path)) expect(withMeantPaths(input, { cwd })).toEqual(input);
  const meant = String(Object(withMeantPaths({ path }, { cwd })).path);
  expect([meant === path, isAbsolute(meant) && existsSync(meant)]).toEqual([false, true]);
  expect(seeing(path).map((input) => withMeantPaths(input, { cwd }))).toEqual(seeing(meant));
});

test.each([
  ["a file address with one slash", "file:CWD/new.ts", "CWD/new.ts"],
  ["a file address", "file://CWD/lib/new%20file.ts", "CWD/lib/new file.ts"],
  ["a file address of this machine", "file://localhostCWD/new.ts", "CWD/new.ts"],
  ["an address for an editor", "vscode://fileCWD/new.ts", "CWD/new.ts"],
  ["a relative file address", "file:lib/new%20file.ts", "lib/new file.ts"],
  ["quotes", '"lib/new.ts"', "lib/new.ts"],
  ["backticks", "`~/new.ts`", "~/new.ts"],
  ["an existing file in quotes", '"lib/user.ts"', "CWD/lib/user.ts"],
  ["an existing file by its address", "file:CWD/a%20b.ts", "CWD/a b.ts"],
  ["an address in quotes", '"file://CWD/new.ts"', "CWD/new.ts"],
  ["a folder of the workspace in quotes", '"further/new.ts"', "CWD/further/new.ts"],
  ["a folder of the workspace", "further/lib/user.ts", "CWD/further/lib/user.ts"],
])("%s names the same file for calls that create, replace or delete", (_, written, real) => {
  const root = folderWith("app/lib/user.ts", "app/a b.ts", "app/a%20b.ts", "app/further.ts");
  const cwd = join(root, "app");
  const places = { cwd, otherFolders: [join(cwd, "inner", "further")] };
  const placed = (path: string): string => path.replace("CWD/further", `CWD/inner/further`).replace("CWD", cwd);
  expect(blind(placed(written)).map((input) => withMeantPaths(input, places))).toEqual(blind(placed(real)));
});

test("a line break around a path is no part of the name of a new file", () => {
  const cwd = folderWith();
  expect(withMeantPaths({ path: "\nlib/new.ts\n", content: "" }, { cwd })).toMatchObject({ path: "lib/new.ts" });
});

test("an address is read as the standard says before all other readings", () => {
  const cwd = folderWith("a%20b.ts", "a b.ts", "c%20d.ts");
  const meant = (name: string) => withMeantPaths({ path: `file://${cwd}/${name}` }, { cwd });
  expect(meant("a%20b.ts")).toEqual({ path: join(cwd, "a b.ts") });
  expect(meant("a%20b.ts#L3")).toEqual({ path: join(cwd, "a b.ts") });
  expect(meant("a%2520b.ts:3")).toEqual({ path: join(cwd, "a%20b.ts") });
  expect(meant("c%20d.ts")).toEqual({ path: join(cwd, "c%20d.ts") });
  expect(withMeantPaths({ path: "a%20b.ts" }, { cwd })).toEqual({ path: "a%20b.ts" });
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
