/** Backend of this machine that runs each sandboxed command in a sandbox of its own. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { hasCode, messageOf } from "../../../platform/errors.ts";
import { KeyedQueue } from "../../../platform/keyed-queue.ts";
import { makeOwnedFolder } from "../../../platform/make-folder.ts";
import { pathBelow } from "../../../platform/paths.ts";
import { temporaryPlaces } from "../../workspace-folders.ts";
import type { Backend, Plan } from "../backend.ts";
import type { CommandRequest, SandboxKind } from "../terminals.ts";
import type { Sandbox } from "./find-sandbox.ts";
import { type Layer, mountArguments } from "./layer.ts";
import { type Bind, placeOf } from "./sandboxed-run.ts";

/** Paths that a command in the sandbox may touch, computed at its start. */
export type Confinement = {
  readonly binds: readonly Bind[];
  /** Holds places of the binds. Default: none. */
  readonly layer?: Layer | undefined;
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

/** Command that a confinement is for. */
export type ConfinedCommand = Pick<CommandRequest, "command"> & {
  readonly kind: SandboxKind;
  /** Folder of its start, absolute. */
  readonly folder: string;
  /** Guarded files (absolute) that git may change. */
  readonly writable: readonly string[];
};

export type SandboxOptions = {
  readonly sandbox: Sandbox;
  /** Parent of the session's private folder. Default: the system's folder for temporary files. */
  readonly temporary?: string | undefined;
  /** `privateFolder`: folder for the private copies of caches. */
  readonly confine: (privateFolder: string, command: ConfinedCommand) => Promise<Confinement>;
  /** Checks what takes too long for each command: at the end of a turn, and before a command outside the sandbox. */
  readonly settle?: () => Promise<readonly string[]>;
  /** Line of a command outside the sandbox, in which git changes no guarded file but `writable`. Default: the command. */
  readonly guardGit?: (privateFolder: string, command: string, writable: readonly string[]) => Promise<string>;
};

/** Syntax that leaves processes behind at the shell's end. */
const LEAVES_BEHIND = /(?<![&>|<])&(?![&>])|\b(?:nohup|setsid|disown|daemon\w*)\b/;
const GIT = /\bgit\b/;
/** Names of scripts, which need no permission to execute. */
const PROGRAM = /\.(?:[cm]?[jt]s|sh|py|rb|pl|php|lua)$/i;
/** Permission to execute, for anyone. */
const EXECUTABLE = 0o111;
/**
 * The repository's settings are read-only, so a new branch records no remote branch in them. Packs may be read-only, so no
 * other command of git tidies the repository.
 */
const GIT_SETTINGS = {
  GIT_CONFIG_COUNT: "3",
  GIT_CONFIG_KEY_0: "branch.autoSetupMerge",
  GIT_CONFIG_VALUE_0: "false",
  GIT_CONFIG_KEY_1: "gc.auto",
  GIT_CONFIG_VALUE_1: "0",
  GIT_CONFIG_KEY_2: "maintenance.auto",
  GIT_CONFIG_VALUE_2: "false",
};
/** Command by which a session learns whether the sandbox can hold its workspace. */
const ANY_COMMAND: ConfinedCommand = { command: "true", kind: "isolated", folder: "/", writable: [] };

export function sandboxedBackend(backend: Backend, options: SandboxOptions): Backend {
  const own = new SessionSandbox(options);
  const { living } = own;
  return {
    ...backend,
    sandboxes: true,
    sandboxState: { isOn: true, program: options.sandbox.program },
    sandboxProblem: () => own.problem(),
    temporaryFolder: () => own.folder.temporary,
    inspectLiving: () => living.inspect(),
    endTurn: async () => [...((await options.settle?.()) ?? []), ...(await living.endTurn())],
    async confine({ command, args, cwd, lasts }) {
      const around = await own.confine({ ...ANY_COMMAND, kind: "networked", folder: cwd });
      living.add(around.confinement, lasts ? "report" : "revert");
      const binds = [...bindsOf(around), ...bindsOfProgram([command, ...args], cwd)];
      const run = { binds, folder: cwd, outlivesShell: false, hasNetwork: true };
      return {
        command: options.sandbox.program,
        args: options.sandbox.wrap(run, command, args),
        env: environmentOf(around),
        end: () => living.end(around.confinement),
      };
    },
    async plan(request, givesPty, signal) {
      const { sandbox, keepsShell, command, shell, writable = [] } = request;
      await living.look();
      if (sandbox === undefined) {
        const changes = (await options.settle?.()) ?? [];
        const inspect = async () => [...changes, ...(await living.accept())];
        const guard = GIT.test(command) ? options.guardGit : undefined;
        const guarded = (await guard?.(own.folder.caches, command, writable)) ?? command;
        const plan = await backend.plan({ ...request, command: guarded }, givesPty, signal);
        return { ...plan, launch: { ...plan.launch, title: command }, inspect };
      }
      const held: ConfinedCommand = { command, kind: sandbox, folder: shell.folder, writable };
      const [plan, around] = await Promise.all([
        backend.plan(request, givesPty, signal),
        own.confine(held).catch(refuse),
      ]);
      const { confinement } = around;
      // A command that keeps the shell is short.
      living.add(confinement, keepsShell ? "revert" : "report");
      return {
        ...intoSandbox(plan, request, around),
        inspect: () => living.inspect(),
        ended: () => living.end(confinement),
        async isCurrent() {
          const now = await options.confine(own.folder.caches, held);
          now.end();
          return now.fingerprint === confinement.fingerprint;
        },
      };
    },
    async dispose() {
      await backend.dispose();
      await own.dispose();
    },
  };
}

/** State of a session's sandbox, which all its commands share. */
class SessionSandbox {
  readonly living = new LivingCommands();
  readonly #options: SandboxOptions;
  #folder: PrivateFolder | undefined;
  #linked: Promise<void> | undefined;
  /** Undefined before the first command, and after a command that the sandbox held. */
  #problem: Promise<string | undefined> | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  get folder(): PrivateFolder {
    this.#folder ??= createFolder(this.#options.temporary);
    return this.#folder;
  }

  /** Rejects with a sentence for people. */
  async confine(command: ConfinedCommand): Promise<Surroundings> {
    const { folder } = this;
    const { sandbox, confine } = this.#options;
    const made = confine(folder.caches, command);
    this.#problem = made.then(() => undefined, messageOf);
    const confinement = await made;
    // Later, a command may have placed links of its own, which would lead these elsewhere.
    this.#linked ??= makeLinks([...temporaryBinds(folder), ...confinement.binds]);
    await this.#linked;
    return { sandbox, confinement, own: folder };
  }

  async problem(): Promise<string | undefined> {
    if (this.#problem === undefined || (await this.#problem) !== undefined) {
      const around = await this.confine(ANY_COMMAND).catch(() => undefined);
      around?.confinement.end();
    }
    return this.#problem;
  }

  async dispose(): Promise<void> {
    await this.living.dispose();
    const own = this.#folder;
    this.#folder = undefined;
    this.#linked = undefined;
    if (own !== undefined) await rm(own.path, { recursive: true, force: true });
  }
}

function refuse(error: unknown): never {
  throw new Error(`The sandbox cannot hold this command: ${messageOf(error)}. Call again: it then asks the user.`);
}

/** Confinements of commands whose processes may still live. One inspection covers all of them. */
class LivingCommands {
  readonly #modes = new Map<Confinement, InspectMode>();
  readonly #notes: string[] = [];
  readonly #looks = new KeyedQueue();

  add(confinement: Confinement, mode: InspectMode): void {
    this.#modes.set(confinement, mode);
  }

  /** Looks for forbidden changes; `inspect` gives the sentences. A change that another look has found is away by the end. */
  async look(): Promise<void> {
    await this.#looks.run("", async () => {
      const [first] = this.#modes.keys();
      const mode = [...this.#modes.values()].includes("revert") ? "revert" : "report";
      if (first !== undefined) this.#notes.push(...(await first.inspect(mode)));
    });
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

function createFolder(parent: string | undefined): PrivateFolder {
  const path = makeOwnedFolder("hermes-sandbox-", parent);
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

function intoSandbox(plan: Plan, { command, scriptFolder, sandbox: kind }: CommandRequest, around: Surroundings): Plan {
  const { launch, shellFiles } = plan;
  const { sandbox } = around;
  const binds: readonly Bind[] = [
    ...bindsOf(around),
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
  const { layer } = around.confinement;
  const args = sandbox.wrap(run, launch.program, launch.args);
  return {
    ...plan,
    launch: {
      ...launch,
      program: layer === undefined ? sandbox.program : "unshare",
      args: layer === undefined ? args : mountArguments(layer, sandbox.program, args),
      env: { ...launch.env, ...environmentOf(around) },
    },
  };
}

function bindsOf({ confinement, own }: Surroundings): readonly Bind[] {
  return [...temporaryBinds(own), ...confinement.binds];
}

/**
 * A program and its scripts, which may lie where the sandbox shows nothing: the user consented to them by their paths. What
 * is in `node_modules` needs the packages beside it.
 */
function bindsOfProgram(words: readonly string[], cwd: string): readonly Bind[] {
  return words.flatMap((word) => {
    const isElsewhere = isAbsolute(word) && pathBelow(cwd, word) === undefined;
    const stat = isElsewhere ? statSync(word, { throwIfNoEntry: false }) : undefined;
    if (stat?.isFile() !== true || !(PROGRAM.test(word) || (stat.mode & EXECUTABLE) !== 0)) return [];
    const [, packages = word] = /^(.*?\/node_modules)\//.exec(word) ?? [];
    return [{ kind: "read-only" as const, path: packages }];
  });
}

function environmentOf({ sandbox, own }: Surroundings): Readonly<Record<string, string>> {
  if (sandbox.mounts) return GIT_SETTINGS;
  return { ...GIT_SETTINGS, TMPDIR: own.temporary, XDG_CACHE_HOME: own.caches, npm_config_cache: own.caches };
}
