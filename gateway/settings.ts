/** Settings of the gateway: `platforms`, `gateway`, `session_reset` and `display` of config.yaml, and the variables of the original. */
import { createHash } from "node:crypto";
import { isAbsolute, join, relative } from "node:path";
import { loadConfig } from "../agent-core/config/config.ts";
import { type Environment, homeFolder } from "../agent-core/config/home.ts";
import type { Config } from "../agent-core/config/sections.ts";
import { UsageError } from "../agent-core/platform/errors.ts";
import { statOf } from "../agent-core/platform/paths.ts";
import type { AdapterSettings } from "./adapters/adapter.ts";

/** Built-in platforms, with the variable whose presence switches each on. */
export const PLATFORMS = {
  telegram: "TELEGRAM_BOT_TOKEN",
  discord: "DISCORD_BOT_TOKEN",
  slack: "SLACK_BOT_TOKEN",
  whatsapp: "WHATSAPP_CLOUD_ACCESS_TOKEN",
} as const;

export type PlatformSettings = {
  /** `telegram`, or the name of an adapter of the user's own. */
  readonly name: string;
  readonly section: Config["platforms"][string];
  readonly adapter: AdapterSettings;
  /** Module of an adapter of the user's own, absolute; undefined for a built-in one. */
  readonly module: string | undefined;
  /** Ids of those who may write. */
  readonly allowed: ReadonlySet<string>;
  /** Chat for messages that name none. */
  readonly homeChat: string | undefined;
  /** Hash of the token, for the lock of this machine. */
  readonly fingerprint: string;
};

export type GatewaySettings = {
  /** Hermes' home folder. */
  readonly home: string;
  /** Folder of the gateway's own files. */
  readonly folder: string;
  /** Folder that chats work in, absolute; undefined until `hermes gateway setup` names it. */
  readonly workspace: string | undefined;
  readonly platforms: readonly PlatformSettings[];
  readonly reset: Config["sessionReset"];
  readonly display: Config["display"];
  /** Each person of a group has a session of their own. */
  readonly sessionPerUser: boolean;
  readonly environment: Environment;
  /** One line each. */
  readonly warnings: readonly string[];
};

/** Folder of the gateway's own files: pairing, ledger, chats. The agent's policy protects it. */
export function gatewayFolder(home: string): string {
  return join(home, "gateway");
}

/** Reads config.yaml and `.env` of the home. Never fails. */
export async function gatewaySettings(environment: Environment): Promise<GatewaySettings> {
  const home = homeFolder(environment);
  const { config, environment: merged, warnings, errors } = await loadConfig(home, environment);
  const named = Object.entries(config.platforms).filter(([, section]) => section.adapter !== undefined);
  const names = new Set([...Object.keys(PLATFORMS), ...named.map(([name]) => name)]);
  const platforms = [...names].flatMap((name) => platformSettings(name, config, merged, home) ?? []);
  const open = ["GATEWAY", ...platforms.map(({ name }) => name.toUpperCase())].map((name) => `${name}_ALLOW_ALL_USERS`);
  const ignored = open.filter((name) => /^(?:1|true|yes|on)$/i.test(merged[name] ?? ""));
  return {
    home,
    folder: gatewayFolder(home),
    workspace: merged["HERMES_GATEWAY_FOLDER"] || config.gateway.folder,
    platforms,
    reset: config.sessionReset,
    display: config.display,
    sessionPerUser: config.gateway.groupSessionsPerUser,
    environment: merged,
    warnings: [
      ...errors,
      ...warnings,
      ...ignored.map((name) => `${name} has no effect: strangers would command this machine. List ids instead.`),
    ],
  };
}

function platformSettings(
  name: string,
  config: Config,
  environment: Environment,
  home: string,
): PlatformSettings | undefined {
  const section: PlatformSettings["section"] = config.platforms[name] ?? { require_mention: true };
  const prefix = name.toUpperCase().replaceAll("-", "_");
  const variables = ownVariables(prefix, environment);
  const tokenName = Object.entries(PLATFORMS).find(([known]) => known === name)?.[1];
  const token = tokenName === undefined ? `${name}:${home}` : (section.token ?? variables[tokenName]);
  const isOn = section.enabled ?? token !== undefined;
  if (!isOn || (token === undefined && section.adapter === undefined)) return undefined;
  const listed = [variables[`${prefix}_ALLOWED_USERS`], environment["GATEWAY_ALLOWED_USERS"]];
  const { adapter } = section;
  return {
    name,
    section,
    adapter: { section, variables: tokenName === undefined ? variables : { ...variables, [tokenName]: token } },
    module: adapter === undefined || isAbsolute(adapter) ? adapter : join(gatewayFolder(home), "adapters", adapter),
    allowed: new Set([...(section.allowed_users ?? []), ...listed.flatMap((list) => list?.match(/[^\s,;]+/g) ?? [])]),
    homeChat: section.home_channel ?? variables[`${prefix}_HOME_CHANNEL`],
    fingerprint: createHash("sha256").update(`${name}:${token}`).digest("hex").slice(0, 32),
  };
}

/** Only the platform's own variables reach the adapter's process. */
function ownVariables(prefix: string, environment: Environment): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(environment).filter(([key]) => key.startsWith(`${prefix}_`)));
}

/**
 * The folder that chats work in. Throws a UsageError when none is named, when there is no such folder, and when it holds the
 * home or lies in it.
 */
export function workspaceOf({ workspace, home }: Pick<GatewaySettings, "workspace" | "home">): string {
  if (workspace === undefined) throw new UsageError("No folder is chosen for chats. Run `hermes gateway setup`.");
  if (!isAbsolute(workspace)) throw new UsageError(`gateway.folder: ${workspace} is not an absolute path.`);
  if (statOf(workspace)?.isDirectory() !== true)
    throw new UsageError(`gateway.folder: there is no folder ${workspace}.`);
  const overlaps = [relative(workspace, home), relative(home, workspace)].some((way) => !way.startsWith(".."));
  if (overlaps)
    throw new UsageError(`gateway.folder: ${workspace} holds the Hermes home or lies in it. Choose another.`);
  return workspace;
}
