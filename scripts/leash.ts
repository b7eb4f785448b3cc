// node leash.ts COMMAND ARGUMENT… : runs a command in its own process group and ends the whole group when standard
// input closes. The starter holds the other end of that pipe, so the group never outlives it, even after a kill.
import { spawn } from "node:child_process";

const POLL_MS = 50;

/** Time for the group to end by itself. Extension hosts do; file watchers take longer. */
const ASK_AFTER_MS = 2500;
const KILL_AFTER_MS = 3000;

const [command, ...args] = process.argv.slice(2);
if (command === undefined) throw new Error("usage: node leash.ts COMMAND ARGUMENT…");

const child = spawn(command, args, { detached: true, stdio: ["ignore", "inherit", "inherit"] });
const group = child.pid;
if (group === undefined) throw new Error(`${command} could not be started`);

let ending = false;
child.once("exit", (code) => endGroup(code ?? 1));
process.stdin
  .once("end", () => endGroup(0))
  .once("error", () => endGroup(0))
  .resume();
// Ctrl+C reaches every process of the terminal. The starter decides when the group ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

function endGroup(code: number): void {
  if (ending) return;
  ending = true;
  // Only the command itself gets the signal. Its children notice its end and end in order.
  child.kill("SIGTERM");
  const started = Date.now();
  let asked = false;
  const poll = setInterval(() => {
    const waited = Date.now() - started;
    if (signalGroup(0) && waited < KILL_AFTER_MS) {
      if (waited >= ASK_AFTER_MS && !asked) asked = signalGroup("SIGTERM");
      return;
    }
    clearInterval(poll);
    signalGroup("SIGKILL");
    process.exit(code);
  }, POLL_MS);
}

/** Sends `signal` to the group; 0 only checks for it. Returns false when the group is empty. */
function signalGroup(signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-Number(group), signal);
  } catch {
    return false;
  }
}
