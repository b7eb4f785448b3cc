/** Runs the gateway until a signal ends it: one process for each token on this machine. */
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { readJsonFile, writeJsonFile } from "../agent-core/config/home-file.ts";
import { messageOf, UsageError } from "../agent-core/platform/errors.ts";
import { acquireLock, type FileLock, lockHolder } from "../agent-core/platform/locks/file-lock.ts";
import { makeFolder } from "../agent-core/platform/make-folder.ts";
import type { LinkState } from "./adapters/adapter-link.ts";
import { Gateway, type GatewayOptions } from "./gateway.ts";
import { type GatewaySettings, gatewayFolder, type PlatformSettings } from "./settings.ts";

const statusSchema = z.object({
  pid: z.number(),
  /** Milliseconds since 1970. */
  since: z.number(),
  platforms: z.record(z.string(), z.object({ kind: z.string(), reason: z.string().exactOptional() })),
});
type Status = z.infer<typeof statusSchema>;

export type RunOptions = Omit<GatewayOptions, "onState"> & { readonly signal: AbortSignal };

/** `taken`: another process serves a token. `lost`: no platform can be used any more. */
export type RunEnd = "ended" | "taken" | "lost";

/** Runs until the signal. Throws a UsageError when nothing can be served. */
export async function runGateway({ settings, signal, log, clock, ...options }: RunOptions): Promise<RunEnd> {
  if (settings.platforms.length === 0) throw new UsageError("No platform is set up. Run `hermes gateway setup`.");
  for (const warning of settings.warnings) log(warning);
  const locks = takeLocks(settings.platforms, log);
  if (locks === undefined) return "taken";
  const lost = Promise.withResolvers<RunEnd>();
  const status: Status = { pid: process.pid, since: clock.now(), platforms: {} };
  let writing: Promise<void> = Promise.resolve();
  const onState = (platform: string, state: LinkState): void => {
    status.platforms[platform] = { kind: state.kind, ...("reason" in state && { reason: state.reason }) };
    writing = writing
      .then(() => writeJsonFile(statusFile(settings.home), status))
      .catch((error: unknown) => log(messageOf(error)));
    const all = Object.values(status.platforms);
    if (all.length === settings.platforms.length && all.every(({ kind }) => kind === "failed")) lost.resolve("lost");
  };
  try {
    const gateway = new Gateway({ ...options, settings, clock, log, onState });
    const ended = new Promise<RunEnd>((resolve) => {
      if (signal.aborted) resolve("ended");
      signal.addEventListener("abort", () => resolve("ended"), { once: true });
    });
    const end = await Promise.race([ended, lost.promise]);
    log("The gateway ends; it finishes what runs.");
    await gateway.dispose();
    await writing;
    return end;
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Lines about the running gateway, or about the set-up when none runs. */
export async function statusLines(settings: GatewaySettings): Promise<readonly string[]> {
  const status = statusSchema.safeParse(await readJsonFile(statusFile(settings.home))).data;
  const holders = settings.platforms.map((platform) => lockHolder(lockOf(platform))?.pid);
  const isRunning = status !== undefined && holders.includes(status.pid);
  const head = isRunning
    ? `The gateway runs (process ${status.pid}, since ${new Date(status.since).toISOString()}).`
    : "The gateway does not run.";
  const lines = settings.platforms.map(({ name, allowed }) => {
    const state = isRunning ? status.platforms[name] : undefined;
    const shown =
      state === undefined ? "set up" : [state.kind, ...(state.reason === undefined ? [] : [state.reason])].join(": ");
    return `${name.padEnd(10)} ${shown}; ${allowed.size} listed ${allowed.size === 1 ? "id" : "ids"}`;
  });
  const none = settings.platforms.length === 0 ? ["No platform is set up. Run `hermes gateway setup`."] : [];
  return [head, ...lines, ...none, ...settings.warnings];
}

function statusFile(home: string): string {
  return join(gatewayFolder(home), "status.json");
}

/** The same for all homes of this user: two homes may have one token. */
function lockOf({ fingerprint }: PlatformSettings): string {
  return join(tmpdir(), `hermes-gateway-${userInfo().uid}`, `${fingerprint}.lock`);
}

/** Undefined when another process serves a token. */
function takeLocks(
  platforms: readonly PlatformSettings[],
  log: (line: string) => void,
): readonly FileLock[] | undefined {
  const taken: FileLock[] = [];
  for (const platform of platforms) {
    const path = lockOf(platform);
    makeFolder(join(path, ".."), 0o700);
    const lock = acquireLock(path);
    if ("release" in lock) {
      taken.push(lock);
      continue;
    }
    log(`${platform.name}: process ${lock.pid} serves this token already. Stop it first.`);
    for (const each of taken) each.release();
    return undefined;
  }
  return taken;
}
