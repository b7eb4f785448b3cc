/** `hermes connect`: the agent of a server as an agent over stdio, for every editor. The streams load with the first use. */
import { join } from "node:path";
import * as tls from "node:tls";
import { homeFolder } from "../../agent-core/config/home.ts";
import { attempt, messageOf } from "../../agent-core/platform/errors.ts";
import { isLoopback } from "../../agent-core/protocol/remote.ts";
import { tokenFile } from "../../agent-core/serve/server-token.ts";
import { EXIT, subcommand } from "../subcommand.ts";

/** Limit of a message, as of the server. Bytes. */
const MAX_MESSAGE_BYTES = 32_000_000;

export const command = subcommand({
  operands: "URL",
  options: {
    "token-file": {
      kind: "text",
      value: "FILE",
      summary: "token of the server; default: HERMES_SERVE_TOKEN, and on this machine the home's",
    },
  },
  examples: [
    ["connect wss://build.example/acp --token-file ~/.build-token", "the agent of build.example, over stdio"],
    ["connect ws://127.0.0.1:9120", "the agent behind an SSH tunnel"],
  ],
  withoutHome: true,
  run: ({ operands: [address = ""], values: { "token-file": file } }) => bridge(address, file),
});

async function bridge(address: string, file: string | undefined): Promise<number> {
  const { gatheredOutput, incomingMessages } = await import("../../agent-core/entry/message-lines.ts");
  const { remoteStream, remoteUrl } = await import("../../agent-core/protocol/remote-stream.ts");
  const url = remoteUrl(address);
  if (/^(?:wss|https):$/.test(url.protocol)) trustSystemAuthorities();
  const log = (line: string): void => void process.stderr.write(`hermes connect: ${line}\n`);
  const remote = remoteStream(
    { url, token: tokenFor(url, file) },
    { changed: (change) => log(change.state === "connected" ? "connected again" : change.reason) },
  );
  const output = gatheredOutput(process.stdout);
  const incoming = incomingMessages(process.stdin, {
    maxBytes: MAX_MESSAGE_BYTES,
    reply: (error) => void output.send(error).catch(() => undefined), // the editor has gone
  });
  const sent = ReadableStream.from(incoming).pipeTo(remote.writable);
  const received = remote.readable.pipeTo(output.messages);
  const fault: unknown = await Promise.race([sent, received]).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (fault !== undefined) log(messageOf(fault));
  process.exit(fault === undefined ? EXIT.done : EXIT.failed); // standard input may still be open
}

/** Node itself trusts its own list of authorities and NODE_EXTRA_CA_CERTS. Older than 22.19, it has only these. */
function trustSystemAuthorities(): void {
  tls.setDefaultCACertificates?.([...tls.getCACertificates("default"), ...tls.getCACertificates("system")]);
}

/** The token in the home belongs to this machine's own server: no other one gets it. */
function tokenFor({ hostname }: URL, file: string | undefined): string | undefined {
  const { HERMES_SERVE_TOKEN: variable } = process.env;
  if (file === undefined && variable !== undefined) return variable;
  if (file !== undefined) return tokenFile(file)();
  // The server says when a token is missing.
  return isLoopback(hostname) ? attempt(tokenFile(join(homeFolder(process.env), "serve-token"))) : undefined;
}
