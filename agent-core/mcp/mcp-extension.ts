/** MCP as an extension of a session. The servers and the MCP library are loaded only when a server is configured. */
import type { Extension, ExtensionSession } from "../agent/extensions.ts";
import type { SessionServers, SessionServersOptions } from "./session-servers.ts";

/**
 * Delay of the first start. The library's code and the start of programs take the time of a turn of the event loop, and
 * the response to the client comes first. Milliseconds.
 */
const START_DELAY_MS = 20;

/** Undefined when nothing is configured. */
export function mcpExtension(options: SessionServersOptions): Extension | undefined {
  return options.servers.length === 0 && options.problems.length === 0 ? undefined : new McpExtension(options);
}

/** Represents the servers of the session until their code is loaded. */
export class McpExtension implements Extension {
  readonly name = "mcp";
  readonly ready: Promise<void>;
  readonly #options: SessionServersOptions;
  readonly #begun = Promise.withResolvers<ExtensionSession>();
  readonly #listeners: (() => void)[] = [];
  #servers: SessionServers | undefined;
  #isDisposed = false as boolean;

  constructor(options: SessionServersOptions) {
    this.#options = options;
    this.ready = this.#load();
  }

  begin(session: ExtensionSession): void {
    this.#begun.resolve(session);
  }

  tools(): ReturnType<SessionServers["tools"]> {
    return this.#servers?.tools() ?? [];
  }

  commands(): ReturnType<SessionServers["commands"]> {
    return this.#servers?.commands() ?? [];
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  items(): ReturnType<SessionServers["items"]> {
    return this.#servers?.items() ?? [];
  }

  async act(...parameters: Parameters<SessionServers["act"]>): Promise<string> {
    if (this.#servers === undefined) throw new Error("the MCP servers are starting; try again in a moment");
    return this.#servers.act(...parameters);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#servers?.dispose();
  }

  async #load(): Promise<void> {
    const session = await this.#begun.promise;
    await new Promise((resolve) => {
      setTimeout(resolve, START_DELAY_MS);
    });
    if (this.#isDisposed) return;
    const { SessionServers: Servers } = await import("./session-servers.ts");
    const servers = new Servers(this.#options, session);
    this.#servers = servers;
    for (const listener of this.#listeners) servers.onChange(listener);
    await servers.ready;
  }
}
