import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { confine } from "../../../agent-core/approval/confinement.ts";
import type { ApprovalMode, Decision, PolicyContext } from "../../../agent-core/approval/decision.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { childRunner } from "../../../agent-core/host/terminals/child-runner.ts";
import { localBackend } from "../../../agent-core/host/terminals/local-backend.ts";
import { findSandbox, type Sandbox } from "../../../agent-core/host/terminals/sandbox/find-sandbox.ts";
import { sandboxedBackend } from "../../../agent-core/host/terminals/sandbox/sandboxed-backend.ts";
import { bwrapArguments } from "../../../agent-core/host/terminals/sandbox/sandboxed-run.ts";
import { sessionTerminals } from "../../../agent-core/host/terminals/session-terminals.ts";
import type { HostTerminals, SandboxKind } from "../../../agent-core/host/terminals/terminals.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { hasSandbox } from "../../support/programs.ts";
import { rounds, seedOf, sweep } from "../../support/scale.ts";
import { canaryCommands, type Targets, WIPES } from "./support/canary-commands.ts";
import { seeded } from "./support/random.ts";

const AT_ONCE = 4;
const TIMEOUT_MS = 3_000;
const IDENTITY = ["-c", "user.name=n", "-c", "user.email=e@example.org"];
const SECRET = "canary-4d1f";
const ENV_SECRET = "canary-env-77";
const KEPT = "kept as it is\n";
const EVIL = "touch ~/hit; rm -f ~/keep.txt";
const WIPE = "rm -rf ~";

/** A throw-away home and a workspace beside it: below one folder, so that nothing of the machine is in reach. */
class Place {
  readonly #folder = mkdtempSync(join(tmpdir(), "hermes-canaries-"));
  readonly home = join(this.#folder, "home");
  readonly workspace = join(this.#folder, "work");
  readonly scope = {
    cwd: this.workspace,
    roots: [this.workspace],
    home: this.home,
    hermesHome: join(this.home, ".hermes"),
    resolvePath,
  };
  readonly #terminals = this.#open();
  readonly #script: string;
  readonly #hasHardLink: boolean;

  /**
   * `script`: code of the project's scripts. A hard link is the file itself, so that no sandbox holds unread code back from
   * it. No command in a sandbox can make one.
   */
  constructor(script: string, hasHardLink: boolean) {
    this.#script = script;
    this.#hasHardLink = hasHardLink;
    this.restore();
  }

  #open(): HostTerminals | undefined {
    const found = findSandbox();
    if (!found.ok) return undefined;
    const own = join(this.#folder, "own");
    const folders = { withheld: join(own, "withheld"), outputs: join(own, "outputs") };
    // The sandbox as it is, except for its network: no generated command may reach another machine.
    const wrap: Sandbox["wrap"] = (run, ...program) => found.sandbox.wrap({ ...run, hasNetwork: false }, ...program);
    const backend = sandboxedBackend(localBackend({ withheld: [], passed: { HOME: this.home } }), {
      sandbox: { ...found.sandbox, wrap },
      confine: (caches, command) => confine(this.scope, { ...folders, caches }, command),
    });
    return sessionTerminals(backend, childRunner());
  }

  restore(): void {
    const { home, workspace } = this;
    for (const folder of [home, workspace]) removeFolder(folder);
    for (const folder of [join(home, ".ssh"), join(workspace, "sub")]) mkdirSync(folder, { recursive: true });
    const files = {
      [join(home, "keep.txt")]: KEPT,
      [join(home, ".ssh/id_rsa")]: SECRET,
      [join(workspace, ".env")]: ENV_SECRET,
      [join(workspace, "f.txt")]: "a\nb\n",
      [join(workspace, "g.txt")]: "b\na\n",
      [join(workspace, "sub/h.txt")]: "x\n",
      [join(workspace, "evil.sh")]: `#!/bin/sh\n${this.#script}\n`,
      [join(workspace, "evil.py")]: `import os\nos.system("${EVIL}")\n`,
      [join(workspace, "evil.js")]: `require("child_process").execSync("${EVIL}")\n`,
      [join(workspace, "evil.awk")]: `BEGIN { system("${EVIL}") }\n`,
      [join(workspace, "Makefile")]: `bad:\n\t@${this.#script}\n`,
      [join(workspace, "package.json")]: JSON.stringify({ scripts: { bad: this.#script, test: "rm -f ~/keep.txt" } }),
    };
    for (const [path, text] of Object.entries(files)) writeFileSync(path, text);
    this.#files = files;
    chmodSync(join(workspace, "evil.sh"), 0o755);
    symlinkSync(home, join(workspace, "link-to-home"));
    if (this.#hasHardLink) linkSync(join(home, "keep.txt"), join(workspace, "hard.txt"));
    execFileSync("git", ["init", "-q", workspace]);
    execFileSync("git", ["-C", workspace, "add", "--force", ".env", "f.txt"]);
    execFileSync("git", ["-C", workspace, ...IDENTITY, "commit", "-qm", "first"]);
    execFileSync("git", ["-C", workspace, ...IDENTITY, "commit", "-qm", "second", "--allow-empty"]);
    this.#names = new Set([...readdirSync(workspace), "h.txt"]);
    this.#config = readFileSync(join(workspace, ".git/config"), "utf8");
  }

  /** Removes what a command made: code in the sandbox may copy the workspace's own secrets into new files. */
  tidy(): void {
    const inner = join(this.workspace, "sub");
    const isFolder = statSync(inner, { throwIfNoEntry: false })?.isDirectory() === true;
    const isWhole = Object.entries(this.#files).every(([path, text]) => textOf(path) === text);
    if (!isFolder || !isWhole) this.restore();
    for (const folder of [this.workspace, inner])
      for (const name of readdirSync(folder))
        if (!this.#names.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }

  #names: ReadonlySet<string> = new Set();
  #files: Readonly<Record<string, string>> = {};
  #config = "";

  /** Loss that a command caused; undefined when every canary is as it was. */
  loss(output: string): string | undefined {
    const { home, workspace } = this;
    if (output.includes(ENV_SECRET)) return "the secret of .env was printed";
    if (output.includes(SECRET)) return "the secret was printed";
    if (existsSync(join(home, "hit"))) return "the code ran";
    // Programs keep caches and histories in hidden files.
    if (namesIn(home).some((name) => name !== "keep.txt" && !name.startsWith(".")))
      return "a file was made in the home";
    if (namesIn(join(workspace, ".git/hooks")).some((name) => !name.endsWith(".sample"))) return "a hook was made";
    if (textOf(join(home, "keep.txt")) !== KEPT) return "a file of the home was changed";
    if (textOf(join(home, ".ssh/id_rsa")) !== SECRET) return "a key was changed";
    return textOf(join(workspace, ".git/config")) === this.#config ? undefined : "git's settings were changed";
  }

  /** A loss that is blocked in every mode: nothing is left of the home. */
  get isWiped(): boolean {
    return !existsSync(join(this.home, "keep.txt")) && !existsSync(join(this.home, ".ssh/id_rsa"));
  }

  async run(command: string, sandbox: SandboxKind | undefined): Promise<string> {
    if (sandbox === undefined) return this.#runBare(command);
    const outputFile = join(this.#folder, "output.log");
    const shell = { folder: this.workspace, variables: undefined };
    const request = { command, shell, keepsShell: false, input: "none", pty: false, sandbox, outputFile } as const;
    const running = await this.#terminals?.start(request, new AbortController().signal);
    const timer = setTimeout(() => void running?.kill(), TIMEOUT_MS);
    await running?.exit;
    clearTimeout(timer);
    await running?.release();
    return textOf(outputFile) ?? "";
  }

  /**
   * Runs a command without our sandbox. Walls of the test's own keep a loss within the throw-away home: the machine is
   * read-only, and even root has no rights over its clock, its processes and its network.
   */
  #runBare(command: string): Promise<string> {
    const binds = [{ kind: "writable", path: this.#folder }] as const;
    const place = { binds, folder: this.workspace, outlivesShell: false, hasNetwork: false };
    return this.#runProgram(["bwrap", ...bwrapArguments(place, "bash", ["-c", command])]);
  }

  #runProgram([program = "", ...args]: readonly string[]): Promise<string> {
    const env = { PATH: process.env["PATH"], HOME: this.home, LANG: "C.UTF-8", TERM: "dumb" };
    return new Promise((done) => {
      const options = { cwd: this.workspace, env, timeout: TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: 4e6 } as const;
      const child = execFile(program, args, options, (_, stdout, stderr) => done(stdout + stderr));
      child.stdin?.end();
    });
  }

  async remove(): Promise<void> {
    await this.#terminals?.dispose();
    removeFolder(this.#folder);
  }
}

/** A process of the last command may still write while it is being killed. */
function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // gone, which is a loss
  }
}

const grants = { covers: () => false };

type Setting = { readonly mode: ApprovalMode; readonly sandbox: boolean; readonly count: number };

/** Commands of each mode, without a sandbox and with one, where a command takes ten times as long. */
const SETTINGS: readonly Setting[] = [
  { mode: "code", sandbox: false, count: rounds(20_000, 150) },
  { mode: "plan", sandbox: false, count: rounds(20_000, 40) },
  { mode: "ask", sandbox: false, count: rounds(20_000, 40) },
  { mode: "code", sandbox: true, count: rounds(20_000, 25) },
  { mode: "plan", sandbox: true, count: rounds(20_000, 25) },
  { mode: "ask", sandbox: true, count: rounds(20_000, 40) },
  { mode: "auto", sandbox: true, count: rounds(20_000, 25) },
];

const timeout = sweep(7_200_000, 60_000);
/** A command that should not have run unasked must not reach this machine. */
const isSandboxed = hasSandbox();

const SEED = seedOf(20_261_123);

type Attempt = { readonly place: Place; readonly command: string; readonly decision: Decision };

/** Runs the commands that `context` lets through; gives their number and the losses. */
async function tryAll(
  commands: readonly string[],
  script: string,
  context: Pick<PolicyContext, "mode" | "sandbox">,
  attempt: (attempt: Attempt) => Promise<string | undefined>,
): Promise<{ readonly ran: number; readonly losses: readonly string[] }> {
  const losses: string[] = [];
  let ran = 0;
  const worker = async (start: number): Promise<void> => {
    const place = new Place(script, context.sandbox !== true);
    const { workspace, scope } = place;
    for (let at = start; at < commands.length; at += AT_ONCE) {
      const command = commands[at] ?? "";
      const effect = { kind: "command", command, cwd: workspace } as const;
      const decision = decide(effect, { ...context, scope, trusted: true, grants, written: new Set() });
      if (decision.kind !== "allow") continue;
      ran += 1;
      const loss = await attempt({ place, command, decision });
      place.tidy();
      if (loss === undefined) continue;
      losses.push(`${loss}: ${command}`);
      place.restore();
    }
    await place.remove();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, start) => worker(start)));
  return { ran, losses };
}

function commandsOf(count: number, targets?: Targets): readonly string[] {
  return Array.from({ length: count }, canaryCommands(seeded(SEED), targets));
}

test.runIf(isSandboxed).each(SETTINGS)(
  "no command that runs unasked in $mode (sandbox: $sandbox) touches a canary",
  { timeout },
  async ({ mode, sandbox, count }) => {
    const commands = commandsOf(count);
    const { ran, losses } = await tryAll(commands, EVIL, { mode, sandbox }, async ({ place, command, decision }) =>
      place.loss(await place.run(command, decision.sandbox)),
    );
    expect(losses).toEqual([]);
    expect(ran).toBeGreaterThan(commands.length / 30);
  },
);

/**
 * Without a sandbox, auto runs code that nobody has read. Blocked commands stay blocked, and a command that was read whole
 * touches no canary that asks in every mode.
 */
test.runIf(isSandboxed).each([
  { kind: "canaries", targets: undefined, script: "true" },
  { kind: "the home", targets: WIPES, script: WIPE },
])("no command in auto without a sandbox wipes the home (aimed at $kind)", { timeout }, async ({ targets, script }) => {
  const commands = commandsOf(rounds(20_000, 40), targets);
  const { ran, losses } = await tryAll(commands, script, { mode: "auto" }, async ({ place, command }) => {
    const output = await place.run(command, undefined);
    if (place.isWiped) return "the home was wiped";
    const verdict = judgeCommand(command, place.scope);
    const found = verdict.level === "safe" && !verdict.runsProject ? place.loss(output) : undefined;
    if (place.loss("") !== undefined) place.restore();
    return found;
  });
  expect(losses).toEqual([]);
  expect(ran).toBeGreaterThan(commands.length / 20);
});
