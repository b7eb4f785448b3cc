/** `hermes serve`. The server loads with its first use. */
import { VERSION } from "../../agent-core/entry/version.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { isLoopback } from "../../agent-core/protocol/remote.ts";
import { type Option, subcommand, type Values } from "../subcommand.ts";

/** A longer timer would end at once. */
const LONGEST_MS = 2 ** 31 - 1;

const options = {
  listen: { kind: "text", value: "ADDRESS", default: "127.0.0.1:9120", summary: "listen here; port 0 is any free one" },
  "token-file": {
    kind: "text",
    value: "FILE",
    summary: "token of the clients; default: HERMES_SERVE_TOKEN, else one that is made once in the home",
  },
  "tls-cert": { kind: "text", value: "FILE", summary: "certificate with its chain, as PEM" },
  "tls-key": { kind: "text", value: "FILE", summary: "key of the certificate, as PEM" },
  "allow-origin": { kind: "list", value: "URL", summary: "public address of the server, or of a page that connects" },
  root: { kind: "list", value: "DIR", summary: "folder that sessions may work in; default on loopback: all" },
  "max-connections": { kind: "number", value: "N", default: 64, min: 1, summary: "connections at the same time" },
  grace: { kind: "time", value: "TIME", default: "10m", summary: "time that questions wait for a lost client" },
  unload: {
    kind: "time",
    value: "TIME",
    default: "30m",
    summary: "time after which a session without a client closes",
  },
  "trust-proxy": { kind: "flag", summary: "a proxy in front does TLS, and names the client in X-Forwarded-For" },
} as const satisfies Record<string, Option>;

export const command = subcommand({
  options,
  examples: [
    ["serve", "serve this machine's programs, for example through an SSH tunnel"],
    ["serve --listen 0.0.0.0:9120 --tls-cert C.pem --tls-key K.pem --root /srv", "serve other machines"],
  ],
  async run({ values }) {
    const checked = serveOptions(values);
    return (await import("../../agent-core/serve/run-serve.ts")).runServe(checked, VERSION);
  },
});

/** Throws a UsageError. */
export function serveOptions(values: Values<typeof options>) {
  const { "tls-cert": cert, "tls-key": key, root: roots, "allow-origin": origins, "trust-proxy": trustsProxy } = values;
  const [, host = "127.0.0.1", port = "65536"] = /^(?:\[?([^[\]]+)\]?:)?(\d+)$/.exec(values.listen) ?? [];
  if (Number(port) > 65_535) throw new UsageError(`--listen ${values.listen}: give an address, as 127.0.0.1:9120`);
  if ((cert === undefined) !== (key === undefined)) throw new UsageError("--tls-cert and --tls-key belong together");
  const isOpen = !isLoopback(host);
  if (isOpen && cert === undefined && !trustsProxy) {
    const ways = "use --tls-cert and --tls-key, or --trust-proxy behind a proxy that does TLS";
    throw new UsageError(`${host} is open to other machines: ${ways}`);
  }
  if (isOpen && roots.length === 0)
    throw new UsageError(`${host} is open to other machines: name the folders of sessions with --root`);
  const wrong = origins.find((origin) => !URL.canParse(origin));
  if (wrong !== undefined) throw new UsageError(`--allow-origin ${wrong}: give an origin, as https://app.example`);
  return {
    host,
    port: Number(port),
    tokenFile: values["token-file"],
    tls: cert === undefined || key === undefined ? undefined : { cert, key },
    origins,
    roots,
    maxConnections: values["max-connections"],
    graceMs: Math.min(values.grace, LONGEST_MS),
    unloadMs: Math.min(values.unload, LONGEST_MS),
    trustsProxy,
  };
}
