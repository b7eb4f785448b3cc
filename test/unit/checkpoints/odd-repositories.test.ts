import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gitBlobs } from "../../../agent-core/checkpoints/git-blobs.ts";
import { CheckpointBench } from "../../support/checkpoint-bench.ts";

// Checkpoints where git's objects are not what is on the disk, or git itself fails; and files that changed their place.
let bench: CheckpointBench;

beforeEach(() => {
  bench = new CheckpointBench();
});

afterEach(async () => {
  await bench.dispose();
  expect(bench.defects).toEqual([]);
});

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always", ...args], {
    cwd: bench.path(folder),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });

function commitIn(folder: string): void {
  mkdirSync(bench.path(folder), { recursive: true });
  git(folder, "init", "--quiet");
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--allow-empty", "-m", "first");
}

const LINES = "line\n".repeat(100);

/** A command changes one file and removes another one; the restore brings back the bytes of both. */
async function changeAndRestore(folder: string): Promise<void> {
  const [one, other] = [`${folder}/one.txt`, `${folder}/other.txt`];
  const before = [one, other].map((name) => bench.read(name));
  const turn = bench.turn();
  await bench.run(`echo changed > ${one}; rm ${other}`);
  expect((await bench.restore(turn)).toSorted()).toEqual([`recreate ${other}`, `restore ${one}`]);
  expect([one, other].map((name) => bench.read(name))).toEqual(before);
}

function writePair(folder: string, text = LINES): void {
  for (const name of ["one.txt", "other.txt"]) bench.write(`${folder}/${name}`, `${name}\n${text}`);
}

describe("changes of a command are reverted", () => {
  test("in a work tree of git", async () => {
    writePair("main");
    commitIn("main");
    git("main", "worktree", "add", "--quiet", "../tree");
    await changeAndRestore("tree");
  });

  test("in a submodule", async () => {
    writePair("library");
    commitIn("library");
    commitIn("app");
    git("app", "submodule", "--quiet", "add", "../library", "module");
    await changeAndRestore("app/module");
  });

  test("beside a .git that leads nowhere", async () => {
    writePair("lost");
    bench.write("lost/.git", "gitdir: /nowhere/at/all\n");
    await changeAndRestore("lost");
  });

  test("with core.autocrlf", async () => {
    writePair("work", LINES.replaceAll("\n", "\r\n"));
    mkdirSync(bench.path("work"), { recursive: true });
    git("work", "init", "--quiet");
    git("work", "config", "core.autocrlf", "true");
    commitIn("work");
    await changeAndRestore("work");
  });

  test("with a large file storage whose filter fails", async () => {
    writePair("work");
    commitIn("work");
    bench.write("work/.gitattributes", "*.txt filter=lfs diff=lfs merge=lfs -text\n");
    for (const name of ["clean", "smudge", "process"]) git("work", "config", `filter.lfs.${name}`, "false");
    git("work", "config", "filter.lfs.required", "true");
    await changeAndRestore("work");
  });

  test("with a filter that keeps the size of its files", async () => {
    writePair("work");
    mkdirSync(bench.path("work"), { recursive: true });
    git("work", "init", "--quiet");
    git("work", "config", "filter.upper.clean", "tr a-z A-Z");
    git("work", "config", "filter.upper.smudge", "tr A-Z a-z");
    bench.write("work/.gitattributes", "*.txt filter=upper\n");
    // Git compares only the dates of files that are older than its index.
    for (const name of ["one.txt", "other.txt"]) utimesSync(bench.path(`work/${name}`), 1_700_000_000, 1_700_000_000);
    commitIn("work");
    expect(git("work", "show", "HEAD:one.txt")).toBe(`ONE.TXT\n${LINES.toUpperCase()}`);
    const unchanged = await gitBlobs([bench.path("work")]).unchanged();
    expect([...unchanged.keys()]).toEqual([bench.path("work/.gitattributes")]);
    await changeAndRestore("work");
  });
});

describe("a file in another place", () => {
  test("is left there when the user renamed it after the edit", async () => {
    bench.write("a.txt", "one\n");
    const turn = bench.turn();
    await bench.edit("a.txt", "two\n");
    renameSync(bench.path("a.txt"), bench.path("b.txt"));
    expect(await bench.restore(turn)).toEqual(["a.txt left alone: you deleted or renamed it since"]);
    expect(bench.read("b.txt")).toBe("two\n");
  });

  test("returns to its name after the agent changed only its case", async () => {
    bench.write("readme.md", "one\n");
    const turn = bench.turn();
    await bench.move("readme.md", "README.md");
    await bench.restore(turn);
    expect(bench.read("readme.md")).toBe("one\n");
    expect(() => bench.read("README.md")).toThrow("ENOENT");
  });

  test("is left alone when the user put a file in the place of its folder", async () => {
    bench.write("folder/a.txt", "one\n");
    const turn = bench.turn();
    await bench.edit("folder/a.txt", "two\n");
    await bench.edit("folder/new.txt", "new\n");
    rmSync(bench.path("folder"), { recursive: true });
    bench.write("folder", "mine\n");
    expect(await bench.restore(turn)).toEqual(["folder/a.txt left alone: you deleted or renamed it since"]);
    expect(readFileSync(bench.path("folder"), "utf8")).toBe("mine\n");
  });

  test("returns when a command put a file in the place of its folder", async () => {
    bench.write("folder/a.txt", "one\n");
    const turn = bench.turn();
    await bench.run("rm -r folder; echo two > folder");
    expect((await bench.restore(turn)).toSorted()).toEqual(["recreate folder/a.txt", "remove folder"]);
    expect(bench.read("folder/a.txt")).toBe("one\n");
  });

  test("returns when a command put a folder in its place", async () => {
    bench.write("a", "one\n");
    const turn = bench.turn();
    await bench.run("rm a; mkdir a; echo two > a/b.txt");
    expect(await bench.restore(turn)).toEqual(["remove a/b.txt", "recreate a"]);
    expect(bench.read("a")).toBe("one\n");
  });
});
