/**
 * Ends the programs of an agent that was killed. A small shell waits on a pipe that only the agent holds. When the pipe
 * closes, the shell ends its programs: all with a mark of the agent (on Linux, where marks can be read), or the group of one
 * program and its descendants in other groups.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Writable } from "node:stream";
import { MARKER_VARIABLE } from "./process-tree.ts";

/** `$1`: start of the marks. `$2`: a process group. A line on stdin ends the shell: the programs are no longer its task. */
const SCRIPT = `trap '' HUP INT TERM
read -r _ && exit
all=" $2 "
before=
[ -z "$2" ] || list=$(ps -A -o pid= -o ppid= -o pgid= 2>/dev/null)
while [ "$all" != "$before" ]; do
  before=$all
  while read -r process parent group; do
    case $all in *" $process "*) continue ;; esac
    case $all in *" $parent "*|*" $group "*) all="$all$process " ;; esac
  done <<END
$list
END
done
for signal in TERM TERM TERM TERM TERM KILL KILL KILL; do
  found=
  [ -n "$2" ] && kill -s "$signal" -- "-$2" 2>/dev/null && found=1
  for process in $all; do kill -s "$signal" "$process" 2>/dev/null && found=1; done
  [ -z "$1" ] || for process in /proc/[0-9]*; do
    grep -q -z "^$1" "$process/environ" && kill -s "$signal" "\${process#/proc/}" && found=1
  done 2>/dev/null
  [ -z "$found" ] && exit
  sleep 0.2
done`;

/** Gives the marks for the environments of programs. All children of a program inherit its mark. */
class Guard {
  #prefix = "";
  #count = 0;

  /** Mark for another program. */
  mark(): string {
    if (this.#prefix === "") {
      this.#prefix = `${randomUUID()}.`;
      if (process.platform === "linux") startShell([`${MARKER_VARIABLE}=${this.#prefix}`]);
    }
    this.#count += 1;
    return `${this.#prefix}${this.#count}`;
  }
}

/** Shared by all programs of this process. */
export const guard = new Guard();

/**
 * For a program whose environment must not have a mark. The shell keeps the program's stdin open while it lists the
 * descendants, because those of an ended program cannot be found. Returns the end of the guard.
 */
export function guardGroup(group: number, stdin: Writable): () => void {
  const input = startShell(["", String(group)], stdin);
  return () => void input.end("done\n");
}

function startShell(args: readonly string[], held?: Writable): Writable {
  const shell = spawn("sh", ["-c", SCRIPT, "hermes-guard", ...args], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore", held ?? "ignore"],
  });
  shell.on("error", () => undefined); // a machine without a shell runs no commands
  shell.unref();
  const { stdin } = shell;
  if (stdin === null) throw new Error("the guard has no stdin"); // it is a pipe
  stdin.on("error", () => undefined); // the user ended the shell: the programs continue without it
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  return stdin;
}
