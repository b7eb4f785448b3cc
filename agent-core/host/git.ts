/** Reading what git knows of a folder: nothing is written, nobody is asked, no program of the repository's is run. */
import { spawn } from "node:child_process";

/** No optional lock: not even the index is refreshed. `core.fsmonitor` would run a program that the repository names. */
const QUIET = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"];
/** A repository that does not answer within this time is none. */
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 100_000_000;

/** Its output; undefined when there is no git, no repository, or when it fails or takes too long. */
export async function readGit(folder: string, args: readonly string[], input = ""): Promise<Buffer | undefined> {
  const child = spawn("git", [...QUIET, ...args], {
    cwd: folder,
    env: environment(),
    stdio: ["pipe", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
    windowsHide: true,
  });
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BYTES) child.kill();
    else chunks.push(chunk);
  });
  child.stdin.on("error", () => undefined); // a git that ends without reading
  child.stdin.end(input);
  const isWhole = await new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
  return isWhole ? Buffer.concat(chunks) : undefined;
}

/** Without variables that point it at another repository. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return { ...Object.fromEntries(own), GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
}
