/**
 * Connections of this process to other machines: one pool for each protocol and proxy, and the certificates that they
 * trust. A change of the settings starts new pools; running requests keep their connections.
 */
import { readFileSync } from "node:fs";
import type * as Http from "node:http";
import type { AgentOptions, Agent as HttpsAgent, RequestOptions } from "node:https";
import type { LookupFunction } from "node:net";
import { messageOf } from "../errors.ts";
import { type NetworkSettings, networkSettings, type ProxyServer, placeOf, proxyFor } from "./network-settings.ts";

/** Not by `import`, which reads all members of the module and so loads Node's second HTTP client: 30 ms and 17 MB. */
const http = (): typeof Http => process.getBuiltinModule("node:http");

/** An idle connection is closed after this time, or earlier if the server says so. Milliseconds. */
const IDLE_MS = 30_000;

/** Errors of certificates that the system's authorities may have signed. */
const UNKNOWN_AUTHORITY =
  /^(UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|(DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?)$/;

/** The function and the options of a request to one place. */
export type Route = {
  readonly request: (options: RequestOptions) => Http.ClientRequest;
  readonly options: RequestOptions;
  /** Set if the proxy itself answers a request that it cannot forward. */
  readonly proxy: ProxyServer | undefined;
};

export class Connections {
  readonly settings: NetworkSettings;
  readonly #pools = new Map<string, Http.Agent | HttpsAgent>();
  /** PEM texts in addition to Node's certificates; undefined until a request needs them. */
  #authorities: readonly string[] | undefined;
  #system: Promise<boolean> | undefined;

  constructor(settings: NetworkSettings) {
    this.settings = settings;
  }

  /**
   * Route to `url`, direct or through the proxy of the settings. Rejects for settings that cannot be used. `lookup`
   * resolves the name for a direct connection, which no other request shares; a proxy resolves the name itself.
   */
  async route(url: URL, lookup?: LookupFunction): Promise<Route> {
    const proxy = proxyFor(url, this.settings);
    if (url.protocol === "http:" && proxy !== undefined) return this.#throughProxy(url, proxy);
    const place = { ...placeOf(url), path: `${url.pathname}${url.search}` };
    const isPinned = lookup !== undefined && proxy === undefined;
    if (url.protocol === "http:") {
      const own = isPinned ? { agent: false as const, lookup } : { agent: this.#httpPool() };
      return { request: http().request, options: { ...place, ...own }, proxy: undefined };
    }
    const { Agent, request } = await import("node:https");
    if (isPinned) {
      const agent = new Agent({ ...(await this.#tlsOptions()), keepAlive: false });
      return { request, options: { ...place, agent, lookup }, proxy: undefined };
    }
    const agent = proxy === undefined ? await this.#httpsPool() : await this.#tunnels(proxy);
    return { request, options: { ...place, agent }, proxy: undefined };
  }

  /**
   * Trusts the system's certificates too if `error` is about an unknown authority. Returns true when another attempt may
   * succeed. They are read only now, because that takes up to a second on some systems.
   */
  async trustSystem(error: unknown): Promise<boolean> {
    if (!isUnknownAuthority(error)) return false;
    this.#system ??= this.#addSystem();
    return this.#system;
  }

  async #addSystem(): Promise<boolean> {
    const tls = await import("node:tls");
    const system = tls.getCACertificates?.("system") ?? []; // older than 22.15: none
    if (system.length === 0) return false;
    this.#authorities = [...(await this.#trusted()), ...system];
    this.#pools.clear();
    return true;
  }

  /** A proxy gets the whole address of a request without TLS. */
  async #throughProxy(url: URL, proxy: ProxyServer): Promise<Route> {
    const { request } = proxy.url.protocol === "https:" ? await import("node:https") : http();
    const { authorization } = proxy;
    const options = {
      ...placeOf(proxy.url),
      path: `${url.origin}${url.pathname}${url.search}`,
      headers: { host: url.host, ...(authorization !== undefined && { "proxy-authorization": authorization }) },
      agent: proxy.url.protocol === "https:" ? await this.#httpsPool() : this.#httpPool(),
    };
    return { request, options, proxy };
  }

  #httpPool(): Http.Agent {
    return this.#pool("http:", () => new (http().Agent)({ keepAlive: true, timeout: IDLE_MS }));
  }

  async #httpsPool(): Promise<HttpsAgent> {
    const { Agent } = await import("node:https");
    const options = await this.#tlsOptions();
    return this.#pool("https:", () => new Agent(options));
  }

  async #tunnels(proxy: ProxyServer): Promise<HttpsAgent> {
    const { TunnelAgent } = await import("./tunnel-agent.ts");
    const options = await this.#tlsOptions();
    return this.#pool(proxy.url.href, () => new TunnelAgent(proxy, options));
  }

  #pool<Pool extends Http.Agent>(key: string, create: () => Pool): Pool {
    const pool = (this.#pools.get(key) as Pool | undefined) ?? create(); // each key has one kind of pool
    this.#pools.set(key, pool);
    return pool;
  }

  async #tlsOptions(): Promise<AgentOptions> {
    const { strictSsl, caFiles } = this.settings;
    const needsList = caFiles.length > 0 || this.#authorities !== undefined;
    return {
      keepAlive: true,
      timeout: IDLE_MS,
      ...(needsList && { ca: [...(await this.#trusted())] }),
      ...(!strictSsl && { rejectUnauthorized: false }),
    };
  }

  /** Node's certificates, and those of the settings' files. */
  async #trusted(): Promise<readonly string[]> {
    if (this.#authorities !== undefined) return this.#authorities;
    const { rootCertificates } = await import("node:tls");
    this.#authorities = [...rootCertificates, ...this.settings.caFiles.map(readAuthorities)];
    return this.#authorities;
  }
}

let current: Connections | undefined;

/** The connections for every request of this process. Default: by the process's environment. */
export function connections(): Connections {
  current ??= new Connections(networkSettings(process.env));
  return current;
}

/** Uses the proxy and the certificates of `environment` from the next request on. */
export function useNetwork(environment: Readonly<Record<string, string | undefined>>): void {
  const settings = networkSettings(environment);
  if (JSON.stringify(settings) !== JSON.stringify(current?.settings)) current = new Connections(settings);
}

function readAuthorities(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const advice = "Correct NODE_EXTRA_CA_CERTS, or network.ca_file in config.yaml";
    throw new Error(`the certificates in ${path} cannot be read (${messageOf(error)}). ${advice}`);
  }
}

/** True for an error of the server's certificate, and of a proxy's. */
function isUnknownAuthority(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return UNKNOWN_AUTHORITY.test(code) || isUnknownAuthority(error.cause);
}
