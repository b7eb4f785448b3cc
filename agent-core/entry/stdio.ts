/** The agent over stdio: newline-delimited JSON on stdin and stdout, logs on stderr. */
import "./stdout-is-the-protocol.ts";
import { Readable } from "node:stream";
import { ndJsonStream } from "@zed-industries/agent-client-protocol";
import { serve } from "../acp/serve.ts";
import { nodeHost } from "../host/node-host.ts";
import { Deadline } from "../platform/deadline.ts";
import { gatheredOutput } from "./gathered-output.ts";
import { checkSetup, setUp } from "./setup.ts";
import { terminalDialog } from "./terminal-dialog.ts";
import { VERSION } from "./version.ts";

/** Limit of a message: no prompt of a person is longer. Bytes. */
const MAX_MESSAGE_BYTES = 33_554_432;
/** Timeout for the end of the sessions after stdin has closed. */
const SHUTDOWN_MS = 1_500;

const HELP = `hermes-acp: the Hermes agent for ACP editors, over stdio.

  --version   print the version
  --setup     choose provider, key and model, test them, and save them in the Hermes home
  --check     print the model in use and whether it answers; exit 0 or 1
  --help      print this
`;

/** Serves until stdin ends. Returns the exit code. */
export async function runStdio(args: readonly string[]): Promise<number> {
  const [option] = args;
  switch (option) {
    case undefined:
      return serveStdio();
    case "--version":
      process.stdout.write(`${VERSION}\n`);
      return 0;
    case "--check":
      return checkSetup(process.env);
    case "--setup":
      return setUp(process.env, terminalDialog(process.stdin, process.stdout));
    case "--help":
      process.stdout.write(HELP);
      return 0;
    default:
      process.stderr.write(`hermes-acp: unknown option ${option}.\n${HELP}`);
      return 1;
  }
}

async function serveStdio(): Promise<number> {
  const local = nodeHost();
  const { messages, lines } = gatheredOutput(process.stdout);
  // Writes bypass the library's stream, which locks and releases its output for each message.
  const { readable } = ndJsonStream(
    lines,
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>, // stdin has bytes while no encoding is set
    { maxMessageBytes: MAX_MESSAGE_BYTES },
  );
  const service = serve(
    { readable, writable: messages },
    {
      version: VERSION,
      environment: process.env,
      local,
      log: (line) => process.stderr.write(`${line}\n`),
    },
  );
  const end = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, resolve);
  });
  await Promise.race([service.connection.closed, end]);
  await new Deadline(SHUTDOWN_MS).waitFor(service.dispose());
  process.exit(0); // an open socket to a model must not keep the process alive
}
