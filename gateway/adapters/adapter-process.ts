/** Entry of an adapter's process: loads the adapter, and passes calls and events on. It ends with the gateway. */
import { pathToFileURL } from "node:url";
import { messageOf, UsageError } from "../../agent-core/platform/errors.ts";
import type { Adapter, AdapterModule, Incoming } from "./adapter.ts";
import type { FromAdapter, ToAdapter } from "./adapter-messages.ts";

/** Time for the platform's goodbye. Milliseconds. */
const DISCONNECT_MS = 2_000;

const builtIn: Readonly<Record<string, () => Promise<AdapterModule>>> = {
  discord: () => import("./discord/discord.ts"),
  slack: () => import("./slack/slack.ts"),
  whatsapp: () => import("./whatsapp/whatsapp.ts"),
  telegram: () => import("./telegram/telegram.ts"),
};

const waiting = new Map<number, () => void>();
let events = 0;
let adapter: Adapter | undefined;

process.on("message", (message: ToAdapter) => void handle(message));
process.on("disconnect", () => process.exit());
// The gateway decides when the adapter ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

function post(message: FromAdapter): void {
  if (process.connected) process.send?.(message, () => undefined);
}

async function handle(message: ToAdapter): Promise<void> {
  switch (message.type) {
    case "start":
      return start(message);
    case "stored":
      waiting.get(message.id)?.();
      waiting.delete(message.id);
      return;
    case "call":
      return answer(message);
    case "stop": {
      const timer = setTimeout(() => process.exit(), DISCONNECT_MS);
      await adapter?.disconnect().catch(() => undefined);
      clearTimeout(timer);
      process.exit();
    }
  }
}

async function start({
  adapter: which,
  settings,
  saved,
  receives,
}: Extract<ToAdapter, { type: "start" }>): Promise<void> {
  try {
    adapter = (await load(which)).makeAdapter(settings);
    const methods = (["edit", "stream", "sendFile", "fetchFile", "typing"] as const).filter(
      (name) => adapter?.[name] !== undefined,
    );
    // A server of the user's own may have other limits than the public one.
    const limits = { ...adapter.limits, ...Object(settings.section["limits"]) };
    post({ type: "made", limits, methods });
    if (!receives) return;
    await adapter.connect({
      saved,
      receive: deliver,
      save: (state) => post({ type: "save", state }),
      log: (line) => post({ type: "log", line }),
      fail: (kind, reason) => post({ type: "failed", kind, reason }),
    });
    post({ type: "connected" });
  } catch (error) {
    const kind = error instanceof UsageError ? "unusable" : "unreachable";
    post({ type: "failed", kind, reason: messageOf(error) });
  }
}

async function load(which: Extract<ToAdapter, { type: "start" }>["adapter"]): Promise<AdapterModule> {
  if ("module" in which) return import(pathToFileURL(which.module).href) as Promise<AdapterModule>;
  const module = builtIn[which.name];
  if (module === undefined) throw new UsageError(`there is no platform ${which.name}`);
  return module();
}

function deliver(event: Incoming): Promise<void> {
  events += 1;
  const id = events;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    post({ type: "event", id, event });
  });
}

async function answer({ id, method, args }: Extract<ToAdapter, { type: "call" }>): Promise<void> {
  try {
    // The other side calls the methods with the arguments that their types demand.
    const call = adapter?.[method]?.bind(adapter) as ((...args: readonly unknown[]) => Promise<never>) | undefined;
    post({ type: "result", id, value: await call?.(...args) });
  } catch (error) {
    post({ type: "error", id, reason: messageOf(error) });
  }
}
