/** A backend of this machine whose commands can run in a sandbox, each for itself. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend, Plan } from "../backend.ts";
import type { CommandRequest } from "../terminals.ts";
import { type Bind, bwrapArguments } from "./bwrap.ts";

/** What a command in the sandbox may touch, as it is at its start. */
export type Confinement = {
  readonly binds: readonly Bind[];
  /**
   * Looks through what it did once it has ended, and gives a sentence for each thing that it should not have done. That
   * is put right at once where `puts` says so: of one that ran for long nobody knows what was the user's doing meanwhile.
   */
  inspect(puts: "right" | "nothing"): Promise<readonly string[]>;
};

export type SandboxOptions = {
  /** Absolute path of bwrap, which works here. */
  readonly bwrap: string;
  readonly confine: () => Promise<Confinement>;
};

/** Something after which a command's processes outlive its shell. */
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

/** Stands for the folders of temporary files and of caches in the sandbox, as long as the session lives. */
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
    // What the session's shell waits for is short.
    inspect: () => confinement.inspect(keepsShell ? "right" : "nothing"),
  };
}

function writable(path: string, from: string): Bind {
  return { kind: "writable", path, from };
}
