/** Settings of MCP servers, from the home's config.yaml and from the client of the session. */
import { join } from "node:path";
import type { McpServer } from "@zed-industries/agent-client-protocol";
import { contentHash } from "../approval/consents.ts";
import type { McpServerSection } from "../config/sections.ts";
import { commandWords } from "../platform/find-program.ts";
import { matchesWildcards } from "../platform/wildcards.ts";
import { redact } from "../providers/redact.ts";

/** Place of the settings. The user chose the servers of `config` and `editor`; a workspace brings its own along. */
export type ServerSource = "config" | "editor" | "workspace";

export type StdioSettings = {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute, or relative to the session's folder. Default: the session's folder. */
  readonly cwd: string | undefined;
};

export type HttpSettings = {
  /** `http`: streamable HTTP, with SSE as the fallback. `sse`: the older transport alone. */
  readonly kind: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `oauth`: the user signs in. */
  readonly auth: "oauth" | undefined;
  /** Registration of Hermes at the issuer. Default: Hermes registers itself. */
  readonly oauth: McpServerSection["oauth"];
};

/** A server of the session's client, over the client's own connection. `id`: unique in this process. */
export type CarriedSettings = { readonly kind: "acp"; readonly id: string };

/** Sends a request to a server of the client, and resolves to the outcome in the form of MCP. */
export type Carry = (
  request: { readonly id: string | number; readonly method: string; readonly params?: unknown },
  signal: AbortSignal,
) => Promise<unknown>;

export type ServerConfig = {
  readonly name: string;
  readonly source: ServerSource;
  /** Name of the source for display: `config.yaml`, `.mcp.json`. */
  readonly sourceName: string;
  /** File that defines the server; absolute. */
  readonly path?: string;
  readonly settings: StdioSettings | HttpSettings | CarriedSettings;
  readonly carry?: Carry;
  /** Idle timeout of a call: progress restarts it. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Only these tools; undefined: all. `*` matches any characters. */
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[];
  /** Offer the server's resources and prompts. */
  readonly resources: boolean;
  readonly prompts: boolean;
  readonly isEnabled: boolean;
};

export type ServerConfigs = {
  readonly servers: readonly ServerConfig[];
  /** One line for each server that cannot be used. */
  readonly problems: readonly string[];
};

/** Default idle timeout of a call. Seconds. */
const CALL_TIMEOUT_SECONDS = 120;
/** Default timeout of a start: the first start of an `npx` server downloads its package. Seconds. */
const CONNECT_TIMEOUT_SECONDS = 60;

const DEFAULTS = {
  timeoutMs: CALL_TIMEOUT_SECONDS * 1_000,
  connectTimeoutMs: CONNECT_TIMEOUT_SECONDS * 1_000,
  include: undefined,
  exclude: [],
  resources: true,
  prompts: true,
  isEnabled: true,
};

/** Servers of the section `mcp_servers`, or of another file in its form. */
export function serversFrom(
  sections: Readonly<Record<string, McpServerSection>>,
  from: Pick<ServerConfig, "source" | "sourceName" | "path">,
): ServerConfigs {
  const servers: ServerConfig[] = [];
  const problems: string[] = [];
  for (const [name, section] of Object.entries(sections)) {
    const settings = settingsOf(section);
    if (settings === undefined) {
      problems.push(`${from.sourceName}: the MCP server ${name} needs either \`command\` or \`url\`. It is not used.`);
      continue;
    }
    const {
      timeout = CALL_TIMEOUT_SECONDS,
      connect_timeout: connect = CONNECT_TIMEOUT_SECONDS,
      tools,
      enabled,
    } = section;
    const timeouts = { timeoutMs: timeout * 1_000, connectTimeoutMs: connect * 1_000 };
    servers.push({ ...from, name, settings, ...timeouts, ...tools, include: tools.include, isEnabled: enabled });
  }
  return { servers, problems };
}

function settingsOf(section: McpServerSection): ServerConfig["settings"] | undefined {
  const { command, args, env, cwd, url, headers, auth, oauth, type, transport = type } = section;
  if (command !== undefined && url === undefined) {
    // Some write the whole line as the command. A path may have blanks of its own.
    const isLine = args.length === 0 && /^[\w.-]+\s/.test(command);
    const [program = command, ...rest] = isLine ? commandWords(command) : [command, ...args];
    return { kind: "stdio", command: program, args: rest, env, cwd };
  }
  if (command !== undefined || url === undefined || !/^https?:/.test(url) || !URL.canParse(url)) return undefined;
  return { kind: transport === "sse" ? "sse" : "http", url, headers, auth, oauth };
}

/** File of a workspace with a table of servers. */
export type ServerFile = {
  /** Workspace folder, absolute. */
  readonly folder: string;
  /** Relative to the folder. */
  readonly name: string;
  readonly path: string;
  readonly key: string;
};

const VSCODE_FILE = ".vscode/mcp.json";
const OTHER_FILES = [".cursor/mcp.json", ".roo/mcp.json", ".kilocode/mcp.json", ".gemini/settings.json"];

/** The files that may exist in workspace folders. The first one that defines a server wins. */
export function serverFiles(folders: readonly string[]): readonly ServerFile[] {
  return folders.flatMap((folder) =>
    [".mcp.json", VSCODE_FILE, ...OTHER_FILES].map((name) => {
      return { name, key: name === VSCODE_FILE ? "servers" : "mcpServers", folder, path: join(folder, name) };
    }),
  );
}

/** A server of the client itself. */
export function carriedServer(name: string, id: string, carry: Carry): ServerConfig {
  return { ...DEFAULTS, name, source: "editor", sourceName: "editor", settings: { kind: "acp", id }, carry };
}

/** Servers of `mcpServers` in a request of the client. */
export function editorServers(servers: readonly McpServer[]): ServerConfigs {
  const usable: ServerConfig[] = [];
  const problems: string[] = [];
  for (const server of servers) {
    const settings = editorSettings(server);
    const { name } = server;
    if (settings !== undefined) usable.push({ ...DEFAULTS, name, source: "editor", sourceName: "editor", settings });
    else problems.push(`The editor's MCP server ${name} has no valid http(s) address. It is not used.`);
  }
  return { servers: usable, problems };
}

function editorSettings(server: McpServer): ServerConfig["settings"] | undefined {
  if ("command" in server) {
    const { command, args, env } = server;
    return { kind: "stdio", command, args, env: byName(env), cwd: undefined };
  }
  const { type: kind, url, headers } = server;
  if (!/^https?:/.test(url) || !URL.canParse(url)) return undefined;
  return { kind, url, headers: byName(headers), auth: undefined, oauth: undefined };
}

function byName(pairs: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

/** Servers by name; a later list overrides an earlier one. */
export function mergeServers(...lists: readonly (readonly ServerConfig[])[]): readonly ServerConfig[] {
  return [...new Map(lists.flat().map((server) => [server.name, server])).values()];
}

/** Identity of a server for grants and consents: the program or address that it is, not its name. */
export function serverHash({ settings }: ServerConfig): string {
  return contentHash(settings);
}

/** The command line or address for display, in one line without keys. */
export function serverDetail({ settings }: ServerConfig): string {
  if (settings.kind === "acp") return "a part of the editor";
  return withoutKeys(
    settings.kind === "stdio" ? [settings.command, ...settings.args].map(quoted).join(" ") : settings.url,
  );
}

/** Values of options, variables and query parameters whose names are those of keys. */
const NAMED_KEY =
  /((?:^|[\s"?&;-])[\w-]*(?:key|token|secret|password|passwd|credential|auth)[\w-]*(?:=|:?\s+)"?)(?!\$\{)[^\s"&;]{6,}/gi;

/** The text with `[key]` in place of values that look like keys. */
export function withoutKeys(text: string): string {
  return redact(text).replaceAll(NAMED_KEY, "$1[key]");
}

/** A word of a command line for display. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word);
}

export function offersTool({ include, exclude }: ServerConfig, tool: string): boolean {
  const isIn = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesWildcards(pattern, tool));
  return (include === undefined || isIn(include)) && !isIn(exclude);
}
