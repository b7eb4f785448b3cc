/** Runs a script of the agent in the session's place for commands, and ends everything that it started. */
import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { quote } from "../host/terminals/preamble.ts";
import type {
  CommandExit,
  CommandOutput,
  HostTerminals,
  RunningCommand,
  SandboxKind,
  ShellState,
} from "../host/terminals/terminals.ts";
import { makeSocketFolder } from "../platform/make-folder.ts";
import type { ToolSchema } from "../providers/wire/wire.ts";
import { moduleFiles, type ScriptLanguage } from "./hermes-tools.ts";
import { startToolServer } from "./tool-server.ts";

/** A script that prints more is an error that would fill the disk. Characters. */
const MAX_PRINTED_CHARS = 64 * 1024 ** 2;
/** A script with more processes is a fork bomb: a build in parallel has fewer. */
const MAX_PROCESSES = 200;
/** Interval of counting them. Short scripts end before the first count. Milliseconds. */
const COUNT_MS = 400;

export type ScriptLimits = {
  /** Run time in seconds, without that of tool calls, which have timeouts of their own and may wait for the user. */
  readonly timeoutSeconds: number;
  readonly maxToolCalls: number;
};

export type Script = {
  readonly code: string;
  readonly language: ScriptLanguage;
  readonly limits: ScriptLimits;
  /** State of the shell that the script starts from. */
  readonly shell: ShellState;
  readonly sandbox: SandboxKind | undefined;
  /** Absolute path; receives all output. */
  readonly outputFile: string;
  /** Schemas of the tools that the script may call. */
  readonly tools: readonly ToolSchema[];
};

export type ScriptPorts = {
  readonly terminals: HostTerminals;
  /** Runs a tool call and returns the text for the model. Rejects with the signal's reason. */
  callTool(name: string, input: unknown, signal: AbortSignal): Promise<string>;
  onOutput(text: string): void;
};

/** Reason why a script was ended. */
export type ScriptStop = "timeout" | "cancelled" | "flood" | "fork bomb";

export type ScriptEnd = {
  readonly exit: CommandExit;
  /** Undefined when the script ended by itself. */
  readonly stop: ScriptStop | undefined;
  readonly toolCalls: number;
  readonly output: CommandOutput;
  /** One sentence each, about effects of the script that were found or reverted. */
  readonly notes: readonly string[];
};

/** Rejects with a sentence for people when the script cannot start. */
export async function runScript(script: Script, ports: ScriptPorts, signal: AbortSignal): Promise<ScriptEnd> {
  const folder = await makeSocketFolder("hermes-code-");
  try {
    return await runIn(folder, script, ports, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runIn(folder: string, script: Script, ports: ScriptPorts, signal: AbortSignal): Promise<ScriptEnd> {
  const channel = { socket: join(folder, "calls"), token: randomUUID() };
  const file = { path: script.language === "python" ? "script.py" : "script.mjs", text: script.code };
  await Promise.all(
    [file, ...moduleFiles(script.language, script.tools, channel)].map(async ({ path, text }) => {
      await mkdir(join(folder, dirname(path)), { recursive: true, mode: 0o700 });
      await writeFile(join(folder, path), text, { mode: 0o600 });
    }),
  );
  const stopping = new Stopping(script.limits.timeoutSeconds, signal);
  const server = await startToolServer({
    ...channel,
    maxCalls: script.limits.maxToolCalls,
    tools: new Set(script.tools.map(({ name }) => name)),
    call: (name, input) => stopping.whilePaused(() => ports.callTool(name, input, stopping.signal)),
  });
  try {
    const running = await start(join(folder, file.path), folder, script, { ports, stopping });
    try {
      return await follow(running, stopping, server);
    } finally {
      await end(running);
    }
  } finally {
    stopping.finish();
    await server.close();
  }
}

function start(
  file: string,
  scriptFolder: string,
  { language, shell, sandbox, outputFile }: Script,
  { ports, stopping }: { readonly ports: ScriptPorts; readonly stopping: Stopping },
): Promise<RunningCommand> {
  let printed = 0;
  return ports.terminals.start(
    {
      command: commandLine(file, language),
      ...{ shell, sandbox, outputFile, scriptFolder },
      keepsShell: false,
      input: "none",
      pty: false,
      onOutput(text) {
        printed += text.length;
        if (printed > MAX_PRINTED_CHARS) stopping.stop("flood");
        else ports.onOutput(text);
      },
    },
    stopping.signal,
  );
}

/** Python finds the modules of the working folder, as it does for code from its standard input. */
function commandLine(file: string, language: ScriptLanguage): string {
  return language === "python"
    ? `export PYTHONPATH="$PWD\${PYTHONPATH:+:$PYTHONPATH}" PYTHONIOENCODING=utf-8:backslashreplace; exec python3 -u ${quote(file)}`
    : `command -v node >/dev/null && exec node ${quote(file)}; ELECTRON_RUN_AS_NODE=1 exec ${quote(process.execPath)} ${quote(file)}`;
}

async function follow(
  running: RunningCommand,
  stopping: Stopping,
  server: { readonly calls: number },
): Promise<ScriptEnd> {
  const counting = countProcesses(running, stopping);
  const stop = await Promise.race([running.exit.then(() => undefined), stopping.stopped]).finally(counting.stop);
  if (stop !== undefined) await running.kill();
  const exit = stop === undefined ? await running.exit : { exitCode: null, signal: null };
  const notes = stop === undefined ? [...(await running.inspected())] : [];
  if (await running.hasSurvivors()) {
    await running.kill();
    notes.push("programs that it left running were ended");
  }
  return { exit, stop, toolCalls: server.calls, output: await running.output(), notes };
}

/** Ends a script that starts processes without end. */
function countProcesses(running: RunningCommand, stopping: Stopping): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const next = (): void => {
    if (!isOver) timer = setTimeout(() => void count().then(next, next), COUNT_MS);
  };
  const count = async (): Promise<void> => {
    if ((await running.countProcesses()) > MAX_PROCESSES) stopping.stop("fork bomb");
  };
  next();
  return {
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

async function end(running: RunningCommand): Promise<void> {
  await running.kill().catch(() => undefined); // it has ended already
  await running.release();
}

/** Ends a script for one of several reasons: the first one counts. Its clock stops while tool calls run. */
class Stopping {
  readonly #controller = new AbortController();
  readonly #stopped = Promise.withResolvers<ScriptStop>();
  readonly #cancel: () => void;
  readonly #turn: AbortSignal;
  #leftMs: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutSeconds: number, turn: AbortSignal) {
    this.#leftMs = timeoutSeconds * 1_000;
    this.#turn = turn;
    this.#cancel = () => this.stop("cancelled");
    turn.addEventListener("abort", this.#cancel, { once: true });
    if (turn.aborted) this.#cancel();
    this.#resume();
  }

  get stopped(): Promise<ScriptStop> {
    return this.#stopped.promise;
  }

  /** Aborted when the script is ended, and when it has ended by itself. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(reason: ScriptStop): void {
    this.#stopped.resolve(reason);
    this.#controller.abort(
      reason === "cancelled" ? this.#turn.reason : new DOMException("The script was ended.", "AbortError"),
    );
  }

  async whilePaused<Value>(work: () => Promise<Value>): Promise<Value> {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#since;
    try {
      return await work();
    } finally {
      if (!this.signal.aborted) this.#resume();
    }
  }

  /** Ends the calls that a script left unfinished. */
  finish(): void {
    clearTimeout(this.#timer);
    this.#turn.removeEventListener("abort", this.#cancel);
    this.#controller.abort(new DOMException("The script has ended.", "AbortError"));
  }

  #resume(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.stop("timeout"), Math.max(0, this.#leftMs));
  }
}
