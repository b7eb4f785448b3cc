/** The MCP servers of one session: their tools, their list for the user, and the user's actions on them. */
import type { Extension, ExtensionCommand, ExtensionSession } from "../agent/extensions.ts";
import type { HermesExtensionAction, HermesExtensionItem } from "../protocol/extensions.ts";
import type { Tool } from "../tools/tool.ts";
import { hub, type ServerLease } from "./hub.ts";
import { resourceTools, type SessionServer, ToolNames, toolsOf } from "./mcp-tool.ts";
import { promptCommands } from "./prompt-commands.ts";
import { offersTool, type ServerConfig, serverDetail } from "./server-config.ts";
import type { Listing, ServerConnection } from "./server-connection.ts";
import { serverUser } from "./server-user.ts";

export type SessionServersOptions = {
  readonly servers: readonly ServerConfig[];
  /** One line for each server that cannot be used. */
  readonly problems: readonly string[];
  /** Working folder, absolute. */
  readonly cwd: string;
  /** Further workspace folders, absolute. */
  readonly otherFolders: readonly string[];
  /** Servers start once the user trusts the workspace. */
  readonly trusted: () => boolean;
};

/** One server of the session. */
type Entry = {
  readonly config: ServerConfig;
  isOn: boolean;
  /** Tools that the user switched off, by the server's names. */
  readonly toolsOff: Set<string>;
  lease: ServerLease | undefined;
  /** Error that the user has seen. */
  shownError: string | undefined;
  /** Tools of the last listing. */
  made: { readonly listing: Listing; readonly tools: readonly Tool[] } | undefined;
};

export class SessionServers implements Extension {
  readonly name = "mcp";
  readonly ready: Promise<unknown>;
  readonly #options: SessionServersOptions;
  readonly #entries: readonly Entry[];
  readonly #listeners = new Set<() => void>();
  readonly #session: ExtensionSession;
  readonly #names = new ToolNames();
  readonly #samplingAllowed = new Set<string>();
  #tools: readonly Tool[] = [];

  /** Starts the servers in the background. */
  constructor(options: SessionServersOptions, session: ExtensionSession) {
    this.#options = options;
    this.#session = session;
    this.#entries = options.servers.map((config) => ({
      config,
      isOn: config.isEnabled,
      toolsOff: new Set<string>(),
      lease: undefined,
      shownError: undefined,
      made: undefined,
    }));
    for (const message of options.problems) session.status({ severity: "warning", message });
    this.#startAll();
    this.ready = Promise.all(this.#entries.map(({ lease }) => lease?.connection.started));
  }

  tools(): readonly Tool[] {
    this.#startAll(); // the user may trust the workspace by now
    const tools = this.#entries.flatMap((entry) => this.#toolsOf(entry));
    const isSame = tools.length === this.#tools.length && tools.every((tool, index) => tool === this.#tools[index]);
    if (!isSame) this.#tools = tools;
    return this.#tools;
  }

  commands(): readonly ExtensionCommand[] {
    return this.#entries.flatMap((entry) => {
      const server = this.#usable(entry);
      return server === undefined ? [] : promptCommands(server, this.#session.ask);
    });
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  items(): readonly HermesExtensionItem[] {
    return this.#entries.map((entry) => this.#itemOf(entry));
  }

  /** Returns the outcome in one line. Rejects with an Error in one line. */
  async act(id: string, action: HermesExtensionAction, argument?: string): Promise<string> {
    const entry = this.#entries.find(({ config }) => itemId(config) === id);
    if (entry === undefined) throw new Error(`there is no MCP server ${id}`);
    const { name } = entry.config;
    switch (action) {
      case "enable":
      case "disable":
        return argument === undefined
          ? this.#switchServer(entry, action === "enable")
          : this.#switchTool(entry, argument, action === "enable");
      case "restart":
        if (entry.lease === undefined) return this.#switchServer(entry, true);
        await entry.lease.connection.start();
        return `${name}: ${describe(entry.lease.connection)}`;
      default:
        throw new Error(`${name} does not offer the action ${action}`);
    }
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#entries.map((entry) => this.#stop(entry)));
  }

  #startAll(): void {
    if (!this.#options.trusted()) return;
    for (const entry of this.#entries) if (entry.isOn && entry.lease === undefined) this.#start(entry);
  }

  #start(entry: Entry): void {
    const { cwd, otherFolders } = this.#options;
    const roots = [cwd, ...otherFolders];
    entry.lease = hub.lease({ config: entry.config, folder: cwd, roots, onChange: () => this.#changed(entry) });
  }

  async #stop(entry: Entry): Promise<void> {
    const { lease } = entry;
    entry.lease = undefined;
    entry.made = undefined;
    await lease?.release();
  }

  #changed(entry: Entry): void {
    const error = entry.lease === undefined ? undefined : problemOf(entry.lease.connection);
    if (error !== undefined && error !== entry.shownError) {
      this.#session.status({ severity: "warning", message: `The MCP server ${entry.config.name}: ${error}` });
    }
    entry.shownError = error;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #toolsOf(entry: Entry): readonly Tool[] {
    const server = this.#usable(entry);
    if (server === undefined) return [];
    const { listing } = server.connection;
    if (entry.made?.listing === listing) return entry.made.tools;
    const tools = [...toolsOf(server, this.#names, entry.toolsOff), ...resourceTools(server, this.#names)];
    entry.made = { listing, tools };
    return tools;
  }

  /** The server, while its tools may be called, now or after a restart that follows by itself. */
  #usable({ config, lease }: Entry): SessionServer | undefined {
    if (lease === undefined || !isUsable(lease.connection)) return undefined;
    const ports = { auxiliary: this.#session.auxiliary, samplingAllowed: this.#samplingAllowed };
    return {
      config,
      connection: lease.connection,
      userOf: (ask) => serverUser(config.name, { ...ports, ask }),
    };
  }

  async #switchServer(entry: Entry, isOn: boolean): Promise<string> {
    entry.isOn = isOn;
    if (isOn) this.#startAll();
    else await this.#stop(entry);
    await entry.lease?.connection.started;
    this.#notify();
    const { name } = entry.config;
    if (!isOn) return `${name} is off.`;
    return entry.lease === undefined
      ? `${name} starts once you trust this workspace.`
      : `${name}: ${describe(entry.lease.connection)}`;
  }

  #switchTool(entry: Entry, tool: string, isOn: boolean): string {
    const known = entry.lease?.connection.listing.tools.some(({ name }) => name === tool);
    if (!known) throw new Error(`${entry.config.name} has no tool ${tool}`);
    if (isOn) entry.toolsOff.delete(tool);
    else entry.toolsOff.add(tool);
    entry.made = undefined;
    this.#notify();
    return `${tool} of ${entry.config.name} is ${isOn ? "on" : "off"} from the next message on.`;
  }

  #itemOf({ config, isOn, lease, toolsOff }: Entry): HermesExtensionItem {
    const state = lease?.connection.state;
    const error = lease && problemOf(lease.connection);
    const tools = lease?.connection.listing.tools ?? [];
    return {
      id: itemId(config),
      kind: "mcp",
      name: config.name,
      source: config.sourceName,
      state: state?.kind ?? "off",
      detail: serverDetail(config),
      ...(error !== undefined && { error }),
      ...(config.path !== undefined && { path: config.path }),
      ...(tools.length > 0 && {
        tools: tools.map(({ name }) => ({ name, on: offersTool(config, name) && !toolsOff.has(name) })),
      }),
      actions: isOn ? ["restart", "disable"] : ["enable"],
    };
  }
}

export function itemId({ name }: ServerConfig): string {
  return `mcp:${name}`;
}

function isUsable({ state, listing }: ServerConnection): boolean {
  return (
    state.kind === "on" ||
    (listing.tools.length > 0 && (state.kind === "starting" || (state.kind === "failed" && state.willRestart)))
  );
}

/** One line about a failed server, or about tools that a server offers in vain. */
function problemOf({ state, listing }: ServerConnection): string | undefined {
  switch (state.kind) {
    case "starting":
      return undefined;
    case "on":
      return listing.problems.length === 0 ? undefined : `left out: ${listing.problems.join("; ")}`;
    case "needs-sign-in":
      return state.error;
    case "failed":
      return state.willRestart ? `${state.error}. It is started again.` : state.error;
  }
}

function describe(connection: ServerConnection): string {
  const { state, listing } = connection;
  if (state.kind === "on") return `on, ${listing.tools.length} tools.`;
  return problemOf(connection) ?? "starting.";
}
