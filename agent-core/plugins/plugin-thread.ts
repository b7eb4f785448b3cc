/** Thread of a plugin: loads its index.js, collects its registrations, and runs its handlers. */
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { type MessagePort, workerData } from "node:worker_threads";
import { messageOf } from "../platform/errors.ts";
import type { FromPlugin, ToPlugin } from "./plugin-messages.ts";
import { type PluginHandler, type PluginSurface, pluginSurface } from "./plugin-surface.ts";

/** Limit of one result or message, in characters. A longer text belongs in a file. */
const MAX_CHARS = 4_000_000;
/** Limits of log lines: their length, and their number in one second. */
const LINE_CHARS = 2_000;
const LINES_PER_SECOND = 100;
/** Progress is sent at most this often. */
const SHOW_MS = 50;

const port = workerData as MessagePort; // set by plugin-process.ts for the thread

const running = new Map<number, AbortController>();
let surface: PluginSurface | undefined;

const send = (message: FromPlugin): void => port.postMessage(message);

/** Serves the messages of the agent, in the thread. */
export function runPlugin(): void {
  for (const name of ["log", "info", "warn", "error", "debug"] as const) {
    console[name] = (...parts: unknown[]) => log(format(...parts)); // nobody reads the output of this process
  }
  port.on("message", (message: ToPlugin) => {
    switch (message.type) {
      case "start":
        void start(message);
        return;
      case "call":
        void answer(message);
        return;
      case "cancel":
        running.get(message.id)?.abort();
        send({ type: "cancelled", id: message.id });
        return;
    }
  });
}

async function start({ entry, config }: Extract<ToPlugin, { type: "start" }>): Promise<void> {
  try {
    const module = (await import(pathToFileURL(entry).href)) as Record<string, unknown>;
    const register = registerOf(module);
    if (register === undefined) throw new Error("it exports no function register(ctx), by name or as default");
    surface = pluginSurface({ config, log, folder: dirname(entry) });
    await register(surface.context);
    surface.close();
    await checkSchemas(surface);
    send({ type: "registered", registrations: surface.registrations });
  } catch (error) {
    send({ type: "stopped", reason: `index.js could not be loaded: ${messageOf(error)}` });
  }
}

/** A provider would refuse every request with an invalid schema. Throws an Error that names the tool. */
async function checkSchemas({ registrations }: PluginSurface): Promise<void> {
  const tools = registrations.filter((one) => one.kind === "tool");
  if (tools.length === 0) return;
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/client/validators/ajv");
  const validator = new AjvJsonSchemaValidator();
  for (const { name, parameters } of tools) {
    try {
      validator.getValidator(parameters);
    } catch (error) {
      throw new Error(`registerTool ${name}: parameters is not a valid JSON schema: ${messageOf(error)}`);
    }
  }
}

type Register = (context: PluginSurface["context"]) => unknown;

function registerOf(module: Record<string, unknown>): Register | undefined {
  const { default: main, register } = module;
  const candidates = [main, register, Object(main).register];
  return candidates.find((candidate): candidate is Register => typeof candidate === "function");
}

async function answer({ id, handler, input, facts }: Extract<ToPlugin, { type: "call" }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const progress = latestOnly((text) => send({ type: "show", id, text }));
  try {
    const run: PluginHandler | undefined = surface?.handlers[handler];
    if (run === undefined) throw new Error(`There is no handler ${handler}.`);
    const value = await run(input, { ...facts, signal: controller.signal, show: progress.show });
    progress.flush();
    send({ type: "result", id, json: jsonOf(value) });
  } catch (error) {
    send({ type: "failure", id, message: messageOf(error).slice(0, MAX_CHARS) });
  } finally {
    progress.flush();
    running.delete(id);
  }
}

/** Throws when the value cannot be sent. */
function jsonOf(value: unknown): string {
  const json = ["function", "symbol"].includes(typeof value) ? "null" : JSON.stringify(value ?? null);
  if (json.length <= MAX_CHARS) return json;
  throw new Error(
    `the result has ${json.length} characters. At most ${MAX_CHARS} are possible; write the rest to a file`,
  );
}

type Progress = { readonly show: (text: unknown) => void; flush(): void };

function latestOnly(deliver: (text: string) => void): Progress {
  let latest: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (latest !== undefined) deliver(latest);
    latest = undefined;
  };
  return {
    flush,
    show(text) {
      latest = String(text).slice(0, MAX_CHARS);
      timer ??= setTimeout(flush, SHOW_MS);
    },
  };
}

const lines = { second: 0, count: 0 };

function log(text: unknown): void {
  const second = Math.floor(performance.now() / 1_000);
  if (second !== lines.second) Object.assign(lines, { second, count: 0 });
  lines.count += 1;
  if (lines.count > LINES_PER_SECOND) return;
  const line = lines.count === LINES_PER_SECOND ? "(more lines in this second are left out)" : String(text);
  send({ type: "log", line: line.slice(0, LINE_CHARS) });
}
