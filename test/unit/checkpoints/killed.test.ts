import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { CheckpointBench } from "../../support/checkpoint-bench.ts";
import { openSession } from "../../support/checkpoint-process.ts";
import { processesIn } from "../../support/processes.ts";
import { sweep } from "../../support/scale.ts";
import { seeded } from "../approval/support/random.ts";

const PROGRAM = join(import.meta.dirname, "../../support/checkpoint-process.ts");
const FILES = sweep(400, 40);
const timeout = sweep(3_600_000, 60_000);

/** A workspace, and the state of a session in it. */
class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-killed-")));
  readonly folder = join(this.root, "work");
  readonly state = join(this.root, "state");
  readonly #kept = mkdtempSync(join(tmpdir(), "hermes-kept-"));

  /** Runs steps in a process of its own, and kills it `afterMs` after the begin of the last step, or at its end. */
  async run(steps: readonly string[], afterMs?: number): Promise<number> {
    const child = spawn(process.execPath, [PROGRAM, this.folder, this.state, ...steps], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    let start = 0;
    for (let at = 0; at < steps.length; at += 2) {
      expect((await lines.next()).value).toBe("begin");
      start = performance.now();
      if (afterMs === undefined || at + 2 < steps.length) expect((await lines.next()).value).toBe("end");
      else await Promise.race([delay(afterMs), lines.next()]);
    }
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    const took = performance.now() - start;
    await vi.waitUntil(() => processesIn(this.folder).length === 0, 10_000); // the command outlives its agent
    return took;
  }

  /** Contents of all files but git's, by path. */
  files(): ReadonlyMap<string, string> {
    const entries = readdirSync(this.folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
    return new Map(
      files.toSorted().flatMap((path) => {
        const name = relative(this.folder, path);
        // Node lists the files behind a link, too, which are in two states while a restore runs.
        return /^(?:\.git|link)\//.test(name) ? [] : [[name, contentOf(path)]];
      }),
    );
  }

  git(...args: readonly string[]): string {
    const user = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
    return execFileSync("git", ["-C", this.folder, ...user, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  }

  /** Keeps the workspace and the state as they are now, under a name. */
  keep(name: string): void {
    cpSync(this.root, join(this.#kept, name), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }

  /** Returns to what was kept. */
  reset(name: string): void {
    rmSync(this.root, { recursive: true });
    cpSync(join(this.#kept, name), this.root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }

  remove(): void {
    for (const folder of [this.root, this.#kept]) rmSync(folder, { recursive: true, force: true });
  }

  /** Does something with the session in this process. */
  async session<Result>(work: (bench: CheckpointBench) => Promise<Result>): Promise<Result> {
    const { bench, close } = await openSession(this.folder, this.state);
    try {
      return await work(bench);
    } finally {
      await close();
    }
  }
}

/** Content with kind and permissions. */
function contentOf(path: string): string {
  const { mode } = lstatSync(path);
  return lstatSync(path).isSymbolicLink()
    ? `link ${readlinkSync(path)}`
    : `${mode.toString(8)} ${readFileSync(path, "latin1")}`;
}

const place = new Place();

afterAll(() => place.remove());

/** Files that git has (also binary ones, links and programs) and untracked ones. */
function fill(): void {
  mkdirSync(place.folder);
  for (let at = 0; at < FILES; at += 1) {
    const folder = join(place.folder, `d${at % 5}`);
    mkdirSync(folder, { recursive: true });
    const path = join(folder, at % 3 === 0 ? `line\n"quote" ${at}.bin` : `${at}.ts`);
    writeFileSync(path, at % 3 === 0 ? Buffer.from([0, 255, at, 10]) : `const a = ${at};\n`.repeat(500));
    if (at % 4 === 0) chmodSync(path, 0o755);
  }
  symlinkSync("d1", join(place.folder, "link"));
  place.git("init", "--quiet");
  place.git("add", ".");
  place.git("commit", "--quiet", "-m", "one");
  for (let at = 0; at < 5; at += 1) writeFileSync(join(place.folder, `untracked-${at}.txt`), `${at}\n`);
}

/** Changes, removes and adds files, and a folder takes the place of a file. */
const COMMAND = `for f in $(ls d0/*.ts d1/*.ts); do echo new >> $f; chmod 640 $f; done; rm -r d2 link; ln -s d3 link
for f in d3/*; do printf 'changed' > "$f"; done; mkdir -p new/deep; echo new > new/deep/file; rm untracked-*; mkdir untracked-1.txt
echo in > untracked-1.txt/in; echo x > d4/4.ts; echo x > d4/19.ts`;

describe("after the agent was killed", () => {
  let before: ReadonlyMap<string, string>;
  let after: ReadonlyMap<string, string>;
  let commandMs = 0;
  let restoreMs = 0;

  beforeAll(async () => {
    fill();
    before = place.files();
    place.keep("clean");
    commandMs = await place.run(["run", "true", "run", COMMAND]);
    after = place.files();
    place.keep("changed");
    restoreMs = await place.run(["restore", "0"]);
  });

  test("in or after a command, a restore reverts each change, or says what it lacks", { timeout }, async () => {
    const random = seeded(3);
    for (let point = 0; point < sweep(60, 2); point += 1) {
      place.reset("clean");
      await place.run(["run", "true", "run", COMMAND], random.below(Math.ceil(commandMs)));
      const { limits, named } = await place.session(async (bench) => {
        const lines = await bench.restore(0);
        const named = lines.flatMap((line) => (/ left alone: /.test(line) ? line.split(" left alone: ")[0] : []));
        return { limits: bench.checkpoints.limitsSince(0, false), named };
      });
      const now = place.files();
      const different = [...new Set([...before.keys(), ...now.keys()])].filter(
        (name) => before.get(name) !== now.get(name),
      );
      different.sort();
      if (!limits.join().includes("before it logged the changes")) expect(named.toSorted()).toEqual(different);
    }
  });

  test("contents that are not copied yet come from git, and those that git has lost are named", async () => {
    place.reset("changed");
    const journal = join(place.state, "session.jsonl");
    const lines = readFileSync(journal, "utf8").split("\n");
    writeFileSync(journal, lines.filter((line) => !line.includes('"git-copies"')).join("\n"));
    rmSync(join(place.state, "objects"), { recursive: true });
    const left = async (bench: CheckpointBench): Promise<readonly string[]> =>
      (await bench.preview(0)).flatMap((line) =>
        line.includes(" left alone: ") ? (line.split(" left ")[0] ?? []) : [],
      );
    const uncopied = [0, 1, 2, 3, 4].map((at) => `untracked-${at}.txt`);
    expect((await place.session(left)).toSorted()).toEqual(["link", ...uncopied]);
    rmSync(join(place.state, "objects"), { recursive: true });
    writeFileSync(journal, lines.filter((line) => !line.includes('"git-copies"')).join("\n"));
    rmSync(join(place.folder, ".git"), { recursive: true });
    expect((await place.session(left)).length).toBeGreaterThan(FILES / 2);
  });

  test("in a restore, the restore can be repeated or undone, and every file is whole", { timeout }, async () => {
    const random = seeded(7);
    const mine = "d4/4.ts";
    for (let point = 0; point < sweep(100, 6); point += 1) {
      place.reset("changed");
      writeFileSync(join(place.folder, mine), "mine\n");
      const expected = {
        before: new Map(before).set(mine, "100755 mine\n"),
        after: new Map(after).set(mine, "100755 mine\n"),
      };
      await place.run(["restore", "0"], random.below(Math.ceil(restoreMs)));
      for (const [name, content] of place.files()) {
        const whole = [expected.before, expected.after].map((files) => files.get(name)?.replace(/^\d+/, ""));
        if (!name.includes(".hermes-")) expect(whole, name).toContain(content.replace(/^\d+/, ""));
      }
      const isUndo = point % 2 === 0;
      const lines = await place.session((bench) => (isUndo ? bench.undo() : bench.restore(0)));
      expect(place.files()).toEqual(isUndo ? expected.after : expected.before);
      if (!isUndo)
        expect(lines.filter((line) => line.includes("left alone"))).toEqual([
          `${mine} left alone: you changed it since`,
        ]);
    }
  });
});
