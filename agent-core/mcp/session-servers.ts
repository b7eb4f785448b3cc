/** The MCP servers of one session: their tools, their list for the user, and the user's actions on them. */
import type { Extension, ExtensionCommand, ExtensionSession } from "../agent/extensions.ts";
import { Consents } from "../approval/consents.ts";
import type { Environment } from "../config/home.ts";
import type { Switches } from "../config/switches.ts";
import type { Confine } from "../host/terminals/terminals.ts";
import { counted } from "../platform/counted.ts";
import { messageOf } from "../platform/errors.ts";
import type { HermesExtensionAction, HermesExtensionItem } from "../protocol/extensions.ts";
import type { Tool } from "../tools/tool.ts";
import { type OpenPage, PendingSignIns } from "./pending-sign-ins.ts";
import { promptCommands } from "./prompt-commands.ts";
import { requestHandlers } from "./request-handlers.ts";
import type { ServerAuth } from "./server-auth.ts";
import type { ServerConfig } from "./server-config.ts";
import type { ServerConnection } from "./server-connection.ts";
import {
  adviceOf,
  consentLine,
  describe,
  itemId,
  itemOf,
  problemOf,
  type ServerEntry,
  signedIn,
} from "./server-entry.ts";
import { type SessionServer, ToolNames, toolsOf, wrapperTools } from "./server-tools.ts";
import { sharedServers } from "./shared-servers.ts";
import { type WorkspaceServerList, WorkspaceServers } from "./workspace-servers.ts";

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
  /** Hermes' home folder. */
  readonly home: string;
  /** Values for the variables in the workspace's files. */
  readonly environment: Environment;
  readonly openPage: OpenPage;
  /** See `HostTerminals.confine`. */
  readonly confine?: Confine | undefined;
  /** The client shows the list of servers with their errors and consents. Other clients get a line for each. */
  readonly isListed: boolean;
  /** Each prompt is a session, as on a command line: a problem that an earlier one named is not named again. Default: false. */
  readonly isBrief?: boolean;
  readonly onDefect: (message: string) => void;
};

export class SessionServers implements Extension {
  readonly name = "mcp";
  readonly ready: Promise<void>;
  readonly #options: SessionServersOptions;
  readonly #listeners = new Set<() => void>();
  readonly #session: ExtensionSession;
  readonly #names = new ToolNames();
  readonly #samplingAllowed = new Set<string>();
  readonly #switches: Switches;
  readonly #consents: Consents;
  readonly #signIns: PendingSignIns;
  readonly #workspace: WorkspaceServers;
  #listed: WorkspaceServerList | undefined;
  #entries: readonly ServerEntry[];
  #tools: readonly Tool[] = [];
  /** Servers that were starting when the last turn began. */
  #late: ReadonlySet<ServerEntry> | undefined;
  /** Servers whose advice the model has. */
  readonly #advised = new Set<string>();
  #isDisposed: boolean = false;

  /** Starts the servers in the background. */
  constructor(options: SessionServersOptions, switches: Switches, session: ExtensionSession) {
    this.#options = options;
    this.#session = session;
    this.#switches = switches;
    this.#consents = new Consents(options.home, options.onDefect);
    this.#signIns = new PendingSignIns(options.home, options.openPage, session);
    this.#workspace = new WorkspaceServers([options.cwd, ...options.otherFolders], options.environment);
    this.#entries = options.servers.map((config) => this.#entryOf(config, undefined));
    this.#warn(options.problems);
    this.#startAll();
    this.ready = this.settled();
  }

  /** Settles when each server has started or failed. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#entries.map(({ lease }) => lease?.connection.started));
  }

  trust(): void {
    this.#startAll();
  }

  /** Called at the start of each turn. */
  tools(): readonly Tool[] {
    this.#startAll(); // the user may have trusted the workspace, and its files may have changed
    this.#announceLate();
    const tools = this.#entries.flatMap((entry) => this.#toolsOf(entry));
    const isSame = tools.length === this.#tools.length && tools.every((tool, index) => tool === this.#tools[index]);
    if (!isSame) this.#tools = tools;
    return this.#tools;
  }

  /** Advice of the servers that are on, as data. */
  async promptText(): Promise<string | undefined> {
    return adviceOf(this.#entries, this.#advised, () => false);
  }

  /** Advice of servers that came since. */
  async attach(): Promise<string | undefined> {
    return adviceOf(this.#entries, this.#advised, (text) => this.#session.isKnown(text));
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
    return this.#entries.map((entry) => itemOf(entry, this.#isAllowed(entry)));
  }

  /** Returns the outcome in one line. Rejects with an Error in one line. */
  async act(id: string, action: HermesExtensionAction, argument?: string): Promise<string> {
    const entry = this.#find(id);
    switch (action) {
      case "allow":
        return this.#allow(entry);
      case "enable":
      case "disable":
        return argument === undefined
          ? this.#switchServer(entry, action === "enable")
          : this.#switchTool(entry, argument, action === "enable");
      case "restart":
        await this.#connectionOf(entry).start();
        return `${entry.config.name}: ${describe(entry)}`;
      case "sign-in":
        return argument === undefined ? this.#beginSignIn(entry) : this.paste(id, argument);
      case "sign-out":
        return this.#signOut(entry);
    }
  }

  /** Signs in, and waits until the user has. Rejects with an Error in one line, and with the signal's reason. */
  async signIn(id: string, signal: AbortSignal): Promise<string> {
    const entry = this.#find(id);
    const pending = this.#signIns.begin(entry.config, this.#connectionOf(entry));
    signal.addEventListener("abort", () => pending.cancel(), { once: true });
    await pending.done;
    return signedIn(entry);
  }

  /** Ends a sign-in with the address that the browser was redirected to, from a user who has it on another machine. */
  async paste(id: string, address: string): Promise<string> {
    const { name } = this.#find(id).config;
    const pending = this.#signIns.get(name);
    if (pending === undefined)
      throw new Error(`No sign-in to ${name} is in progress. Type \`/mcp signin ${name}\` first.`);
    if (!URL.canParse(address))
      throw new Error(`${address} is not an address. Paste the whole address that the browser shows.`);
    pending.paste(new URL(address));
    return `The sign-in to ${name} continues with this address.`;
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#signIns.cancelAll();
    await Promise.all(this.#entries.map((entry) => this.#stop(entry)));
  }

  #find(id: string): ServerEntry {
    const entry = this.#entries.find(({ config }) => itemId(config) === id);
    if (entry === undefined) throw new Error(`there is no MCP server ${id}`);
    return entry;
  }

  #entryOf(config: ServerConfig, consent: ServerEntry["consent"]): ServerEntry {
    const { isOn = config.isEnabled, toolsOff, shownProblem } = this.#switches.get(switchKey({ config, consent }));
    return {
      config,
      consent,
      isOn,
      toolsOff: new Set(toolsOff),
      lease: undefined,
      shownError: this.#options.isBrief ? shownProblem : undefined,
      made: undefined,
      auth: undefined,
    };
  }

  #warn(problems: readonly string[]): void {
    for (const message of problems) this.#session.status({ severity: "warning", message });
  }

  #isAllowed({ consent }: ServerEntry): boolean {
    return consent === undefined || this.#consents.isAllowed("mcp", consent.hash);
  }

  /** Takes over changes of the workspace's files. A server that the user chose hides one of the workspace. */
  #readWorkspace(): void {
    const list = this.#workspace.read();
    if (list === this.#listed) return;
    this.#listed = list;
    const chosen = this.#entries.filter(({ consent }) => consent === undefined);
    const names = new Set(chosen.map(({ config }) => config.name));
    const before = this.#entries.filter(({ consent }) => consent !== undefined);
    const now = list.servers
      .filter(({ config }) => !names.has(config.name))
      .map(({ config, ...consent }) => {
        const same = before.find((entry) => entry.config.name === config.name && entry.consent?.hash === consent.hash);
        return same ?? this.#entryOf(config, consent);
      });
    this.#entries = [...chosen, ...now];
    for (const entry of before) if (!now.includes(entry)) void this.#stop(entry);
    this.#warn(list.problems);
    const waiting = now.filter((entry) => !before.includes(entry) && entry.isOn && !this.#isAllowed(entry));
    if (waiting.length > 0 && !this.#options.isListed)
      this.#session.status({ severity: "info", message: consentLine(waiting) });
    this.#notify();
  }

  #startAll(): void {
    // A turn or an action may still run: a server that it started would outlive the session.
    if (this.#isDisposed || !this.#options.trusted()) return;
    this.#readWorkspace();
    for (const entry of this.#entries) {
      const mayRun = entry.isOn && this.#isAllowed(entry);
      if (mayRun && entry.lease === undefined) this.#start(entry);
      if (!mayRun && entry.lease !== undefined) void this.#stop(entry); // another window ended the consent
    }
  }

  #start(entry: ServerEntry): void {
    const { cwd, otherFolders } = this.#options;
    const { config } = entry;
    const authOf = async (): Promise<ServerAuth | undefined> => {
      if (config.settings.kind === "stdio" || config.settings.kind === "acp") return undefined;
      const { serverAuthOf } = await import("./server-auth.ts");
      entry.auth = serverAuthOf(config, this.#options.home);
      return entry.auth;
    };
    authOf().catch(() => undefined); // the start reports it
    entry.lease = sharedServers.lease({
      config,
      folder: cwd,
      roots: [cwd, ...otherFolders],
      authProvider: authOf,
      confine: this.#options.confine,
      log: this.#options.onDefect,
      mayRestart: () => this.#isUnchanged(entry),
      onChange: () => this.#changed(entry),
    });
  }

  /** Reports servers that were not ready for the first turn, once each. */
  #announceLate(): void {
    const late = this.#late;
    this.#late = new Set(this.#entries.filter(({ lease }) => lease?.connection.state.kind === "starting"));
    for (const entry of late ?? []) {
      const { lease, config } = entry;
      if (lease?.connection.state.kind !== "on") continue;
      const tools = counted(lease.connection.listing.tools.length, "tool");
      const message = `The MCP server ${config.name} is ready: ${tools} from now on.`;
      this.#session.status({ severity: "info", message });
    }
  }

  async #stop(entry: ServerEntry): Promise<void> {
    const { lease } = entry;
    entry.lease = undefined;
    entry.made = undefined;
    await lease?.release();
  }

  #changed(entry: ServerEntry): void {
    const error = problemOf(entry);
    const works = entry.lease?.connection.state.kind === "on";
    if (!this.#options.isListed && error !== entry.shownError && (error !== undefined || works)) {
      if (error !== undefined) this.#warn([`The MCP server ${entry.config.name}: ${error}`]);
      entry.shownError = error;
      if (this.#options.isBrief) {
        const stored = this.#switches.set(switchKey(entry), () => ({ shownProblem: error }));
        stored.catch((reason: unknown) => this.#options.onDefect(messageOf(reason)));
      }
    }
    this.#notify();
  }

  /** True as long as the files of a workspace define the server as the user allowed it. */
  #isUnchanged({ consent }: ServerEntry): boolean {
    if (consent === undefined) return true;
    const isDefined = this.#workspace.read().servers.some(({ hash }) => hash === consent.hash);
    return isDefined && this.#consents.isAllowed("mcp", consent.hash);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #toolsOf(entry: ServerEntry): readonly Tool[] {
    const server = this.#usable(entry);
    if (server === undefined) return [];
    const { listing } = server.connection;
    if (entry.made?.listing === listing) return entry.made.tools;
    const tools = [...toolsOf(server, this.#names, entry.toolsOff), ...wrapperTools(server, this.#names)];
    entry.made = { listing, tools };
    return tools;
  }

  /** The server while its tools can be called, at once or after an automatic restart. */
  #usable({ config, lease }: ServerEntry): SessionServer | undefined {
    if (lease === undefined || !isUsable(lease.connection)) return undefined;
    const ports = { auxiliary: this.#session.auxiliary, samplingAllowed: this.#samplingAllowed };
    return {
      config,
      connection: lease.connection,
      handlersFor: (ask) => requestHandlers(config.name, { ...ports, ask }),
    };
  }

  /** Throws when the server does not run and may not start. */
  #connectionOf(entry: ServerEntry): ServerConnection {
    this.#startAll();
    if (entry.lease !== undefined) return entry.lease.connection;
    const { name } = entry.config;
    if (this.#isDisposed) throw new Error("The session has ended.");
    if (!this.#options.trusted()) throw new Error(`${name} starts once you trust this workspace.`);
    if (!this.#isAllowed(entry)) throw new Error(`${name} waits for your consent. Type \`/mcp allow ${name}\`.`);
    throw new Error(`${name} is off. Type \`/mcp enable ${name}\`.`);
  }

  async #allow(entry: ServerEntry): Promise<string> {
    const { consent } = entry;
    if (consent !== undefined) this.#consents.allow("mcp", consent.hash, consent.description);
    return this.#switchServer(entry, true);
  }

  /** Returns when the user has the page. The outcome follows as a status. */
  #beginSignIn(entry: ServerEntry): Promise<string> {
    const { opened, done } = this.#signIns.begin(entry.config, this.#connectionOf(entry));
    done.then(
      () => this.#session.status({ severity: "info", message: signedIn(entry) }),
      (error: unknown) => this.#session.status({ severity: "warning", message: messageOf(error) }),
    );
    return opened;
  }

  async #signOut({ auth, config, lease }: ServerEntry): Promise<string> {
    if (auth === undefined) throw new Error(`${config.name} needs no sign-in.`);
    await auth.signOut();
    await lease?.connection.start();
    return `You are signed out of ${config.name}.`;
  }

  /** Switching a server of the workspace off ends the consent to it. */
  async #switchServer(entry: ServerEntry, isOn: boolean): Promise<string> {
    const { config, consent } = entry;
    const { name } = config;
    if (consent !== undefined && !isOn) this.#consents.revoke("mcp", consent.hash);
    await this.#switches.set(switchKey(entry), () => ({ isOn }));
    entry.isOn = isOn;
    if (!isOn) this.#signIns.get(name)?.cancel();
    if (!isOn) await this.#stop(entry);
    this.#notify();
    if (!isOn) return `${name} is off.`;
    const connection = this.#connectionOf(entry);
    await connection.started;
    return `${name}: ${describe(entry)}`;
  }

  async #switchTool(entry: ServerEntry, tool: string, isOn: boolean): Promise<string> {
    const { name } = entry.config;
    const known = entry.lease?.connection.listing.tools.some((each) => each.name === tool);
    if (!known) throw new Error(`${name} has no tool ${tool}`);
    await this.#switches.set(switchKey(entry), (before) => {
      const others = before.toolsOff.filter((each) => each !== tool);
      return { toolsOff: isOn ? others : [...others, tool] };
    });
    if (isOn) entry.toolsOff.delete(tool);
    else entry.toolsOff.add(tool);
    entry.made = undefined;
    this.#notify();
    return `${tool} of ${name} is ${isOn ? "on" : "off"} from the next message on.`;
  }
}

/** A server of a workspace is named by its content, as its consent is. */
function switchKey({ config, consent }: Pick<ServerEntry, "config" | "consent">): string {
  return `mcp:${consent?.hash ?? config.name}`;
}

function isUsable({ state, listing }: ServerConnection): boolean {
  return (
    state.kind === "on" ||
    (listing.tools.length > 0 && (state.kind === "starting" || (state.kind === "failed" && state.willRestart)))
  );
}
