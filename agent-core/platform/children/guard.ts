/**
 * Ends commands whose agent has died without ending them. A small shell waits on a pipe that only we hold; when it
 * closes, whatever still carries a mark of ours is ended. Linux, where marks can be read.
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
  readonly #prefix = `${randomUUID()}.`;
  #count = 0;

  /** A mark for a further command. */
  mark(): string {
    if (this.#count === 0 && process.platform === "linux") watch(this.#prefix);
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
  guard.on("error", () => undefined); // without a shell there are no commands either
  guard.stdin.on("error", () => undefined); // it was ended: the commands go on without it
  guard.unref();
  if ("unref" in guard.stdin && typeof guard.stdin.unref === "function") guard.stdin.unref();
}
