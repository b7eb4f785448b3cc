/** HostTerminals through the client: the user watches the command in the editor's own terminal. */
import {
  type AgentContext,
  type CreateTerminalRequest,
  methods,
  type TerminalOutputRequest,
} from "@zed-industries/agent-client-protocol";
import type { CommandExit, CommandOutput, CommandRequest, HostTerminals, RunningCommand } from "../host/host.ts";
import { readOutputFile } from "../host/output-file.ts";
import { shellCommand } from "../host/shell.ts";
import type { HermesTerminalMeta } from "./meta.ts";

/** What a client keeps that does not write the output to our file. Bytes. */
const OUTPUT_BYTE_LIMIT = 4_194_304;

export type ClientTerminalsOptions = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** The client writes all output to the file we name. */
  readonly writesOutputFile: boolean;
};

export function clientTerminals(options: ClientTerminalsOptions): HostTerminals {
  return { start: (request, signal) => start(options, request, signal) };
}

async function start(
  { client, sessionId, writesOutputFile }: ClientTerminalsOptions,
  request: CommandRequest,
  signal: AbortSignal,
): Promise<RunningCommand> {
  signal.throwIfAborted();
  const hermes: HermesTerminalMeta = { outputFile: request.outputFile };
  const create: CreateTerminalRequest = {
    sessionId,
    ...shellCommand(request.command),
    cwd: request.cwd,
    env: Object.entries(request.env ?? {}).map(([name, value]) => ({ name, value })),
    outputByteLimit: OUTPUT_BYTE_LIMIT,
    _meta: { hermes },
  };
  const { terminalId } = await client.request(methods.client.terminal.create, create);
  const terminal: TerminalOutputRequest = { sessionId, terminalId };
  const exit = client
    .request(methods.client.terminal.waitForExit, terminal)
    .then(({ exitCode, signal: ended }): CommandExit => ({ exitCode: exitCode ?? null, signal: ended ?? null }));
  exit.catch(() => undefined); // also observed by whoever waits; a closed connection must not count as unhandled
  return {
    terminalId,
    exit,
    output: () => (writesOutputFile ? readOutputFile(request.outputFile) : clientOutput(client, terminal)),
    async kill() {
      await client.request(methods.client.terminal.kill, terminal);
    },
    async release() {
      await client.request(methods.client.terminal.release, terminal);
    },
  };
}

async function clientOutput(client: AgentContext, terminal: TerminalOutputRequest): Promise<CommandOutput> {
  const { output, truncated } = await client.request(methods.client.terminal.output, terminal);
  const head = truncated ? `[the editor kept only the end of this output]\n${output}` : output;
  return { head, tail: "", totalBytes: Buffer.byteLength(output), omittedBytes: 0, file: undefined };
}
