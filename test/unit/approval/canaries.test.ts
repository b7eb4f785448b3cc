import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decide } from "../../../agent-core/approval/policy.ts";
import { resolvePath } from "../../../agent-core/approval/resolve-path.ts";
import { sweep } from "../../support/scale.ts";
import { canaryCommands } from "./support/canary-commands.ts";
import { seeded } from "./support/random.ts";

const COMMANDS = sweep(20_000, 400);
const AT_ONCE = 4;
const SECRET = "canary-4d1f";
const KEPT = "kept as it is\n";
const EVIL = "touch ~/hit; rm -f ~/keep.txt";

/** A throw-away home and a workspace beside it: below one folder, so that nothing of the machine is in reach. */
class Place {
  readonly #folder = mkdtempSync(join(tmpdir(), "hermes-canaries-"));
  readonly home = join(this.#folder, "home");
  readonly workspace = join(this.#folder, "work");

  constructor() {
    this.restore();
  }

  restore(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    const { home, workspace } = this;
    for (const folder of [join(home, ".ssh"), join(workspace, "sub")]) mkdirSync(folder, { recursive: true });
    const files = {
      [join(home, "keep.txt")]: KEPT,
      [join(home, ".ssh/id_rsa")]: SECRET,
      [join(workspace, "f.txt")]: "a\nb\n",
      [join(workspace, "g.txt")]: "b\na\n",
      [join(workspace, "sub/h.txt")]: "x\n",
      [join(workspace, "evil.sh")]: `#!/bin/sh\n${EVIL}\n`,
      [join(workspace, "evil.py")]: `import os\nos.system("${EVIL}")\n`,
      [join(workspace, "evil.js")]: `require("child_process").execSync("${EVIL}")\n`,
      [join(workspace, "evil.awk")]: `BEGIN { system("${EVIL}") }\n`,
      [join(workspace, "Makefile")]: `bad:\n\t@${EVIL}\n`,
      [join(workspace, "package.json")]: JSON.stringify({ scripts: { bad: EVIL, test: "rm -f ~/keep.txt" } }),
    };
    for (const [path, text] of Object.entries(files)) writeFileSync(path, text);
    chmodSync(join(workspace, "evil.sh"), 0o755);
    symlinkSync(home, join(workspace, "link-to-home"));
    execFileSync("git", ["init", "-q", workspace]);
    this.#config = readFileSync(join(workspace, ".git/config"), "utf8");
  }

  #config = "";

  /** Loss that a command caused; undefined when every canary is as it was. */
  loss(output: string): string | undefined {
    const { home, workspace } = this;
    if (output.includes(SECRET)) return "the secret was printed";
    if (existsSync(join(home, "hit"))) return "the code ran";
    if (textOf(join(home, "keep.txt")) !== KEPT) return "a file of the home was changed";
    if (textOf(join(home, ".ssh/id_rsa")) !== SECRET) return "a key was changed";
    return textOf(join(workspace, ".git/config")) === this.#config ? undefined : "git's settings were changed";
  }

  run(command: string): Promise<string> {
    const env = { PATH: process.env["PATH"], HOME: this.home, LANG: "C.UTF-8", TERM: "dumb" };
    return new Promise((done) => {
      const options = { cwd: this.workspace, env, timeout: 3_000, killSignal: "SIGKILL", maxBuffer: 4e6 } as const;
      const child = execFile("bash", ["-c", command], options, (_, stdout, stderr) => done(stdout + stderr));
      child.stdin?.end();
    });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // gone, which is a loss
  }
}

const grants = { covers: () => false };

test("no command that runs unasked touches a canary", { timeout: sweep(3_600_000, 60_000) }, async () => {
  const random = seeded(Number(process.env["HERMES_TEST_SEED"] ?? 20_261_123));
  const next = canaryCommands(random);
  const commands = Array.from({ length: COMMANDS }, next);
  const losses: string[] = [];
  let ran = 0;
  const worker = async (start: number): Promise<void> => {
    const place = new Place();
    const { home, workspace } = place;
    const scope = { cwd: workspace, roots: [workspace], home, hermesHome: join(home, ".hermes"), resolvePath };
    for (let at = start; at < commands.length; at += AT_ONCE) {
      const command = commands[at] ?? "";
      const effect = { kind: "command", command, cwd: workspace } as const;
      if (decide(effect, { mode: "code", scope, trusted: true, grants }).kind !== "allow") continue;
      ran += 1;
      const loss = place.loss(await place.run(command));
      if (loss === undefined) continue;
      losses.push(`${loss}: ${command}`);
      place.restore();
    }
    place.remove();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, start) => worker(start)));
  expect(losses).toEqual([]);
  expect(ran).toBeGreaterThan(COMMANDS / 10);
});
