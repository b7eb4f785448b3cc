/** The Host of a session over ACP: the client's files and terminals where it offers them, this machine's otherwise. */
import { homedir } from "node:os";
import { type AgentContext, type ClientCapabilities, RequestError } from "@zed-industries/agent-client-protocol";
import type { ConfiguredAgent } from "../agent/configured-agent.ts";
import { spillFolder, withheldFolder } from "../config/home.ts";
import type { EditedFile, FileProblems, Host, HostEditor, HostProblems, ProblemWatch } from "../host/host.ts";
import type { Backend } from "../host/terminals/backend.ts";
import { childRunner } from "../host/terminals/child-runner.ts";
import { configuredBackend } from "../host/terminals/configured-backend.ts";
import { sessionTerminals } from "../host/terminals/session-terminals.ts";
import { resolvePath } from "../platform/resolve-path.ts";
import { problemMethods } from "../protocol/editor.ts";
import { call, InvalidResponseError } from "../protocol/method.ts";
import { clientFiles } from "./client-files.ts";
import { clientRunner } from "./client-runner.ts";
import { hermesCapabilities } from "./connected-client.ts";
import type { SessionParams } from "./session-params.ts";

export type SessionHostOptions = Omit<AcpHostOptions, "roots" | "backend"> & {
  /** Our own home folder. */
  readonly home: string;
};

/** Runs commands where the configuration says. */
export function sessionHost(
  { terminal, variables }: Pick<ConfiguredAgent, "terminal" | "variables">,
  { cwd, otherFolders }: Pick<SessionParams, "cwd" | "otherFolders">,
  { home, ...options }: SessionHostOptions,
): Host {
  const roots = [cwd, ...otherFolders] as const;
  const scope = { cwd, roots, home: homedir(), hermesHome: home, resolvePath };
  const folders = { withheld: withheldFolder(home), outputs: spillFolder(home, options.sessionId) };
  const backend = configuredBackend(terminal, roots, variables, async (caches, kind) => {
    const { confine } = await import("../approval/confinement.ts");
    return confine(scope, { ...folders, caches }, kind);
  });
  return acpHost({ ...options, roots, backend });
}

type AcpHostOptions = {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly sessionId: string;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** This machine. */
  readonly local: Host;
  /** Runs commands on this machine or elsewhere. */
  readonly backend: Backend;
};

/** Runs commands with `backend`. */
export function acpHost({ client, capabilities, sessionId, roots, local, backend }: AcpHostOptions): Host {
  const ours = hermesCapabilities(capabilities);
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
