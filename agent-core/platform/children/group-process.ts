/**
 * Programs that talk over pipes and end with this process: servers of protocols. Each has its own process group, so that the
 * children of a launcher such as npx end too, even when this process is killed.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { Deadline } from "../deadline.ts";
import { isGroupAlive, killTree } from "./process-tree.ts";

/** Time for a program to end by itself after its stdin has closed, before its tree is killed. Milliseconds. */
const CLOSE_GRACE_MS = 100;

export type GroupStart = {
  readonly command: string;
  readonly args: readonly string[];
  /** Whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
};

export type GroupProcess = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the first process has ended: `exit code 1`, or `signal SIGKILL`. */
  readonly ended: Promise<string>;
  /** Closes stdin and ends what is left. Resolves when no process of the group is left. */
  end(): Promise<void>;
};

/** Rejects with the system's error when the program cannot be started. Not for Windows, which has no process groups. */
export async function startGroup({ command, args, env, cwd }: GroupStart): Promise<GroupProcess> {
  const child = spawn(command, [...args], { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const { pid, stdin, stdout, stderr } = child;
  stdin.on("error", () => undefined); // the program closed its input; its end follows
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  await new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  if (pid === undefined) throw new Error(`${command} has no process id`);
  guard.add(pid);
  const end = async (): Promise<void> => {
    stdin.end();
    await new Deadline(CLOSE_GRACE_MS).waitFor(ended);
    if (isGroupAlive(pid)) await killTree({ pid, marker: randomUUID() });
    guard.remove(pid);
    stdout.destroy();
    stderr.destroy();
  };
  let ending: Promise<void> | undefined;
  return {
    ...{ stdin, stdout, stderr, ended },
    end: () => {
      ending ??= end();
      return ending;
    },
  };
}

/** Reads `add GROUP` and `remove GROUP`. At the end of its input it ends the groups that are left. */
const GUARD_SCRIPT = `trap '' HUP INT TERM
groups=' '
while read -r change group; do
  case $change in
    add) groups="$groups$group " ;;
    remove) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for signal in TERM KILL; do
  found=
  for group in $groups; do kill -s "$signal" -- "-$group" 2>/dev/null && found=1; done
  [ -z "$found" ] && exit
  sleep 1
done`;

/** Ends the groups of a killed process. A small shell waits on a pipe that only the process holds. */
class GroupGuard {
  #input: Writable | undefined;

  add(group: number): void {
    this.#input ??= startGuard();
    this.#input.write(`add ${group}\n`);
  }

  remove(group: number): void {
    this.#input?.write(`remove ${group}\n`);
  }
}

function startGuard(): Writable {
  const child = spawn("sh", ["-c", GUARD_SCRIPT, "hermes-group-guard"], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.on("error", () => undefined); // the programs still see the end of their stdin
  child.stdin.on("error", () => undefined);
  child.unref();
  if ("unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref();
  return child.stdin;
}

/** Shared by all programs of this process. */
const guard = new GroupGuard();
