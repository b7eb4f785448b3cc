/** The Host of a session over ACP: the client's files and terminals where it offers them, this machine's otherwise. */
import { homedir } from "node:os";
import {
  type AgentContext,
  type CreateTerminalRequest,
  methods,
  RequestError,
  type TerminalOutputRequest,
} from "@zed-industries/agent-client-protocol";
import type { ConfiguredAgent } from "../agent/configured-agent.ts";
import type { SandboxWatch } from "../approval/sandbox-watch.ts";
import { spillFolder, withheldFolder } from "../config/home.ts";
import type {
  EditedFile,
  FileProblems,
  Host,
  HostEditor,
  HostFiles,
  HostProblems,
  ProblemWatch,
} from "../host/host.ts";
import type { Backend, Launch, Runner, Started } from "../host/terminals/backend.ts";
import { childRunner } from "../host/terminals/child-runner.ts";
import { configuredBackend } from "../host/terminals/configured-backend.ts";
import { readOutputFile, readOutputPart } from "../host/terminals/output-file.ts";
import { launchScript } from "../host/terminals/preamble.ts";
import { sessionTerminals } from "../host/terminals/session-terminals.ts";
import type { CommandExit, CommandOutput, OutputPart, WriteOutcome } from "../host/terminals/terminals.ts";
import { resolvePath } from "../platform/paths.ts";
import { problemMethods } from "../protocol/editor.ts";
import { call, InvalidResponseError, readMeta } from "../protocol/method.ts";
import {
  type HermesTerminalInput,
  type HermesTerminalMeta,
  HermesTerminalStarted,
  terminalMethods,
} from "../protocol/processes.ts";
import { clientFiles } from "./client-files.ts";
import type { ConnectedClient } from "./connected-client.ts";
import { messageWithCause } from "./request-errors.ts";
import type { SessionParams } from "./session-params.ts";

/** Without background work, planned jobs, slash commands, and the project's files of instructions. */
export type TaskOptions = {
  /** Added to the system prompt. */
  readonly systemMessage: string | undefined;
  /** Home whose lists of models the tasks share. */
  readonly modelsHome: string;
  /** Folder for temporary files of its commands, absolute. */
  readonly temporary: string;
};

type SessionHostOptions = Omit<AcpHostOptions, "roots" | "backend"> & {
  /** Our own home folder. */
  readonly home: string;
  readonly task: TaskOptions | undefined;
};

/** Runs commands where the configuration says. */
export function sessionHost(
  { config, variables }: Pick<ConfiguredAgent, "config" | "variables">,
  { cwd, otherFolders }: Pick<SessionParams, "cwd" | "otherFolders">,
  { home, task, ...options }: SessionHostOptions,
): Host {
  const roots = [cwd, ...otherFolders] as const;
  const scope = { cwd, roots, home: homedir(), hermesHome: home, resolvePath };
  const folders = { withheld: withheldFolder(home), outputs: spillFolder(home, options.sessionId) };
  let watch: SandboxWatch | undefined;
  const backend = configuredBackend(config.terminal, roots, variables, {
    temporary: task?.temporary,
    async confine(caches, command) {
      const { watchOf } = await import("../approval/sandbox-watch.ts");
      const { confine } = await import("../approval/confinement.ts");
      watch = watchOf(scope);
      return confine(scope, { ...folders, caches }, command);
    },
    settle: async () => (await watch?.settle(folders.withheld)) ?? [],
    async guardGit(caches, command, writable) {
      const { guardedLine } = await import("../approval/git-guard.ts");
      return guardedLine(command, caches, scope, writable);
    },
  });
  const host = acpHost({ ...options, roots, backend });
  return { ...host, files: reportedFiles(host.files, async (path) => watch?.accept([path])) };
}

/** The same files; `onWritten` gets the path of each file that was written. */
function reportedFiles(files: HostFiles, onWritten: (path: string) => Promise<void>): HostFiles {
  return {
    ...files,
    async guardedWrite(write, signal) {
      const written = await files.guardedWrite(write, signal);
      if (written.ok) await onWritten(write.path);
      return written;
    },
    async rename(move, signal) {
      const moved = await files.rename(move, signal);
      if (moved.ok) await onWritten(move.to);
      return moved;
    },
  };
}

type AcpHostOptions = {
  readonly client: AgentContext;
  readonly identity: Pick<ConnectedClient, "ours" | "capabilities">;
  readonly sessionId: string;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** This machine. */
  readonly local: Host;
  /** Runs commands on this machine or elsewhere. */
  readonly backend: Backend;
};

/** Runs commands with `backend`. */
export function acpHost({ client, identity, sessionId, roots, local, backend }: AcpHostOptions): Host {
  const { ours, capabilities } = identity;
  return {
    search: local.search,
    files: clientFiles({
      client,
      sessionId,
      roots,
      canRead: capabilities.fs?.readTextFile === true,
      canWrite: capabilities.fs?.writeTextFile === true,
      givesUnsaved: ours.unsavedText === true,
      checksExpected: ours.expectedText === true,
      movesFiles: ours.fileMoves === true,
      reverts: ours.revert === true,
      disk: local.files,
    }),
    ...(ours.semanticTools === true && { editor: clientEditor(client) }),
    problems: ours.problems === true ? clientProblems({ client, sessionId, local: local.problems }) : local.problems,
    terminals: sessionTerminals(
      backend,
      capabilities.terminal === true
        ? clientRunner({ client, sessionId, isOurs: ours.terminals === true })
        : childRunner(),
    ),
  };
}

/** A language server may read a whole project before its first answer. Milliseconds. */
const EDITOR_TIMEOUT_MS = 30_000;

function clientEditor(client: AgentContext): HostEditor {
  return async (method, params, signal) => {
    const timeout = AbortSignal.timeout(EDITOR_TIMEOUT_MS);
    const cancellationSignal = AbortSignal.any([signal, timeout]);
    try {
      return await call(client, method, params, { cancellationSignal });
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.aborted) throw new Error(`The editor did not answer within ${EDITOR_TIMEOUT_MS / 1000} seconds.`);
      throw error;
    }
  };
}

type ClientProblemsOptions = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** Parsers on this machine. */
  readonly local: HostProblems;
};

/** Language servers need up to seconds: an edit returns before, and their problems follow. Milliseconds. */
const EDIT_WAIT_MS = 20;

/** Problems that the client's language servers find, and those of our parsers for other files. */
function clientProblems({ client, sessionId, local }: ClientProblemsOptions): HostProblems {
  const settled = async (watchId: string, edits: readonly EditedFile[], signal: AbortSignal) => {
    const paths = edits.map(({ path }) => path);
    const request = { sessionId, watchId, paths };
    const response = call(client, problemMethods.settled, request, { cancellationSignal: signal });
    return (await answered(response, signal))?.files ?? [];
  };
  return {
    async watch(id) {
      const none = new AbortController().signal;
      const isWatching = await answered(
        call(client, problemMethods.watch, { sessionId, watchId: id }).then(() => true),
        none,
      );
      const own = await local.watch(id);
      if (!isWatching) return own;
      return {
        waitMs: EDIT_WAIT_MS,
        async settled(edits, signal) {
          const [theirs, ours] = await Promise.all([settled(id, edits, signal), own.settled(edits, signal)]);
          return joined(theirs, ours);
        },
      } satisfies ProblemWatch;
    },
  };
}

/** Undefined when the client refuses or answers nonsense: an edit must not fail for that. */
async function answered<Value>(response: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  try {
    return await response;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RequestError || error instanceof InvalidResponseError) return undefined;
    throw error; // the connection is gone
  }
}

/** Drops the parser's problems of files in which a language server finds errors: it knows the language better. */
function joined(theirs: readonly FileProblems[], ours: readonly FileProblems[]): readonly FileProblems[] {
  const seesErrors = (path: string): boolean =>
    theirs.some((file) => file.path === path && file.after.some(({ severity }) => severity === "error"));
  return [...theirs, ...ours.filter(({ path }) => !seesErrors(path))];
}

/** Output kept by a client that does not write it to our file. Bytes. */
const OUTPUT_BYTE_LIMIT = 4_194_304;

type ClientRunnerOptions = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** The client is our own extension: it writes all output to our file, and takes input. */
  readonly isOurs: boolean;
};

/** Starts programs through the client, so that the user watches them in the editor's own terminal. */
export function clientRunner(options: ClientRunnerOptions): Runner {
  // A terminal of a foreign editor is a pseudo-terminal.
  return { givesPty: !options.isOurs, start: (launch, signal) => startTerminal(options, launch, signal) };
}

async function startTerminal(
  { client, sessionId, isOurs }: ClientRunnerOptions,
  launch: Launch,
  signal: AbortSignal,
): Promise<Started> {
  signal.throwIfAborted();
  const { cwd, env, hasWholeEnvironment = false, title, input, hasPty, outputFile } = launch;
  const hermes: HermesTerminalMeta = { outputFile, title, input, hasPty, hasWholeEnvironment };
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
  const { terminalId, _meta: meta } = await client
    .request(methods.client.terminal.create, create)
    .catch(async (error: unknown) => {
      await removeScript();
      throw error instanceof RequestError ? new Error(messageWithCause(error)) : error;
    });
  const terminal: TerminalOutputRequest = { sessionId, terminalId };
  const exit = client
    .request(methods.client.terminal.waitForExit, terminal)
    .then(({ exitCode, signal: ended }): CommandExit => ({ exitCode: exitCode ?? null, signal: ended ?? null }));
  void exit.then(removeScript, removeScript);
  exit.catch(() => undefined); // callers get the error; without callers it would count as unhandled, and end this process
  return {
    terminalId,
    tree: isOurs ? readMeta(HermesTerminalStarted, meta) : undefined,
    exit,
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
