import { execFileSync, spawnSync } from "node:child_process";
import { createCipheriv } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CheckpointBench } from "../../support/checkpoint-bench.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { hasSandbox } from "../../support/programs.ts";

let bench: CheckpointBench;

beforeEach(() => {
  bench = new CheckpointBench({ clock: new ManualClock() }); // everything waits for copies
});

afterEach(() => bench.dispose());

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
    cwd: bench.folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });

function commit(...options: readonly string[]): void {
  git("init", "--quiet", ...options);
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "-m", "one");
}

describe("a limit is said once, in the result of its command, and by the preview: it", () => {
  test("names a file that is too large to copy", async () => {
    bench.write("big.bin", Buffer.alloc(1_500_000, 1));
    const first = bench.turn();
    const [sentence] = await bench.run("echo x > big.bin");
    expect(sentence).toContain(`${bench.path("big.bin")} (it was too large to copy (over 1 MB))`);
    expect(bench.told).toEqual([sentence]);
    expect(await bench.run("echo y > small")).toEqual([]);
    expect(await bench.preview(first)).toContain("big.bin left alone: it was too large to copy (over 1 MB)");
  });

  test("does not concern what a command beside another saw in the middle of a change", async () => {
    const first = bench.turn();
    bench.write("a.txt", "small");
    await bench.run("true");
    const lines = await Promise.all([
      bench.run("head -c 1500000 /dev/zero > a.txt; until [ -e seen ]; do :; done; echo end > a.txt", "one"),
      bench
        .run("until [ -s a.txt ] && [ $(wc -c < a.txt) -eq 1500000 ]; do :; done", "two")
        .then(async (said) => [...said, ...(await bench.run("touch seen", "three"))]),
    ]);
    expect(lines.flat()).toEqual([]);
    expect(await bench.restore(first)).toEqual(["restore a.txt", "remove seen"]);
  });

  test("does not concern a large file that git has", async () => {
    bench.write("big.bin", Buffer.alloc(1_500_000, 1));
    commit();
    const first = bench.turn();
    expect(await bench.run("rm big.bin")).toEqual([]);
    expect(await bench.restore(first)).toEqual(["recreate big.bin"]);
  });

  test("names ignored files that a command deleted, also for the next process", async () => {
    bench.write(".gitignore", "*.db\nnode_modules/\n");
    bench.write("dev.db", Buffer.alloc(6_000_000, 1));
    bench.write("node_modules/a/index.js", "a");
    const first = bench.turn();
    const lines = await bench.run("rm -r dev.db node_modules");
    expect(lines).toEqual([
      expect.stringMatching(/cannot revert .*dev\.db \(it was too large to copy \(over 5 MB\)\)/),
      expect.stringMatching(/deleted ignored files, .*node_modules\.$/),
    ]);
    await bench.reopen();
    expect(await bench.preview(first)).toEqual([expect.stringContaining("dev.db left alone")]);
    expect(bench.checkpoints.limitsSince(first, true)).toEqual([lines[1]]);
  });

  test("is about every program in the background", async () => {
    const first = bench.turn();
    expect(await bench.run("echo x > a.txt", "call", [], true)).toEqual([expect.stringContaining("background")]);
    expect(await bench.run("echo x > b.txt", "call", [], true)).toEqual([]);
    expect(bench.checkpoints.limitsSince(first, false)).toEqual([expect.stringContaining("background")]);
  });

  test("is about every command in a workspace with too many files", async () => {
    for (let at = 0; at < 30; at += 1) bench.write(`${at}.txt`, "x");
    const small = new CheckpointBench({ maxFiles: 20, clock: new ManualClock(), objects: bench.objects }, bench.folder);
    const first = small.turn();
    expect(await small.run("rm 1.txt")).toEqual([expect.stringContaining("too large to watch")]);
    expect(small.checkpoints.limitsSince(first, true)).toEqual([expect.stringContaining("too large to watch")]);
    await small.dispose();
  });

  test("is about file names that are not UTF-8", async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${bench.folder}/caf`), Buffer.of(0xe9)]), "x");
    bench.turn();
    expect(await bench.run("echo x > a.txt")).toEqual([expect.stringContaining("names are not UTF-8")]);
  });
});

test("a command with nothing to restore still has a preview that says what is not recorded", async () => {
  const first = bench.turn();
  await bench.run("true");
  expect(bench.checkpoints.limitsSince(first, true)).toEqual([expect.stringContaining("ignored files")]);
  expect(bench.checkpoints.limitsSince(bench.turn(), true)).toEqual([]);
});

test("a file that new ignore rules uncover is not taken for a new one", async () => {
  bench.write(".gitignore", "secret.env\nkept/\n");
  for (const name of ["secret.env", "kept/a"]) bench.write(name, "mine");
  const first = bench.turn();
  await bench.run("rm .gitignore; echo more >> secret.env");
  expect((await bench.restore(first)).toSorted()).toEqual(["recreate .gitignore", "restore secret.env"]);
});

describe("without room for copies a command still runs, and its files are named:", () => {
  test("all of them in a home that cannot be written", async () => {
    bench.write("a.txt", "one");
    writeFileSync(bench.path("home"), "a file");
    const homeless = new CheckpointBench(
      { clock: new ManualClock(), objects: bench.path("home/objects") },
      bench.folder,
    );
    const first = homeless.turn();
    const sentences = await homeless.checkpoints
      .hostFor("x")
      .terminals.watched?.(async () => bench.write("a.txt", "two"));
    expect(sentences).toBeUndefined();
    expect(homeless.told[0]).toContain("cannot be stored in");
    expect(await homeless.restore(first)).toEqual(["a.txt left alone: its earlier content could not be stored"]);
    expect(bench.read("a.txt")).toBe("two");
    await homeless.dispose();
  });

  test.runIf(hasSandbox())(
    "those after a real disk filled up in the middle of the copies; those of git are restored",
    () => {
      const names = Array.from({ length: 40 }, (_, at) => `${at}.bin`);
      const contentOf = (name: string) => randomBytesOf(name, 100_000);
      for (const name of names.slice(0, 10)) bench.write(name, contentOf(name));
      commit();
      for (const name of names) bench.write(name, contentOf(name));
      const state = mkdtempSync(join(tmpdir(), "hermes-small-disk-"));
      const disk = ["--dev-bind", "/", "/", "--size", "1500000", "--tmpfs", join(state, "objects")];
      mkdirSync(join(state, "objects"));
      const steps = ["run", "true", "run", "rm *.bin; echo new > new.txt", "restore", "0"];
      const args = [...disk, process.execPath, "test/support/checkpoint-process.ts", bench.folder, state, ...steps];
      const { stdout, stderr } = spawnSync("bwrap", args, { encoding: "utf8", env: { ...process.env, ENDS: "1" } });
      rmSync(state, { recursive: true });
      expect(stderr).toBe("");
      const lacking = /(\d+\.bin) left alone: its earlier content could not be stored/g;
      const lost = [...stdout.matchAll(lacking)].map(([, name]) => name);
      const restored = readdirSync(bench.folder).filter((name) => name !== ".git");
      expect([...restored, ...lost].toSorted()).toEqual(names.toSorted());
      expect(restored).toEqual(expect.arrayContaining(names.slice(0, 10)));
      for (const name of restored) expect(readFileSync(bench.path(name)).equals(contentOf(name)), name).toBe(true);
      for (const some of [lost, restored.slice(10)]) expect(some.length).toBeGreaterThan(0);
    },
  );
});

test.runIf(hasSandbox())(
  "a restore onto a full disk leaves each file whole or out, names those, and can be repeated",
  () => {
    const disk = mkdtempSync(join(tmpdir(), "hermes-full-disk-"));
    const state = mkdtempSync(join(tmpdir(), "hermes-full-state-"));
    const make = "for i in 0 1 2 3 4 5 6 7 8 9; do head -c 100000 /dev/zero | tr '\\0' $i > $i.txt; done";
    const spoil = "rm *.txt; for i in 7 8 9; do echo short > $i.txt; done; head -c 900000 /dev/zero > ../filler";
    const wholeness = 'for f in *; do echo "$f=$(head -c 1 $f)$(wc -c < $f)"; done; ls -A | grep hermes || true';
    const steps = [make, spoil].flatMap((command) => ["run", command]);
    const again = ["restore", "3", "run", `(${wholeness}) > ${state}/first`, "run", "rm ../filler", "restore", "3"];
    const args = ["--dev-bind", "/", "/", "--size", "1300000", "--tmpfs", disk, "--dir", join(disk, "w")];
    const script = [process.execPath, "test/support/checkpoint-process.ts", join(disk, "w"), state];
    const last = ["run", `(${wholeness}) > ${state}/last`];
    const { stdout, stderr } = spawnSync("bwrap", [...args, ...script, ...steps, ...again, ...last], {
      encoding: "utf8",
      env: { ...process.env, ENDS: "1" },
    });
    expect(stderr).toBe("");
    const [first, final] = ["first", "last"].map((name) => readFileSync(join(state, name), "utf8").trim().split("\n"));
    const whole = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => `${at}.txt=${at}100000`);
    const isWhole = (line: string): boolean => whole.includes(line) || /^[789]\.txt=s6$/.test(line);
    expect(first?.filter((line) => !isWhole(line))).toEqual([]);
    const missing = 10 - (first?.filter((line) => whole.includes(line)).length ?? 0);
    expect(missing).toBeGreaterThan(0);
    expect(stdout.match(/left alone: it could not be written/g)?.length).toBe(missing);
    expect(final).toEqual(whole);
    for (const folder of [disk, state]) rmSync(folder, { recursive: true });
  },
);

/** Bytes that no compression shortens, the same ones for the same name. */
function randomBytesOf(name: string, length: number): Buffer {
  return createCipheriv("aes-128-ctr", Buffer.alloc(16, name), Buffer.alloc(16)).update(Buffer.alloc(length));
}

describe("a restore gives what was in the work tree, not what git stores:", () => {
  test("in a repository with SHA-256 ids, odd names, links and programs", async () => {
    const names = ["a\nb.txt", 'quo"te', "ünï.txt", "-dash"];
    for (const name of names) bench.write(name, `${name}\n`.repeat(50));
    commit("--object-format=sha256");
    const first = bench.turn();
    await bench.run('for f in *; do chmod 755 ./$f 2>/dev/null; rm -f -- "$f"; done');
    expect(await bench.restore(first)).toHaveLength(names.length);
    expect(names.map((name) => bench.read(name))).toEqual(names.map((name) => `${name}\n`.repeat(50)));
  });

  test("with another encoding of the same size, and a file that git is told to assume unchanged", async () => {
    const bytes = Buffer.from("a7d5a7d1a7da", "hex"); // three letters of EUC-JP, two bytes each, as in UTF-8
    bench.write(".gitattributes", "*.jp working-tree-encoding=EUC-JP\n");
    bench.write("text.jp", bytes);
    bench.write("local.conf", "port=1\n");
    commit();
    git("update-index", "--assume-unchanged", "local.conf");
    bench.write("local.conf", "port=2\n");
    const first = bench.turn();
    await bench.run("true");
    await bench.run("rm text.jp local.conf");
    await bench.restore(first);
    expect([bench.read("local.conf"), Buffer.from(bench.read("text.jp"))]).toEqual([
      "port=2\n",
      Buffer.from(bytes.toString()),
    ]);
  });

  test("after the history was rewritten and git removed its objects", async () => {
    for (let at = 0; at < 300; at += 1) bench.write(`d/${at}.txt`, `${at}\n`.repeat(100));
    commit();
    const first = bench.turn();
    await bench.run("rm -r d");
    await bench.run("git add -A; git -c user.name=a -c user.email=a@b commit -q --amend --allow-empty -m x");
    await bench.run("git reflog expire --expire=now --all; git gc -q --prune=now");
    expect((await bench.restore(first)).filter((line) => !line.startsWith("recreate"))).toEqual([]);
    expect(bench.read("d/299.txt")).toBe("299\n".repeat(100));
  });
});
