/** Backend of this machine that runs each sandboxed command in a sandbox of its own. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend, Plan } from "../backend.ts";
import type { CommandRequest } from "../terminals.ts";
import { type Bind, bwrapArguments } from "./bwrap.ts";

/** Paths that a command in the sandbox may touch, computed at its start. */
export type Confinement = {
  readonly binds: readonly Bind[];
  /**
   * Checks the command's effects after its end, and gives a sentence for each forbidden one. `revert` undoes them at once;
   * after a long command the user may have made the changes, so `report` leaves them.
   */
  inspect(mode: "revert" | "report"): Promise<readonly string[]>;
};

export type SandboxOptions = {
  /** Absolute path of a bwrap that works on this machine. */
  readonly bwrap: string;
  readonly confine: () => Promise<Confinement>;
};

/** Syntax that leaves processes behind at the shell's end. */
const LEAVES_BEHIND = /(?<![&>|<])&(?![&>])|\b(?:nohup|setsid|disown|daemon\w*)\b/;

export function sandboxedBackend(backend: Backend, { bwrap, confine }: SandboxOptions): Backend {
  let folder: Promise<PrivateFolder> | undefined;
  return {
    ...backend,
    sandboxes: true,
    async plan(request, givesPty, signal) {
      const plan = await backend.plan(request, givesPty, signal);
      if (!request.sandboxed) return plan;
      folder ??= createFolder();
      return intoSandbox(plan, request, { bwrap, confinement: await confine(), own: await folder });
    },
    async dispose() {
      await backend.dispose();
      const own = await folder;
      folder = undefined;
      if (own !== undefined) await rm(own.path, { recursive: true, force: true });
    },
  };
}

/** Replaces the folders of temporary files and caches in the sandbox, for the session's life. */
type PrivateFolder = { readonly path: string; readonly temporary: string; readonly cache: string };

async function createFolder(): Promise<PrivateFolder> {
  const path = await mkdtemp(join(tmpdir(), "hermes-sandbox-"));
  const own = { path, temporary: join(path, "tmp"), cache: join(path, "cache") };
  await Promise.all([own.temporary, own.cache].map((folder) => mkdir(folder, { mode: 0o700 })));
  return own;
}

type Sandbox = {
  readonly bwrap: string;
  readonly confinement: Confinement;
  readonly own: PrivateFolder;
};

async function intoSandbox(plan: Plan, { command, keepsShell }: CommandRequest, sandbox: Sandbox): Promise<Plan> {
  const { launch, shellFiles } = plan;
  const { bwrap, confinement, own } = sandbox;
  const cache = join(homedir(), ".cache");
  const binds: readonly Bind[] = [
    ...[...new Set(["/tmp", "/var/tmp", tmpdir()])]
      .filter((path) => existsSync(path))
      .map((path) => writable(path, own.temporary)),
    ...(existsSync(cache) ? [writable(cache, own.cache)] : []),
    ...confinement.binds,
    ...(shellFiles?.read ?? []).map((path): Bind => ({ kind: "read-only", path })),
    ...(shellFiles?.written ?? []).map((path): Bind => ({ kind: "writable", path })),
  ];
  const run = { binds, folder: launch.cwd, outlivesShell: LEAVES_BEHIND.test(command) };
  return {
    ...plan,
    launch: { ...launch, program: bwrap, args: bwrapArguments(run, launch.program, launch.args), cwd: "/" },
    // A command that keeps the shell is short.
    inspect: () => confinement.inspect(keepsShell ? "revert" : "report"),
  };
}

function writable(path: string, from: string): Bind {
  return { kind: "writable", path, from };
}
