/** Starts programs through the client, so that the user watches them in the editor's own terminal. */
import { isAbsolute } from "node:path";
import {
  type AgentContext,
  type CreateTerminalRequest,
  methods,
  type TerminalOutputRequest,
} from "@zed-industries/agent-client-protocol";
import type { Launch, Runner, Started } from "../host/terminals/backend.ts";
import { readOutputFile, readOutputPart } from "../host/terminals/output-file.ts";
import { launchScript } from "../host/terminals/preamble.ts";
import type { CommandExit, CommandOutput, OutputPart, WriteOutcome } from "../host/terminals/terminals.ts";
import type { ProcessTree } from "../platform/children/process-tree.ts";
import { call, readMeta } from "../protocol/method.ts";
import {
  HermesTerminalEnded,
  type HermesTerminalInput,
  type HermesTerminalMeta,
  HermesTerminalStarted,
  terminalMethods,
} from "../protocol/processes.ts";

/** Output kept by a client that does not write it to our file. Bytes. */
const OUTPUT_BYTE_LIMIT = 4_194_304;

export type ClientRunnerOptions = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** The client is our own extension: it writes all output to our file, and takes input. */
  readonly isOurs: boolean;
};

export function clientRunner(options: ClientRunnerOptions): Runner {
  // A terminal of a foreign editor is a pseudo-terminal.
  return { givesPty: !options.isOurs, start: (launch, signal) => start(options, launch, signal) };
}

async function start(
  { client, sessionId, isOurs }: ClientRunnerOptions,
  launch: Launch,
  signal: AbortSignal,
): Promise<Started> {
  signal.throwIfAborted();
  const { cwd, env, hasWholeEnvironment = false, title, input, hasPty, outputFile, userShell } = launch;
  const hermes: HermesTerminalMeta = {
    ...{ outputFile, title, input, hasPty, hasWholeEnvironment },
    ...(userShell && { userShell }),
  };
  const script = isOurs ? undefined : await launchScript(launch);
  const removeScript = async (): Promise<void> => script?.remove();
  const create: CreateTerminalRequest = {
    sessionId,
    command: script?.program ?? launch.program,
    args: [...(script?.args ?? launch.args)],
    cwd,
    env:
      script !== undefined && hasWholeEnvironment ? [] : Object.entries(env).map(([name, value]) => ({ name, value })),
    outputByteLimit: OUTPUT_BYTE_LIMIT,
    _meta: { hermes },
  };
  const created = client.request(methods.client.terminal.create, create);
  created.catch(removeScript);
  const { terminalId, _meta: meta } = await created;
  const terminal: TerminalOutputRequest = { sessionId, terminalId };
  const ending = client.request(methods.client.terminal.waitForExit, terminal);
  const exit = ending.then(
    ({ exitCode, signal: ended }): CommandExit => ({ exitCode: exitCode ?? null, signal: ended ?? null }),
  );
  void exit.then(removeScript, removeScript);
  const folderAfter = isOurs ? ending.then(({ _meta: said }) => absoluteFolder(said)) : undefined;
  // Callers get the error. Without callers it would count as unhandled, and end this process.
  for (const result of [exit, folderAfter]) result?.catch(() => undefined);
  return {
    terminalId,
    tree: isOurs ? treeOf(meta) : undefined,
    exit,
    ...(folderAfter !== undefined && { folderAfter }),
    output: () => (isOurs ? readOutputFile(outputFile) : clientOutput(client, terminal)),
    read: (from, maxBytes) =>
      isOurs ? readOutputPart(outputFile, from, maxBytes) : clientOutputPart(client, terminal, from, maxBytes),
    write: (text) => (isOurs ? writeInput(client, { sessionId, terminalId, text }) : Promise.resolve(CANNOT_WRITE)),
    async kill() {
      await client.request(methods.client.terminal.kill, terminal);
    },
    async release() {
      await client.request(methods.client.terminal.release, terminal);
    },
  };
}

const CANNOT_WRITE: WriteOutcome = {
  ok: false,
  reason: "This editor does not let the agent type into its terminals. Ask the user to type it there.",
};

function absoluteFolder(meta: unknown): string | undefined {
  const folder = readMeta(HermesTerminalEnded, meta)?.folder;
  return folder !== undefined && isAbsolute(folder) ? folder : undefined;
}

function treeOf(meta: unknown): ProcessTree | undefined {
  return readMeta(HermesTerminalStarted, meta);
}

async function writeInput(client: AgentContext, input: HermesTerminalInput): Promise<WriteOutcome> {
  const { reason } = await call(client, terminalMethods.input, input);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}

async function clientOutput(client: AgentContext, terminal: TerminalOutputRequest): Promise<CommandOutput> {
  const { output, truncated } = await client.request(methods.client.terminal.output, terminal);
  const head = truncated ? `[the editor kept only the end of this output]\n${output}` : output;
  return { head, tail: "", totalBytes: Buffer.byteLength(output), omittedBytes: 0, file: undefined };
}

/** Positions count from the start of the output that the client still has. */
async function clientOutputPart(
  client: AgentContext,
  terminal: TerminalOutputRequest,
  from: number,
  maxBytes: number,
): Promise<OutputPart> {
  const { output } = await client.request(methods.client.terminal.output, terminal);
  const bytes = Buffer.from(output);
  const start = Math.min(from, bytes.length);
  const part = new TextDecoder().decode(bytes.subarray(start, start + maxBytes), { stream: true });
  return { text: part, nextByte: start + Buffer.byteLength(part), totalBytes: bytes.length };
}
