/** Command line of `hermes serve`. */
import { parseArgs } from "node:util";
import { messageOf, UsageError } from "../platform/errors.ts";

export type ServeOptions = {
  readonly host: string;
  readonly port: number;
  readonly tokenFile: string | undefined;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly origins: readonly string[];
  readonly roots: readonly string[];
  readonly maxConnections: number;
  readonly graceMs: number;
  readonly unloadMs: number;
  readonly trustsProxy: boolean;
};

const string = { type: "string" } as const;
const strings = { type: "string", multiple: true, default: [] as string[] } as const;

/** Throws a UsageError. */
export function parseServeOptions(args: readonly string[]): ServeOptions {
  const values = parsed(args);
  const { host, port } = addressOf(values.listen);
  const { "tls-cert": cert, "tls-key": key, root: roots, "allow-origin": origins } = values;
  if ((cert === undefined) !== (key === undefined)) throw new UsageError("--tls-cert and --tls-key belong together");
  const trustsProxy = values["trust-proxy"];
  if (!isLoopback(host)) {
    const secures = "use --tls-cert and --tls-key, or --trust-proxy behind a proxy that does TLS";
    if (cert === undefined && !trustsProxy) throw new UsageError(`${host} is open to other machines: ${secures}`);
    if (roots.length === 0) throw new UsageError(`${host} is open to other machines: name the folders with --root`);
  }
  for (const origin of origins) {
    if (!URL.canParse(origin))
      throw new UsageError(`--allow-origin ${origin} is not an origin such as https://app.example`);
  }
  return {
    host,
    port,
    tokenFile: values["token-file"],
    tls: cert === undefined || key === undefined ? undefined : { cert, key },
    origins,
    roots,
    maxConnections: countOf(values["max-connections"]),
    graceMs: durationOf("grace", values.grace),
    unloadMs: durationOf("unload", values.unload),
    trustsProxy,
  };
}

/** Names of options may be written with underscores. */
function parsed(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: args.map((word) => word.replace(/^--[\w-]+/, (name) => name.replaceAll("_", "-"))),
      options: {
        listen: { ...string, default: "127.0.0.1:9120" },
        "token-file": string,
        "tls-cert": string,
        "tls-key": string,
        "allow-origin": strings,
        root: strings,
        "max-connections": { ...string, default: "64" },
        grace: { ...string, default: "10m" },
        unload: { ...string, default: "30m" },
        "trust-proxy": { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(messageOf(error).split(/[.\n]/, 1)[0] ?? "");
  }
}

function addressOf(listen: string): { readonly host: string; readonly port: number } {
  const [, host = "127.0.0.1", port] = /^(?:(.+):)?(\d+)$/.exec(listen) ?? [];
  const number = Number(port ?? Number.NaN);
  if (number <= 65_535) return { host: host.replace(/^\[|\]$/g, ""), port: number };
  throw new UsageError(`--listen ${listen} is not an address such as 127.0.0.1:9120`);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new UsageError(`--max-connections ${text} is not a number of connections`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
/** Longest time of a timer. Milliseconds. */
const MAX_MS = 2 ** 31 - 1;

/** Milliseconds of `90s`, `10m` or `2h`. */
function durationOf(name: string, text: string): number {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(number ?? Number.NaN) * (UNITS[unit] ?? Number.NaN);
  if (ms <= MAX_MS) return ms;
  throw new UsageError(`--${name} ${text} is not a duration such as 90s, 10m or 2h`);
}
