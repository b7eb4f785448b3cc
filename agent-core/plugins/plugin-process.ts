/**
 * Entry of a plugin's process. The plugin runs in a thread of it: an endless loop there does not keep the first thread from
 * ending the process with the agent. A thread of the agent's own process would not do: V8 ends the whole process when one
 * allocation exceeds the memory limit of a thread, as a growing Map does.
 */
import { isMainThread, MessageChannel, Worker } from "node:worker_threads";
import { attempt, messageOf } from "../platform/errors.ts";
import type { FromPlugin, ToPlugin } from "./plugin-messages.ts";
import { runPlugin } from "./plugin-thread.ts";

/** Memory of a plugin's objects; enough to parse a JSON file of 50 MB. */
const MEMORY_MB = 512;

if (isMainThread) relayMessages();
else runPlugin();

function relayMessages(): void {
  // The plugin's code may use the thread's own port.
  const { port1: here, port2: there } = new MessageChannel();
  const thread = new Worker(new URL(import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    workerData: there,
    transferList: [there],
  });
  process.on("message", (message: ToPlugin) => here.postMessage(message));
  process.on("disconnect", endGroup);
  here.on("message", (message: FromPlugin) => send(message));
  thread.once("error", (error) => stop(`it crashed (${messageOf(error).split("\n", 1)[0]})`));
  thread.once("exit", (code) => stop(`it ended itself (exit code ${code})`));
}

function send(message: FromPlugin, onSent: () => void = () => undefined): void {
  process.send?.(message, undefined, undefined, onSent);
}

let isStopped = false;

function stop(reason: string): void {
  if (isStopped) return;
  isStopped = true;
  send({ type: "stopped", reason }, endGroup);
}

/** Ends this process and the programs that the plugin started. */
function endGroup(): void {
  // The process may lead no group.
  if (process.platform !== "win32") attempt(() => process.kill(-process.pid, "SIGKILL"));
  process.exit();
}
