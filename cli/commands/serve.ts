/** `hermes serve`. */
import { VERSION } from "../../agent-core/entry/version.ts";
import { runServe } from "../../agent-core/serve/run-serve.ts";
import { subcommand } from "../subcommand.ts";

export const command = subcommand({
  options: {
    listen: {
      kind: "text",
      value: "ADDRESS",
      default: "127.0.0.1:9120",
      summary: "listen here; port 0 is any free one",
    },
    "token-file": {
      kind: "text",
      value: "FILE",
      summary: "token of the clients; default: HERMES_SERVE_TOKEN, else one that is made once in the home",
    },
    "tls-cert": { kind: "text", value: "FILE", summary: "certificate with its chain, as PEM" },
    "tls-key": { kind: "text", value: "FILE", summary: "key of the certificate, as PEM" },
    "allow-origin": { kind: "list", value: "URL", summary: "public address of the server, or of a page that connects" },
    root: { kind: "list", value: "DIR", summary: "folder that sessions may work in; default on loopback: all" },
    "max-connections": { kind: "number", value: "N", default: 64, summary: "connections at the same time" },
    grace: { kind: "text", value: "TIME", default: "10m", summary: "time that questions wait for a lost client" },
    unload: {
      kind: "text",
      value: "TIME",
      default: "30m",
      summary: "time after which a session without a client closes",
    },
    "trust-proxy": { kind: "flag", summary: "a proxy in front does TLS, and names the client in X-Forwarded-For" },
  },
  examples: [
    ["serve", "serve this machine's programs, for example through an SSH tunnel"],
    ["serve --listen 0.0.0.0:9120 --tls-cert C.pem --tls-key K.pem --root /srv", "serve other machines"],
  ],
  run: ({ values }) => runServe(values, VERSION),
});
