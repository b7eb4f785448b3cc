/** Every start of the user's git by the product itself: it runs no program that a repository's settings name. */
import { execFile, type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";

/** A setting for one run; an empty value disables a program. */
export type GitSetting = readonly [key: string, value: string];

/** Folders of one repository. All are absolute and without links. */
export type GitFolders = {
  /** Work tree; undefined for a bare repository. */
  readonly top: string | undefined;
  /** Git folder of this work tree, with its HEAD and index. */
  readonly own: string;
  /** Git folder of all work trees, with settings, hooks, objects and branches. Default: `own`. */
  readonly common: string;
};

export type GitRun = {
  /** Working folder, absolute. */
  readonly cwd: string;
  /** Repository; without it git looks for one around `cwd`. */
  readonly folders?: GitFolders | undefined;
  readonly input?: string;
  readonly settings?: readonly GitSetting[];
  /** Variables over the fixed ones. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Default 20,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

/** `exitCode` is null when git is missing, was ended, or printed over 100 MB. */
export type GitResult = { readonly exitCode: number | null; readonly stdout: Buffer; readonly stderr: string };

/** Programs that settings without a name of their own start, and settings that reach other repositories. */
const FIXED_SETTINGS = [
  "core.fsmonitor=false core.hooksPath=/dev/null core.quotePath=false core.alternateRefsCommand= core.askPass=",
  "core.pager=cat gc.auto=0 maintenance.auto=false submodule.recurse=false log.showSignature=false",
  "safe.bareRepository=explicit",
].flatMap((line) => line.split(" "));
const FIXED = FIXED_SETTINGS.flatMap((setting) => ["-c", setting]);
/** A missing object of a partial clone would be fetched, by a program that the repository names. */
const VARIABLES = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  LC_ALL: "C",
};
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 100_000_000;

/** Runs git to its end. Rejects only with the reason of the signal. */
export async function runGit(args: readonly string[], run: GitRun): Promise<GitResult> {
  const { cwd, input = "", timeoutMs = TIMEOUT_MS, signal } = run;
  const limits = { timeout: timeoutMs, maxBuffer: MAX_BYTES, windowsHide: true, ...(signal && { signal }) };
  const options = { cwd, env: environment(run), encoding: "buffer", ...limits } as const;
  const result = await new Promise<GitResult>((resolve) => {
    const { stdin } = execFile("git", [...FIXED, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      const exitCode = typeof code === "number" ? code : null;
      // A code in words is of the system: git is missing, or printed too much.
      resolve({ exitCode, stdout, stderr: stderr.toString() || (typeof code === "string" ? `${error?.message}` : "") });
    });
    stdin?.on("error", () => undefined); // git ended without reading
    stdin?.end(input);
  });
  signal?.throwIfAborted();
  return result;
}

/**
 * Output of git, piece by piece; git waits while a piece is not taken. Leaving the loop ends git. Throws an Error unless git
 * ends with exit code 0.
 */
export async function* streamGit(args: readonly string[], run: GitRun): AsyncGenerator<Buffer, void> {
  const { cwd, input = "", timeoutMs = TIMEOUT_MS } = run;
  const child = spawn("git", [...FIXED, ...args], {
    cwd,
    env: environment(run),
    stdio: ["pipe", "pipe", "ignore"],
    timeout: timeoutMs,
    windowsHide: true,
  });
  child.stdin.on("error", () => undefined); // git ended without reading
  child.stdin.end(input);
  const ended = new Promise<string>((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code, signal) => resolve(code === 0 ? "" : `it ended with ${code ?? signal}`));
  });
  try {
    yield* child.stdout;
    const problem = await ended;
    if (problem !== "") throw new Error(`git ${args[0]} failed in ${cwd}: ${problem}`);
  } finally {
    child.kill();
  }
}

/** The same for a decision that cannot wait; git answers within milliseconds. */
export function runGitSync(args: readonly string[], run: GitRun): GitResult {
  return endSync("git", [...FIXED, ...args], run);
}

/** Runs `script`, whose calls of git have the same limits, in a POSIX shell. `args`: its words. */
export function runGitScriptSync(script: string, args: readonly string[], run: GitRun): GitResult {
  const fixed = FIXED_SETTINGS.map(
    (text): GitSetting => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)],
  );
  return endSync("sh", ["-c", script, "git", ...args], { ...run, settings: [...fixed, ...(run.settings ?? [])] });
}

function endSync(program: string, args: readonly string[], run: GitRun): GitResult {
  const { cwd, input = "", timeoutMs = TIMEOUT_MS } = run;
  const { status, stdout, stderr, error }: SpawnSyncReturns<Buffer> = spawnSync(program, args, {
    cwd,
    env: environment(run),
    input,
    timeout: timeoutMs,
    maxBuffer: MAX_BYTES,
    windowsHide: true,
  });
  if (error !== undefined) return { exitCode: null, stdout: Buffer.alloc(0), stderr: error.message };
  return { exitCode: status, stdout, stderr: stderr.toString() };
}

/** Environment without variables that name another repository or other programs. */
function environment({ folders, settings = [], variables }: GitRun): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return { ...Object.fromEntries(own), ...VARIABLES, ...placed(folders), ...asVariables(settings), ...variables };
}

/** git looks for nothing, and follows no file that names another git folder. */
function placed(folders: GitFolders | undefined): NodeJS.ProcessEnv {
  if (folders === undefined) return {};
  const { top, own, common } = folders;
  const tree = top === undefined ? { GIT_IMPLICIT_WORK_TREE: "0" } : { GIT_WORK_TREE: top };
  return { GIT_DIR: own, GIT_COMMON_DIR: common, ...tree };
}

/** Options cannot name a setting with an equals sign. */
function asVariables(settings: readonly GitSetting[]): NodeJS.ProcessEnv {
  const named = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(named) };
}
