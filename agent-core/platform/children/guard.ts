/**
 * Ends the commands of an agent that was killed. A small shell waits on a pipe that only the agent holds; when the pipe
 * closes, the shell ends all processes with a mark of the agent. Works on Linux, where marks can be read.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { MARKER_VARIABLE } from "./process-tree.ts";

const SCRIPT = `trap '' HUP INT TERM
read -r _
for signal in TERM TERM TERM TERM TERM KILL KILL KILL; do
  found=
  for process in /proc/[0-9]*; do
    grep -q -z "^$1" "$process/environ" && found="$found \${process#/proc/}"
  done 2>/dev/null
  [ -z "$found" ] && exit
  kill -s "$signal" $found 2>/dev/null
  sleep 0.2
done`;

export class Guard {
  #prefix = "";
  #count = 0;

  /** Mark for another command. */
  mark(): string {
    if (this.#prefix === "") {
      this.#prefix = `${randomUUID()}.`;
      if (process.platform === "linux") watch(this.#prefix);
    }
    this.#count += 1;
    return `${this.#prefix}${this.#count}`;
  }
}

function watch(prefix: string): void {
  const guard = spawn("sh", ["-c", SCRIPT, "hermes-guard", `${MARKER_VARIABLE}=${prefix}`], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.on("error", () => undefined); // a machine without a shell runs no commands
  guard.stdin.on("error", () => undefined); // the user ended the shell: the commands continue without it
  guard.unref();
  if ("unref" in guard.stdin && typeof guard.stdin.unref === "function") guard.stdin.unref();
}
