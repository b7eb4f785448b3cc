import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CheckpointBench } from "../../support/checkpoint-bench.ts";

let bench: CheckpointBench;

beforeEach(() => {
  bench = new CheckpointBench();
});

afterEach(async () => {
  await bench.dispose();
  expect(bench.defects).toEqual([]);
});

test("files return to their state before a message, and only those changed since", async () => {
  bench.write("a.txt", "one\n");
  bench.write("b.txt", "b\n");
  const first = bench.turn();
  await bench.edit("a.txt", "two\n");
  const second = bench.turn();
  await bench.edit("a.txt", "three\n");
  await bench.edit("b.txt", "B\n");
  expect(await bench.preview(second)).toEqual(["restore a.txt", "restore b.txt"]);
  expect(bench.read("a.txt")).toBe("three\n");
  expect(await bench.restore(second)).toEqual(["restore a.txt", "restore b.txt"]);
  expect([bench.read("a.txt"), bench.read("b.txt")]).toEqual(["two\n", "b\n"]);
  expect(await bench.restore(second)).toEqual([]);
  expect(await bench.restore(first)).toEqual(["restore a.txt"]);
  expect(bench.read("a.txt")).toBe("one\n");
});

test("a restore can be undone, and the undo too", async () => {
  bench.write("a.txt", "one\n");
  const first = bench.turn();
  await bench.edit("a.txt", "two\n");
  await bench.edit("new/deep/c.txt", "c\n");
  await bench.restore(first);
  expect(existsSync(bench.path("new"))).toBe(false);
  expect((await bench.undo()).toSorted()).toEqual(["recreate new/deep/c.txt", "restore a.txt"]);
  expect([bench.read("a.txt"), bench.read("new/deep/c.txt")]).toEqual(["two\n", "c\n"]);
  expect((await bench.undo()).toSorted()).toEqual(["remove new/deep/c.txt", "restore a.txt"]);
  expect(bench.read("a.txt")).toBe("one\n");
  expect(existsSync(bench.path("new"))).toBe(false);
});

test("a file that the user changed since is left alone, and the preview says so", async () => {
  bench.write("a.txt", "one\n");
  const first = bench.turn();
  await bench.edit("a.txt", "two\n");
  await bench.edit("b.txt", "new\n");
  bench.write("a.txt", "two, and mine\n");
  bench.write("b.txt", "new, and mine\n");
  const left = ["a.txt left alone: you changed it since", "b.txt left alone: you changed it since"];
  expect(await bench.preview(first)).toEqual(left);
  expect(await bench.restore(first)).toEqual(left);
  expect([bench.read("a.txt"), bench.read("b.txt")]).toEqual(["two, and mine\n", "new, and mine\n"]);
});

test("the user's lines that touch no change of the agent stay, and the agent's changes around them are reverted", async () => {
  const lines = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join("");
  bench.write("a.txt", lines("one", "2", "3", "four", "5", "6", "7"));
  const first = bench.turn();
  await bench.edit("a.txt", lines("ONE", "2", "3", "four", "5", "6", "7"));
  bench.write("a.txt", lines("ONE", "2", "3", "four", "5", "6", "7", "mine"));
  await bench.edit("a.txt", lines("ONE", "2", "3", "FOUR", "more", "5", "6", "7", "mine"));
  bench.write("a.txt", lines("ONE", "2", "3", "FOUR", "more", "5", "6 mine", "7", "mine"));
  expect(await bench.restore(first)).toEqual(["restore a.txt"]);
  expect(bench.read("a.txt")).toBe(lines("one", "2", "3", "four", "5", "6 mine", "7", "mine"));
  expect(await bench.undo()).toEqual(["restore a.txt"]);
  expect(bench.read("a.txt")).toBe(lines("ONE", "2", "3", "FOUR", "more", "5", "6 mine", "7", "mine"));
});

test("line ends and the byte order mark of a file with lines of the user stay", async () => {
  bench.write("a.txt", "\ufeffone\r\n2\r\n3\r\n");
  const first = bench.turn();
  await bench.edit("a.txt", "ONE\r\n2\r\n3\r\n");
  bench.write("a.txt", "\ufeffONE\r\n2\r\n3\r\nmine\r\n");
  expect(await bench.restore(first)).toEqual(["restore a.txt"]);
  expect(bench.read("a.txt")).toBe("\ufeffone\r\n2\r\n3\r\nmine\r\n");
});

test("the user's change between two edits of the agent is not lost", async () => {
  bench.write("a.txt", "one\n");
  const first = bench.turn();
  await bench.edit("a.txt", "two\n");
  bench.write("a.txt", "two\nmine\n");
  const second = bench.turn();
  await bench.edit("a.txt", "three\nmine\n");
  expect(await bench.restore(first)).toEqual(["a.txt left alone: you changed it between the agent's changes"]);
  expect(await bench.restore(second)).toEqual(["restore a.txt"]);
  expect(bench.read("a.txt")).toBe("two\nmine\n");
});

test("files of others are never removed, nor folders that are not empty", async () => {
  const first = bench.turn();
  await bench.edit("made/a.txt", "a\n");
  bench.write("made/mine.txt", "mine\n");
  bench.write("mine.txt", "mine\n");
  expect(await bench.restore(first)).toEqual(["remove made/a.txt"]);
  expect(readdirSync(bench.path("made"))).toEqual(["mine.txt"]);
  expect(bench.read("mine.txt")).toBe("mine\n");
});

test("bytes come back as they were: CRLF, byte order mark, permissions", async () => {
  bench.write("crlf.sh", "\ufeffone\r\ntwo\r\n");
  chmodSync(bench.path("crlf.sh"), 0o755);
  const before = readFileSync(bench.path("crlf.sh"));
  const first = bench.turn();
  await bench.edit("crlf.sh", "one\nTWO\n");
  await bench.run("chmod 644 crlf.sh && printf 'plain\\n' > crlf.sh");
  expect(await bench.restore(first)).toEqual(["restore crlf.sh"]);
  expect(readFileSync(bench.path("crlf.sh"))).toEqual(before);
  expect(statSync(bench.path("crlf.sh")).mode & 0o777).toBe(0o755);
});

test("a file edited through a link is restored itself, and the link stays", async () => {
  bench.write("real.txt", "one\n");
  symlinkSync("real.txt", bench.path("link.txt"));
  const first = bench.turn();
  await bench.edit("link.txt", "two\n");
  expect(await bench.restore(first)).toEqual(["restore real.txt"]);
  expect(bench.read("real.txt")).toBe("one\n");
  expect(lstatSync(bench.path("link.txt")).isSymbolicLink()).toBe(true);
});

test("changes of commands are reverted: texts, binaries, links", async () => {
  const binary = Buffer.from([0, 1, 2, 255, 254, 0]);
  bench.write("gone.txt", "gone\n");
  bench.write("moved.txt", "moved\n");
  bench.write("image.bin", binary);
  symlinkSync("gone.txt", bench.path("link"));
  const first = bench.turn();
  await bench.run(
    "rm gone.txt link; mv moved.txt away.txt; printf x > image.bin; mkdir -p out/deep; echo o > out/deep/o",
  );
  expect((await bench.restore(first)).toSorted()).toEqual([
    "recreate gone.txt",
    "recreate link",
    "recreate moved.txt",
    "remove away.txt",
    "remove out/deep/o",
    "restore image.bin",
  ]);
  expect([bench.read("gone.txt"), bench.read("moved.txt")]).toEqual(["gone\n", "moved\n"]);
  expect(readFileSync(bench.path("image.bin"))).toEqual(binary);
  expect(readlinkSync(bench.path("link"))).toBe("gone.txt");
  expect(readdirSync(bench.folder).toSorted()).toEqual(["gone.txt", "image.bin", "link", "moved.txt"]);
});

test("the user's change before a command is not the command's", async () => {
  bench.write("a.txt", "one\n");
  bench.write("b.txt", "b\n");
  bench.turn();
  await bench.run("touch a.txt");
  bench.write("a.txt", "mine\n");
  const second = bench.turn();
  await bench.run("echo more >> b.txt; cat a.txt > copy.txt");
  expect(await bench.restore(second)).toEqual(["restore b.txt", "remove copy.txt"]);
  expect([bench.read("a.txt"), bench.read("b.txt")]).toEqual(["mine\n", "b\n"]);
});

test("changes of simultaneous commands are distinguished from earlier ones", async () => {
  bench.write("a.txt", "a\n");
  bench.write("b.txt", "b\n");
  const first = bench.turn();
  await Promise.all([bench.run("echo 1 >> a.txt; sleep 0.2; echo 2 >> a.txt"), bench.run("echo 1 >> b.txt")]);
  expect((await bench.restore(first)).toSorted()).toEqual(["restore a.txt", "restore b.txt"]);
  expect([bench.read("a.txt"), bench.read("b.txt")]).toEqual(["a\n", "b\n"]);
});

const UNTIL_GO = "for _ in $(seq 500); do [ -e go ] && break; sleep 0.02; done; rm go";

test("an edit while a command runs is logged as the edit's alone, and the command's change of that file as the command's", async () => {
  bench.write("a.txt", "a\n");
  bench.write("c.txt", "c\n");
  const first = bench.turn();
  const command = bench.run(`echo b > b.txt; ${UNTIL_GO}; echo more >> a.txt`, "command");
  await expect.poll(() => existsSync(bench.path("b.txt")) && bench.read("b.txt")).toBe("b\n");
  await bench.edit("a.txt", "edited\n", "edit");
  await bench.edit("c.txt", "C\n", "edit");
  await bench.edit("new.txt", "new\n", "edit");
  await bench.remove("c.txt", "edit");
  bench.write("go", "");
  await command;
  await expect
    .poll(() => bench.changes.toSorted())
    .toEqual(["command: a.txt", "command: b.txt", "edit: a.txt", "edit: c.txt", "edit: c.txt", "edit: new.txt"]);
  expect(bench.read("a.txt")).toBe("edited\nmore\n");
  await bench.restore(first);
  expect([bench.read("a.txt"), bench.read("c.txt")]).toEqual(["a\n", "c\n"]);
  expect([existsSync(bench.path("b.txt")), existsSync(bench.path("new.txt"))]).toEqual([false, false]);
});

test("a change belongs to the commands that ran since the last scan, or to the one that owns the file", async () => {
  bench.turn();
  const slow = bench.run(`echo 1 > before.txt; ${UNTIL_GO}; echo 1 > after.txt`, "slow", ["slow.txt"]);
  await expect.poll(() => existsSync(bench.path("before.txt")) && bench.read("before.txt")).toBe("1\n");
  await bench.run("echo 1 > during.txt; echo 1 > own.txt; echo 1 > slow.txt", "quick", ["own.txt"]);
  bench.write("go", "");
  await slow;
  await expect
    .poll(() => bench.changes.toSorted())
    .toEqual(["quick: own.txt", "slow or quick: during.txt", "slow: after.txt", "slow: before.txt", "slow: slow.txt"]);
});

test("read-only commands and what a build writes into ignored folders are not watched", async () => {
  bench.write(".gitignore", "out/\n");
  bench.write("out/a.o", "1");
  bench.write("out/old.o", "1");
  const first = bench.turn();
  await bench.run("cat .gitignore");
  await bench.run("echo 2 > out/a.o; rm out/old.o; echo 2 > out/new.o");
  expect(await bench.preview(first)).toEqual([]);
});

test("a workspace that a program deleted is back whole, with its ignored files", async () => {
  bench.write(".gitignore", "*.db\ndata/\n");
  for (const name of ["a.txt", "src/b.txt", "dev.db", "data/deep/c.bin"]) bench.write(name, `${name}\n`);
  const first = bench.turn();
  await bench.run("find . -mindepth 1 -delete");
  expect((await bench.restore(first)).toSorted()).toEqual([
    "recreate .gitignore",
    "recreate a.txt",
    "recreate data/deep/c.bin",
    "recreate dev.db",
    "recreate src/b.txt",
  ]);
  expect(bench.read("data/deep/c.bin")).toBe("data/deep/c.bin\n");
});

test("a folder in the place of a file is left alone", async () => {
  bench.write("a.txt", "one\n");
  const first = bench.turn();
  await bench.edit("a.txt", "two\n");
  rmSync(bench.path("a.txt"));
  mkdirSync(bench.path("a.txt"));
  expect(await bench.restore(first)).toEqual(["a.txt left alone: the path is no longer a file"]);
});

test("a file comes back also when a restore was killed before it removed the folder in its place", async () => {
  bench.write("a", "one\n");
  const first = bench.turn();
  await bench.run("rm a; mkdir a; echo in > a/in");
  rmSync(bench.path("a/in"));
  expect(await bench.restore(first)).toEqual(["recreate a"]);
  expect(bench.read("a")).toBe("one\n");
});

test("a missing or damaged copy is reported", async () => {
  bench.write("a.txt", "one\n");
  const first = bench.turn();
  await bench.edit("a.txt", "two\n");
  rmSync(bench.objects, { recursive: true });
  expect(await bench.restore(first)).toEqual(["a.txt left alone: the copy of its earlier content is gone"]);
  expect(bench.read("a.txt")).toBe("two\n");
});

test("the session's next process knows the changes, and an interrupted restore", async () => {
  bench.write("a.txt", "one\n");
  bench.write("b.txt", "b\n");
  const first = bench.turn();
  await bench.edit("a.txt", "two\n");
  await bench.edit("b.txt", "B\n");
  await bench.restore(first);
  // As a crash in the middle leaves it: one file written and noted, no end.
  bench.journal.splice(-2);
  bench.write("b.txt", "B\n");
  await bench.reopen();
  expect(bench.checkpoints.interrupted).toEqual({ position: first });
  expect(await bench.restore(first)).toEqual(["restore b.txt"]);
  await bench.reopen();
  expect(bench.checkpoints.interrupted).toBeUndefined();
  expect([bench.read("a.txt"), bench.read("b.txt")]).toEqual(["one\n", "b\n"]);
});

test("each content is kept once, readable by its owner only", async () => {
  const text = "the same line over and over\n".repeat(200);
  bench.write("a.txt", text);
  bench.write("b.txt", text);
  bench.turn();
  await bench.edit("a.txt", "a\n");
  await bench.edit("b.txt", "b\n");
  const objects = readdirSync(bench.objects, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)));
  expect(objects.filter(({ mode }) => (mode & 0o777) !== 0o600)).toEqual([]);
  expect(objects.length).toBeLessThanOrEqual(3);
  expect(Math.max(...objects.map(({ size }) => size))).toBeLessThan(text.length / 10);
});

test("a file that the user saves while a command runs is theirs", async () => {
  bench.write("a.txt", "a\n");
  bench.write("b.txt", "b\n");
  const first = bench.turn();
  const running = bench.run("echo more >> b.txt; while [ ! -e go ]; do sleep 0.05; done; rm go");
  await expect.poll(() => bench.read("b.txt")).toContain("more");
  bench.write("a.txt", "mine\n");
  bench.checkpoints.userSaved(bench.path("a.txt"));
  bench.write("go", "");
  await running;
  expect(await bench.restore(first)).toEqual(["restore b.txt"]);
  expect(bench.read("a.txt")).toBe("mine\n");
});

test("with git, unchanged files need no copies: git's objects are read, and git is left as it is", async () => {
  const lines = "line\n".repeat(100);
  for (const name of ["a.txt", "b.txt", "changed.txt"]) bench.write(name, `${name}\n${lines}`);
  const git = (...args: string[]) => execFileSync("git", ["-C", bench.folder, ...args], { encoding: "utf8" });
  git("init", "--quiet");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "first");
  bench.write("changed.txt", "changed\n");
  bench.write("untracked.txt", "untracked\n");
  const state = (): string[] => [git("status", "--porcelain"), git("rev-parse", "HEAD"), git("count-objects")];
  const before = state();
  const index = statSync(bench.path(".git/index")).mtimeMs;
  const first = bench.turn();
  await bench.run("rm a.txt untracked.txt; echo x > changed.txt; echo y >> b.txt");
  expect(statSync(bench.path(".git/index")).mtimeMs).toBe(index);
  expect(await bench.restore(first)).toHaveLength(4);
  expect([bench.read("changed.txt"), bench.read("untracked.txt")]).toEqual(["changed\n", "untracked\n"]);
  expect([bench.read("a.txt"), bench.read("b.txt")]).toEqual([`a.txt\n${lines}`, `b.txt\n${lines}`]);
  expect(state()).toEqual(before);
});

test("a workspace behind a link knows each file by one name", async () => {
  const link = `${bench.folder}-link`;
  symlinkSync(bench.folder, link);
  const behind = new CheckpointBench({ roots: [link], objects: bench.objects }, link);
  behind.write("a.txt", "one\n");
  const first = behind.turn();
  await behind.edit("a.txt", "two\n");
  await behind.run("echo three >> a.txt");
  expect(await behind.restore(first)).toEqual(["restore a.txt"]);
  expect(bench.read("a.txt")).toBe("one\n");
  await behind.dispose();
});

test("files of several folders are restored together", async () => {
  const other = new CheckpointBench();
  const both = new CheckpointBench({ roots: [bench.folder, other.folder], objects: bench.objects }, bench.folder);
  bench.write("a.txt", "one\n");
  other.write("b.txt", "b\n");
  const first = both.turn();
  await both.edit("a.txt", "two\n");
  await both.run(`rm ${other.path("b.txt")}`);
  expect(await both.restore(first)).toHaveLength(2);
  expect([bench.read("a.txt"), other.read("b.txt")]).toEqual(["one\n", "b\n"]);
  await both.dispose();
  await other.dispose();
});

test("a workspace with too many files is not watched, which is reported once; edits are still copied", async () => {
  for (let at = 0; at < 30; at += 1) bench.write(`${at}.txt`, "x");
  const small = new CheckpointBench({ maxFiles: 20, objects: bench.objects }, bench.folder);
  const first = small.turn();
  await small.run("rm 1.txt");
  await small.run("rm 2.txt");
  await small.edit("3.txt", "y");
  expect(small.told).toEqual([expect.stringContaining("too large to watch")]);
  expect(await small.restore(first)).toEqual(["restore 3.txt"]);
  await small.dispose();
});

test("files that a tool removes and moves are restored", async () => {
  bench.write("gone.txt", "gone\n");
  bench.write("moved.txt", "moved\n");
  symlinkSync("moved.txt", bench.path("link.txt"));
  const first = bench.turn();
  await bench.remove("gone.txt");
  await bench.remove("link.txt");
  await bench.move("moved.txt", "to/there.txt");
  await bench.edit("to/there.txt", "moved and changed\n");
  expect((await bench.restore(first)).toSorted()).toEqual([
    "recreate gone.txt",
    "recreate link.txt",
    "recreate moved.txt",
    "remove to/there.txt",
  ]);
  expect([bench.read("gone.txt"), bench.read("moved.txt"), readlinkSync(bench.path("link.txt"))]).toEqual([
    "gone\n",
    "moved\n",
    "moved.txt",
  ]);
  expect(existsSync(bench.path("to"))).toBe(false);
});
