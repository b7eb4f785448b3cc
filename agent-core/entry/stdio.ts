/** The agent over stdio: newline-delimited JSON on stdin and stdout, logs on stderr. */
import "./stdout-is-the-protocol.ts";
import { serve } from "../acp/serve.ts";
import { nodeHost } from "../host/node-host.ts";
import { takeEnvironment } from "../host/terminals/command-environment.ts";
import { Deadline } from "../platform/deadline.ts";
import { messageOf } from "../platform/errors.ts";
import { gatheredOutput, incomingMessages } from "./message-lines.ts";
import { VERSION } from "./version.ts";

/** Limit of a message: no prompt of a person is longer. Bytes. */
const MAX_MESSAGE_BYTES = 32_000_000;
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
      return (await import("./setup.ts")).checkSetup(process.env);
    case "--setup": {
      const [{ setUp }, { terminalDialog }] = await Promise.all([import("./setup.ts"), import("./terminal-dialog.ts")]);
      return setUp(process.env, terminalDialog(process.stdin, process.stdout));
    }
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
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const { send, messages, failed } = gatheredOutput(process.stdout);
  const incoming = incomingMessages(process.stdin, {
    maxBytes: MAX_MESSAGE_BYTES,
    reply: (error) => void send(error).catch(() => undefined), // the connection reports a failed output
  });
  const service = serve(
    { readable: ReadableStream.from(incoming), writable: messages },
    { version: VERSION, environment: takeEnvironment(), local, log },
  );
  const { signal, closed } = service.connection;
  const ended = closed.then(() => (process.stdin.readableEnded ? undefined : signal.reason));
  const stopped = new Promise<undefined>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => resolve(undefined));
  });
  const fault: unknown = await Promise.race([ended, failed, stopped]);
  if (fault !== undefined) log(`hermes-acp: the connection to the editor failed: ${messageOf(fault)}`);
  await new Deadline(SHUTDOWN_MS).waitFor(service.dispose());
  process.exit(fault === undefined ? 0 : 1); // an open socket to a model must not keep the process alive
}
