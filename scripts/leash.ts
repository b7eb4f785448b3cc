// node leash.ts COMMAND ARGUMENT… : runs a command in a process group of its own, and ends the whole group when this
// process's standard input closes. Whoever started it holds the other end, so the group ends with its starter,
// however that came to its end.
import { spawn } from "node:child_process";

const POLL_MS = 50;

/** What lives in the group gets this long to end by itself: extension hosts do, file watchers take longer. */
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
// Ctrl+C reaches every process of the terminal: the order to end comes from the starter.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

function endGroup(code: number): void {
  if (ending) return;
  ending = true;
  // Only the command itself: its children notice that it is gone, and end in order.
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

/** Sends `signal` (0 only asks) to the group. False when nobody is left in it. */
function signalGroup(signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-Number(group), signal);
  } catch {
    return false;
  }
}
