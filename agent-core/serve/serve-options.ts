/** Checked options of a server. */
import { UsageError } from "../platform/errors.ts";

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

/** Options as the command line has them. */
export type ServeValues = {
  readonly listen: string;
  readonly "token-file": string | undefined;
  readonly "tls-cert": string | undefined;
  readonly "tls-key": string | undefined;
  readonly "allow-origin": readonly string[];
  readonly root: readonly string[];
  readonly "max-connections": number;
  readonly grace: string;
  readonly unload: string;
  readonly "trust-proxy": boolean;
};

/** Throws a UsageError. */
export function serveOptions(values: ServeValues): ServeOptions {
  const { host, port } = addressOf(values.listen);
  const { "tls-cert": cert, "tls-key": key, root: roots, "allow-origin": origins, "trust-proxy": trustsProxy } = values;
  if ((cert === undefined) !== (key === undefined)) throw new UsageError("--tls-cert and --tls-key belong together");
  if (!isLoopback(host) && cert === undefined && !trustsProxy) {
    const ways = "use --tls-cert and --tls-key, or --trust-proxy behind a proxy that does TLS";
    throw new UsageError(`${host} is open to other machines: ${ways}`);
  }
  if (!isLoopback(host) && roots.length === 0)
    throw new UsageError(`${host} is open to other machines: name the folders of sessions with --root`);
  const wrong = origins.find((origin) => !URL.canParse(origin));
  if (wrong !== undefined) throw new UsageError(`--allow-origin ${wrong}: expected an origin, as https://app.example`);
  const { "max-connections": maxConnections } = values;
  if (!Number.isInteger(maxConnections) || maxConnections < 1)
    throw new UsageError(`--max-connections ${maxConnections}: expected a positive number`);
  return {
    host,
    port,
    tokenFile: values["token-file"],
    tls: cert === undefined || key === undefined ? undefined : { cert, key },
    origins,
    roots,
    maxConnections,
    graceMs: durationOf("grace", values.grace),
    unloadMs: durationOf("unload", values.unload),
    trustsProxy,
  };
}

function addressOf(listen: string): { readonly host: string; readonly port: number } {
  const [, host = "127.0.0.1", port] = /^(?:(.+):)?(\d+)$/.exec(listen) ?? [];
  const number = Number(port ?? Number.NaN);
  if (number <= 65_535) return { host: host.replace(/^\[|\]$/g, ""), port: number };
  throw new UsageError(`--listen ${listen}: expected an address and a port, as 127.0.0.1:9120`);
}

/** True for names of this machine that no other machine reaches. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
/** Longest time of a timer. Milliseconds. */
const MAX_MS = 2 ** 31 - 1;

/** Milliseconds of `90s`, `10m` or `2h`. */
function durationOf(name: string, text: string): number {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(number ?? Number.NaN) * (UNITS[unit] ?? Number.NaN);
  if (ms <= MAX_MS) return ms;
  throw new UsageError(`--${name} ${text}: expected a duration, as 90s, 10m or 2h`);
}
