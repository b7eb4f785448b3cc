/** Backend of this machine that runs each sandboxed command in a sandbox of its own. */
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { hasCode, messageOf } from "../../../platform/errors.ts";
import { temporaryPlaces } from "../../workspace-folders.ts";
import type { Backend, Plan } from "../backend.ts";
import type { CommandRequest, SandboxKind } from "../terminals.ts";
import type { Sandbox } from "./find-sandbox.ts";
import { type Bind, placeOf } from "./sandboxed-run.ts";

/** Paths that a command in the sandbox may touch, computed at its start. */
export type Confinement = {
  readonly binds: readonly Bind[];
  /** Folders of git's own files in the workspace, absolute. */
  readonly gits: readonly string[];
  /**
   * Checks what all commands changed whose processes may still live, and gives a sentence for each forbidden change that is
   * new. `revert` undoes it; while a long command runs, the user may have made the changes, so `report` leaves them.
   */
  inspect(mode: InspectMode): Promise<readonly string[]>;
  /** Counts all that is there now as no work of the sandbox. */
  accept(): Promise<void>;
  /** No process of the command is left. Call it once for each confinement. */
  end(): void;
  /** Differs when paths are protected that were not, or were replaced: a mounted file that is replaced loses its mount. */
  readonly fingerprint: string;
};

type InspectMode = "revert" | "report";

export type SandboxOptions = {
  readonly sandbox: Sandbox;
  /**
   * `privateFolder`: folder for the private copies of caches. `reading`: the workspace is read-only, and its secret files are hidden.
   * `writable`: guarded files (absolute) that git may change.
   */
  readonly confine: (privateFolder: string, kind: SandboxKind, writable: readonly string[]) => Promise<Confinement>;
  /** Line of a command outside the sandbox, in which git changes no guarded file but `writable`. Default: the command. */
  readonly guardGit?: (privateFolder: string, command: string, writable: readonly string[]) => Promise<string>;
};

/** Syntax that leaves processes behind at the shell's end. */
const LEAVES_BEHIND = /(?<![&>|<])&(?![&>])|\b(?:nohup|setsid|disown|daemon\w*)\b/;
const GIT = /\bgit\b/;
/** The repository's settings are read-only, so a new branch records no remote branch in them. */
const GIT_SETTINGS = {
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "branch.autoSetupMerge",
  GIT_CONFIG_VALUE_0: "false",
};

export function sandboxedBackend(backend: Backend, options: SandboxOptions): Backend {
  let folder: PrivateFolder | undefined;
  let linked: Promise<void> | undefined;
  /** Undefined before the first command, and after a command that the sandbox held. */
  let problem: Promise<string | undefined> | undefined;
  const living = new LivingCommands();
  const confined = async (kind: SandboxKind, writable: readonly string[] = []): Promise<Confinement> => {
    folder ??= createFolder();
    const confinement = options.confine(folder.caches, kind, writable);
    problem = confinement.then(() => undefined, messageOf);
    return confinement;
  };
  return {
    ...backend,
    sandboxes: true,
    sandboxState: { isOn: true, program: options.sandbox.program },
    async sandboxProblem() {
      if (problem === undefined || (await problem) !== undefined) {
        const confinement = await confined("isolated").catch(() => undefined);
        confinement?.end();
      }
      return problem;
    },
    temporaryFolder() {
      folder ??= createFolder();
      return folder.temporary;
    },
    inspectLiving: () => living.inspect(),
    endTurn: () => living.endTurn(),
    async plan(request, givesPty, signal) {
      const { sandbox, keepsShell, command, writable = [] } = request;
      await living.look();
      const inspect = () => living.accept();
      if (sandbox === undefined && !GIT.test(command)) {
        return { ...(await backend.plan(request, givesPty, signal)), inspect };
      }
      folder ??= createFolder();
      const own = folder;
      if (sandbox === undefined) {
        const guarded = (await options.guardGit?.(own.caches, command, writable)) ?? command;
        const plan = await backend.plan({ ...request, command: guarded }, givesPty, signal);
        return { ...plan, launch: { ...plan.launch, title: command }, inspect };
      }
      const [plan, confinement] = await Promise.all([
        backend.plan(request, givesPty, signal),
        confined(sandbox, writable).catch((error: unknown) => {
          throw new Error(
            `The sandbox cannot hold this command: ${messageOf(error)}. Call again: it then asks the user.`,
          );
        }),
      ]);
      // Later, a command may have placed links of its own, which would lead these elsewhere.
      linked ??= makeLinks([...temporaryBinds(own), ...confinement.binds]);
      await linked;
      // A command that keeps the shell is short.
      living.add(confinement, keepsShell ? "revert" : "report");
      return {
        ...intoSandbox(plan, request, { sandbox: options.sandbox, confinement, own }),
        inspect: () => living.inspect(),
        ended: () => living.end(confinement),
        async isCurrent() {
          const now = await options.confine(own.caches, sandbox, writable);
          now.end();
          return now.fingerprint === confinement.fingerprint;
        },
      };
    },
    async dispose() {
      await backend.dispose();
      await living.dispose();
      const own = folder;
      folder = undefined;
      linked = undefined;
      if (own !== undefined) await rm(own.path, { recursive: true, force: true });
    },
  };
}

/** Confinements of commands whose processes may still live. One inspection covers all of them. */
class LivingCommands {
  readonly #modes = new Map<Confinement, InspectMode>();
  readonly #notes: string[] = [];

  add(confinement: Confinement, mode: InspectMode): void {
    this.#modes.set(confinement, mode);
  }

  /** Looks for forbidden changes; `inspect` gives the sentences. */
  async look(): Promise<void> {
    const [first] = this.#modes.keys();
    const mode = [...this.#modes.values()].includes("revert") ? "revert" : "report";
    if (first !== undefined) this.#notes.push(...(await first.inspect(mode)));
  }

  /** A sentence for each forbidden change that was found since the last call. */
  async inspect(): Promise<readonly string[]> {
    await this.look();
    return this.#notes.splice(0);
  }

  /** Accepts what a command outside the sandbox made. */
  async accept(): Promise<readonly string[]> {
    const [first] = this.#modes.keys();
    await first?.accept();
    return this.#notes.splice(0);
  }

  /** No process of the command is left. */
  async end(confinement: Confinement): Promise<void> {
    if (!this.#modes.has(confinement)) return;
    await this.look();
    if (this.#modes.delete(confinement)) confinement.end();
  }

  /** As `inspect`. From now on, the user may have made the changes. */
  async endTurn(): Promise<readonly string[]> {
    const notes = await this.inspect();
    for (const confinement of this.#modes.keys()) this.#modes.set(confinement, "report");
    return notes;
  }

  async dispose(): Promise<void> {
    for (const confinement of [...this.#modes.keys()]) await this.end(confinement);
  }
}

/** Replaces the folders of temporary files and caches in the sandbox, for the session's life. */
type PrivateFolder = { readonly path: string; readonly temporary: string; readonly caches: string };

function createFolder(): PrivateFolder {
  const path = mkdtempSync(join(tmpdir(), "hermes-sandbox-"));
  const own = { path, temporary: join(path, "tmp"), caches: join(path, "caches") };
  for (const folder of [own.temporary, own.caches]) mkdirSync(folder, { mode: 0o700 });
  return own;
}

/** A private folder replaces each folder of temporary files. */
function temporaryBinds({ temporary }: PrivateFolder): readonly Bind[] {
  return temporaryPlaces()
    .filter((path) => existsSync(path))
    .map((path) => ({ kind: "writable", path, from: temporary }));
}

/** Makes the links that private folders cover, such as a workspace in /tmp that was opened by a link. */
async function makeLinks(binds: readonly Bind[]): Promise<void> {
  for (const bind of binds) {
    const place = bind.kind === "link" ? placeOf(bind.path, binds) : undefined;
    if (bind.kind !== "link" || place?.kind !== "writable" || place.from === undefined) continue;
    const path = join(place.from, relative(place.path, bind.path));
    await mkdir(dirname(path), { recursive: true });
    await symlink(bind.target, path).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error;
    });
  }
}

type Surroundings = { readonly sandbox: Sandbox; readonly confinement: Confinement; readonly own: PrivateFolder };

function intoSandbox(
  plan: Plan,
  { command, scriptFolder, sandbox: kind, writable = [] }: CommandRequest,
  around: Surroundings,
): Plan {
  const { launch, shellFiles } = plan;
  const { sandbox, confinement, own } = around;
  // Without mounts no guard stands before git. An unread script cannot begin to change a tree: git fails to lock its index.
  const isRead = GIT.test(command) || writable.length > 0;
  const held = sandbox.mounts || isRead ? [] : confinement.gits;
  const binds: readonly Bind[] = [
    ...temporaryBinds(own),
    ...confinement.binds,
    ...held.map((path): Bind => ({ kind: "read-only", path })),
    ...(shellFiles?.read ?? []).map((path): Bind => ({ kind: "read-only", path })),
    ...(scriptFolder === undefined ? [] : [{ kind: "read-only", path: scriptFolder, connects: true } as const]),
    ...(shellFiles?.written ?? []).map((path): Bind => ({ kind: "writable", path })),
  ];
  const run = {
    binds,
    folder: launch.cwd,
    outlivesShell: LEAVES_BEHIND.test(command),
    hasNetwork: kind === "networked",
  };
  const folders = sandbox.mounts
    ? {}
    : { TMPDIR: own.temporary, XDG_CACHE_HOME: own.caches, npm_config_cache: own.caches };
  return {
    ...plan,
    launch: {
      ...launch,
      program: sandbox.program,
      args: sandbox.wrap(run, launch.program, launch.args),
      env: { ...launch.env, ...GIT_SETTINGS, ...folders },
    },
  };
}
