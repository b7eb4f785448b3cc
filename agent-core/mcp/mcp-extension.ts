/** MCP as an extension of a session. The servers and the MCP library are loaded only when a server is configured. */
import type * as z from "zod";
import type { Extension, ExtensionSession } from "../agent/extensions.ts";
import { homeFolder } from "../config/home.ts";
import { fileVersion } from "../config/home-file.ts";
import { mcpServerSection } from "../config/sections.ts";
import { messageOf } from "../platform/errors.ts";
import { mcpCommand } from "./mcp-command.ts";
import { serverFiles, serversFrom } from "./server-config.ts";
import type { SessionServers, SessionServersOptions } from "./session-servers.ts";

/**
 * Delay of the first start. The library's code and the start of programs block the event loop, and the response to the
 * client comes first. Milliseconds.
 */
const START_DELAY_MS = 20;

export type McpServersOptions = {
  /** Working folder of the servers, absolute; default the process's. */
  readonly cwd?: string;
  /** Default `HERMES_HOME`, else `~/.hermes`. */
  readonly home?: string;
  /** Receives a line for the log about each defect that was handled. */
  readonly onDefect?: (message: string) => void;
};

/**
 * MCP servers for an agent that is used as a library, with the settings of `mcp_servers` in config.yaml. Throws an Error in
 * one line for settings without a program or an address.
 */
export function mcpServers(
  servers: Readonly<Record<string, z.input<typeof mcpServerSection>>>,
  { cwd = process.cwd(), home = homeFolder(process.env), onDefect = () => undefined }: McpServersOptions = {},
): Extension {
  const sections = Object.entries(servers).map(([name, settings]) => [name, mcpServerSection.parse(settings)] as const);
  const read = serversFrom(Object.fromEntries(sections), { source: "config", sourceName: "mcpServers" });
  const [problem] = read.problems;
  if (problem !== undefined) throw new Error(problem);
  return new McpExtension({
    ...read,
    cwd,
    home,
    environment: process.env,
    onDefect,
    otherFolders: [],
    trusted: () => true,
    openPage: async () => "unavailable",
    isListed: false,
  });
}

/** Represents the servers of the session until their code is loaded: with the first server that is configured. */
export class McpExtension implements Extension {
  readonly name = "mcp";
  /** Undefined when nothing is configured. */
  readonly ready?: Promise<void>;
  readonly #options: SessionServersOptions;
  readonly #begun = Promise.withResolvers<ExtensionSession>();
  readonly #listeners: (() => void)[] = [];
  readonly #command = mcpCommand({
    items: () => this.items(),
    refresh: async () => {
      this.#loadIfNeeded();
      if (this.#loading !== undefined) await this.#known.promise;
      this.#servers?.tools();
    },
    settled: async () => this.#servers?.settled(),
    act: (...parameters) => this.act(...parameters),
    signIn: async (...parameters) => this.#loaded().signIn(...parameters),
    paste: async (...parameters) => this.#loaded().paste(...parameters),
  });
  /** Settles when the code is loaded. */
  readonly #known = Promise.withResolvers<void>();
  #loading: Promise<void> | undefined;
  #servers: SessionServers | undefined;
  #isDisposed: boolean = false;

  constructor(options: SessionServersOptions) {
    this.#options = options;
    this.#loadIfNeeded();
    if (this.#loading !== undefined) this.ready = this.#loading;
  }

  begin(session: ExtensionSession): void {
    this.#begun.resolve(session);
  }

  trust(): void {
    this.#loadIfNeeded();
    this.#servers?.trust();
  }

  tools(): ReturnType<SessionServers["tools"]> {
    this.#loadIfNeeded(); // the user may have trusted the workspace since
    return this.#servers?.tools() ?? [];
  }

  commands(): ReturnType<SessionServers["commands"]> {
    return [this.#command, ...(this.#servers?.commands() ?? [])];
  }

  async promptText(): Promise<string | undefined> {
    return this.#servers?.promptText();
  }

  async attach(): Promise<string | undefined> {
    return this.#servers?.attach();
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  items(): ReturnType<SessionServers["items"]> {
    return this.#servers?.items() ?? [];
  }

  async act(...parameters: Parameters<SessionServers["act"]>): Promise<string> {
    return this.#loaded().act(...parameters);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#known.resolve();
    await this.#servers?.dispose();
  }

  #loaded(): SessionServers {
    if (this.#servers === undefined) throw new Error("The MCP servers are starting. Try again in a moment.");
    return this.#servers;
  }

  #loadIfNeeded(): void {
    const { servers, problems, trusted, cwd, otherFolders, onDefect } = this.#options;
    if (this.#loading !== undefined) return;
    const hasFile = (): boolean =>
      serverFiles([cwd, ...otherFolders]).some(({ path }) => fileVersion(path) !== undefined);
    if (servers.length > 0 || problems.length > 0 || (trusted() && hasFile())) {
      this.#loading = this.#load()
        .catch((error: unknown) => onDefect(`The MCP servers could not be loaded: ${messageOf(error)}`))
        .finally(this.#known.resolve);
    }
  }

  async #load(): Promise<void> {
    const session = await this.#begun.promise;
    await new Promise((resolve) => {
      setTimeout(resolve, START_DELAY_MS);
    });
    if (this.#isDisposed) return;
    const [{ SessionServers: Servers }, { Switches }] = await Promise.all([
      import("./session-servers.ts"),
      import("../config/switches.ts"),
    ]);
    const servers = new Servers(this.#options, await Switches.of(this.#options.home), session);
    if (this.#isDisposed) return servers.dispose();
    this.#servers = servers;
    this.#known.resolve();
    for (const listener of this.#listeners) {
      servers.onChange(listener);
      listener();
    }
    await servers.ready;
  }
}
