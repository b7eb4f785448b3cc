/**
 * Proxy and certificates for requests, from environment variables. The settings of VS Code and of config.yaml are
 * variables too, named HERMES_*. They override the variables that other programs know.
 */
import { BlockList, isIP } from "node:net";

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings of VS Code or config.yaml. */
export type NetworkChoices = {
  /** Proxy for both protocols: `http(s)://user:password@host:port`, or `off`. */
  readonly proxy?: string | undefined;
  /** Hosts without proxy, in the syntax of NO_PROXY. */
  readonly noProxy?: string | undefined;
  /** Value of the header `proxy-authorization`. */
  readonly proxyAuthorization?: string | undefined;
  /** Path of a PEM file. */
  readonly caFile?: string | undefined;
  /** Default true. */
  readonly strictSsl?: boolean | undefined;
};

/** Environment variables for the choices; none for an empty one. */
export function networkVariables(choices: NetworkChoices): Readonly<Record<string, string>> {
  const variables = {
    HERMES_PROXY: choices.proxy,
    HERMES_NO_PROXY: choices.noProxy,
    HERMES_PROXY_AUTHORIZATION: choices.proxyAuthorization,
    HERMES_CA_FILE: choices.caFile,
    HERMES_STRICT_SSL: choices.strictSsl === false ? "false" : undefined,
  };
  const chosen = Object.entries(variables).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(chosen);
}

export type NetworkSettings = {
  /** Address of the proxy by the target's protocol, as the user wrote it; undefined for a direct connection. */
  readonly proxies: { readonly "http:": string | undefined; readonly "https:": string | undefined };
  /** Hosts without proxy, in the syntax of NO_PROXY. */
  readonly noProxy: string;
  /** Value of the header `proxy-authorization`; default: user and password of the proxy's address. */
  readonly proxyAuthorization: string | undefined;
  /** False accepts every certificate. */
  readonly strictSsl: boolean;
  /** PEM files of certificate authorities, besides Node's own and the system's. */
  readonly caFiles: readonly string[];
};

/** Proxy of one request. `authorization` is the value of the header `proxy-authorization`. */
export type ProxyServer = { readonly url: URL; readonly authorization: string | undefined };

/** Value of HERMES_PROXY for direct connections, whatever the other variables say. */
const NO_PROXY_AT_ALL = "off";

export function networkSettings(environment: Environment): NetworkSettings {
  const value = (name: string): string | undefined => environment[name]?.trim() || undefined;
  // Like curl: the lower case first.
  const either = (name: string): string | undefined => value(name.toLowerCase()) ?? value(name);
  const own = value("HERMES_PROXY");
  const proxy = (name: string): string | undefined =>
    own === NO_PROXY_AT_ALL ? undefined : (own ?? either(name) ?? either("ALL_PROXY"));
  return {
    proxies: { "http:": proxy("HTTP_PROXY"), "https:": proxy("HTTPS_PROXY") },
    noProxy: value("HERMES_NO_PROXY") ?? either("NO_PROXY") ?? "",
    proxyAuthorization: value("HERMES_PROXY_AUTHORIZATION"),
    strictSsl: value("HERMES_STRICT_SSL")?.toLowerCase() !== "false",
    caFiles: [value("NODE_EXTRA_CA_CERTS"), value("HERMES_CA_FILE")].filter((file) => file !== undefined),
  };
}

/**
 * Proxy for a request to `target`; undefined for a direct connection. Servers on this machine never get a proxy, because
 * the proxy would look for them on its own machine. Throws for an address that is no HTTP proxy's.
 */
export function proxyFor(
  target: URL,
  { proxies, noProxy, proxyAuthorization }: NetworkSettings,
): ProxyServer | undefined {
  const address = target.protocol === "http:" ? proxies["http:"] : proxies["https:"];
  if (address === undefined || isLoopback(target.hostname) || isExempt(target, noProxy)) return undefined;
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    const shown = url === undefined ? "the given address" : `${url.protocol}//${url.host}`;
    const advice = /^socks/.test(url?.protocol ?? "")
      ? "Hermes speaks no SOCKS. Set network.proxy in config.yaml to off, or to an address such as http(s)://host:port"
      : "its address must be http(s)://host:port";
    throw new Error(`the proxy ${shown} cannot be used: ${advice}`);
  }
  const user = decodeURIComponent(url.username);
  const basic = `Basic ${Buffer.from(`${user}:${decodeURIComponent(url.password)}`).toString("base64")}`;
  return { url, authorization: proxyAuthorization ?? (user === "" ? undefined : basic) };
}

/** Address of a proxy for messages, without its password. */
export function proxyName({ url }: ProxyServer): string {
  return `${url.protocol}//${url.host}`;
}

/** True for a name or an address of this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i.test(hostname);
}

/** True for this machine, and for names and addresses of a private network: servers of one's own are there. */
export function isNearby(hostname: string): boolean {
  const host = bare(hostname);
  if (isLoopback(hostname)) return true;
  if (isIP(host) === 0) return !host.includes(".") || /\.(local|lan|internal|home|home\.arpa)$/i.test(host);
  return PRIVATE_RANGES.some((range) => isWithinRange(host, range));
}

/** RFC 1918, RFC 4193, link-local addresses, and the addresses that VPNs such as Tailscale give (RFC 6598). */
const PRIVATE_RANGES = [
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "fc00::/7",
  "fe80::/10",
];

/** Entries: `*`, a host with its subdomains (`.` or `*.` before it changes nothing), an IP address or range, each with a port or without. */
function isExempt(target: URL, noProxy: string): boolean {
  const port = target.port || (target.protocol === "http:" ? "80" : "443");
  const host = bare(target.hostname);
  return noProxy.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, name = entry, entryPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
    if (name === "" || (entryPort !== undefined && entryPort !== port)) return false;
    return isIP(host) === 0 ? isWithinDomain(host, bare(name)) : isWithinRange(host, bare(name));
  });
}

function bare(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]/, "$1")
    .replace(/\.$/, "");
}

function isWithinDomain(host: string, entry: string): boolean {
  const domain = entry.replace(/^\*?\./, "");
  return domain !== "" && (host === domain || host.endsWith(`.${domain}`));
}

function isWithinRange(host: string, entry: string): boolean {
  const [network = "", prefix] = entry.split("/");
  const family = isIP(network) === 6 ? "ipv6" : "ipv4";
  if (isIP(network) === 0 || isIP(host) !== isIP(network)) return false;
  const longest = family === "ipv6" ? 128 : 32;
  const bits = prefix === undefined ? longest : Number(prefix);
  if (!Number.isInteger(bits) || bits < 0 || bits > longest) return false;
  const range = new BlockList();
  range.addSubnet(network, bits, family);
  return range.check(host, family);
}

/** Longest time to a usable connection, with name lookup, proxy and TLS. A slow mobile network needs some seconds. */
export const CONNECT_TIMEOUT_MS = 20_000;

export function connectTimeoutError(place: string): Error {
  const message = `no connection to ${place} within ${CONNECT_TIMEOUT_MS / 1_000} s`;
  return Object.assign(new Error(message), { code: "ETIMEDOUT" });
}

/** Status of a proxy that asks for a user and a password. */
export const PROXY_AUTHENTICATION_REQUIRED = 407;

/** Error for a proxy that does not forward a request. `code`: ERR_PROXY_AUTHENTICATION or ERR_PROXY. */
export function proxyRefusal(proxy: ProxyServer, status: number, statusText: string): Error {
  const name = proxyName(proxy);
  const needsUser = status === PROXY_AUTHENTICATION_REQUIRED;
  const advice =
    proxy.authorization === undefined
      ? "write USER:PASSWORD@ before the host in its address"
      : "check the user and password of the proxy";
  return needsUser
    ? Object.assign(new Error(`the proxy ${name} requires authentication (407): ${advice}`), {
        code: "ERR_PROXY_AUTHENTICATION",
      })
    : Object.assign(new Error(`the proxy ${name} refused the connection (${status} ${statusText})`), {
        code: "ERR_PROXY",
      });
}

/** Error for a proxy that is not there; `cause` has the code of the connection. */
export function proxyUnreachable(proxy: ProxyServer, cause: unknown): Error {
  return Object.assign(new Error(`the proxy ${proxyName(proxy)} cannot be reached`, { cause }), { code: "ERR_PROXY" });
}

/** Place of `url` for a request of Node's, which takes an IPv6 address without brackets. */
export function placeOf(url: URL): { readonly protocol: string; readonly hostname: string; readonly port: string } {
  return { protocol: url.protocol, hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: url.port };
}
