/**
 * Process that runs scripts in the session's place for commands. Python stays for the next script, with its variables; Node
 * runs one, because it never reads a changed module again. Everything else that a script started ends with it.
 */
import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { quote } from "../host/terminals/preamble.ts";
import type { CommandExit, CommandOutput, RunningCommand } from "../host/terminals/terminals.ts";
import { makeSocketFolder } from "../platform/make-folder.ts";
import {
  type Channel,
  nodeFiles,
  pythonFiles,
  READY,
  type ScriptFile,
  type ScriptLanguage,
  scriptEnd,
  toolFunctions,
} from "./hermes-tools.ts";
import { type Script, type ScriptEnd, type ScriptPorts, type ScriptStop, Stopping } from "./script.ts";
import { startToolServer } from "./tool-server.ts";

/** A script that prints more is an error that would fill the disk. Characters. */
const MAX_PRINTED_CHARS = 64 * 1024 ** 2;
/** A script with more processes is a fork bomb: a build in parallel has fewer. */
const MAX_PROCESSES = 200;
/** Interval of counting them. Short scripts end before the first count. Milliseconds. */
const COUNT_MS = 400;
/** Parts of a long output that the model gets. Characters. */
const HEAD_CHARS = 20_000;
const TAIL_CHARS = 30_000;

export class Interpreter {
  readonly #first: Script;
  readonly #folder: string;
  #process: RunningCommand | undefined;
  /** Ids of its processes while no script runs. */
  #own: readonly number[] = [];
  #count = 0;
  #printedChars = 0;
  #onText: (text: string) => void = () => undefined;
  #hasEnded = false;

  private constructor(first: Script, folder: string) {
    this.#first = first;
    this.#folder = folder;
  }

  static async create(first: Script): Promise<Interpreter> {
    return new Interpreter(first, await makeSocketFolder("hermes-code-"));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Reason why it cannot run this script; undefined when it can. */
  async unfitFor({ sandbox, shell }: Script): Promise<string | undefined> {
    const first = this.#first;
    if (first.sandbox !== sandbox || !(await this.#process?.isCurrent())) return "the sandbox has changed";
    const isSame = first.shell.variables === shell.variables && first.shell.confined === shell.confined;
    return isSame ? undefined : "the shell's variables have changed";
  }

  /** Rejects with a sentence for people when the process cannot start. */
  async run(script: Script, ports: ScriptPorts, signal: AbortSignal): Promise<ScriptEnd> {
    this.#count += 1;
    const channel = { socket: join(this.#folder, `calls-${this.#count}`), token: randomUUID() };
    const stopping = new Stopping(script.limits.timeoutSeconds, signal);
    const server = await startToolServer({
      ...channel,
      maxCalls: script.limits.maxToolCalls,
      tools: new Set(script.tools.map(({ name }) => name)),
      call: (name, input) => stopping.whilePaused(() => ports.callTool(name, input, stopping.signal)),
    });
    try {
      const output = new PrintedText();
      const done = Promise.withResolvers<number>();
      let last = "";
      this.#onText = (text) => {
        this.#printedChars += text.length;
        if (this.#printedChars > MAX_PRINTED_CHARS) return stopping.stop("flood");
        output.push(text);
        ports.onOutput(text);
        const code = scriptEnd(last + text, channel.token);
        if (code !== undefined) done.resolve(code);
        last = (last + text).slice(-channel.token.length * 2);
      };
      const running = await this.#begin(script, channel, { ports, stopping });
      const how = await followed(running, done.promise, stopping);
      const notes = await this.#clear(running, how);
      const { file } = await running.output();
      return { exit: how.exit, stop: how.stop, toolCalls: server.calls, output: output.shown(file), notes };
    } catch (error) {
      await this.end();
      throw error;
    } finally {
      stopping.finish();
      await server.close();
    }
  }

  /** Ends the process with all that it started. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#process?.kill().catch(() => undefined); // it has ended already
    await this.#process?.release();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Starts the process if needed, and the script in it. */
  async #begin(script: Script, channel: Channel, around: Around): Promise<RunningCommand> {
    const { language, code, tools, shell } = script;
    if (language === "node") {
      await this.#write([{ path: "script.mjs", text: code }, ...nodeFiles(tools, channel)]);
      this.#process = await this.#start("script.mjs", "none", script, around);
      return this.#process;
    }
    const path = `script-${this.#count}.py`;
    await this.#write([{ path, text: code }, ...(this.#process === undefined ? pythonFiles() : [])]);
    this.#process ??= await this.#startPython(script, around);
    const task = { file: join(this.#folder, path), folder: shell.folder, channel, tools: toolFunctions(tools) };
    await this.#process.write(`${JSON.stringify(task)}\n`);
    return this.#process;
  }

  async #startPython(script: Script, around: Around): Promise<RunningCommand> {
    const ready = Promise.withResolvers<void>();
    const onScript = this.#onText;
    let printed = "";
    this.#onText = (text) => {
      printed += text;
      if (printed.includes(READY)) ready.resolve();
      onScript(text);
    };
    const running = await this.#start("interpreter.py", "open", script, around);
    this.#process = running;
    await Promise.race([ready.promise, running.exit, around.stopping.stopped]);
    this.#onText = onScript;
    this.#own = await running.members();
    return running;
  }

  #start(
    file: string,
    input: "none" | "open",
    { language, shell, sandbox, outputFile }: Script,
    { ports, stopping }: Around,
  ): Promise<RunningCommand> {
    return ports.terminals.start(
      {
        command: commandLine(join(this.#folder, file), language),
        shell,
        sandbox,
        outputFile,
        input,
        scriptFolder: this.#folder,
        keepsShell: false,
        pty: false,
        onOutput: (text) => this.#onText(text),
      },
      stopping.signal,
    );
  }

  /** Ends what the script left running. The process stays when nothing is left, and the sandbox is still tight. */
  async #clear(running: RunningCommand, { stop, isOver }: Followed): Promise<readonly string[]> {
    if (stop !== undefined) {
      await this.end();
      return this.#lost(stop);
    }
    const left = isOver ? await running.hasSurvivors() : await this.#hasLeft(running);
    const stays = !isOver && !left && (await running.isCurrent()) && this.#printedChars < MAX_PRINTED_CHARS;
    if (stays) return [];
    await running.kill().catch(() => undefined); // it has ended already
    const inspected = await running.inspected();
    await this.end();
    return [...inspected, ...(left ? ["programs that it left running were ended"] : []), ...this.#lost(stop)];
  }

  async #hasLeft(running: RunningCommand): Promise<boolean> {
    const own = new Set(this.#own);
    return (await running.members()).some((pid) => !own.has(pid));
  }

  /** The model never reads the result of a cancelled script. */
  #lost(stop: ScriptStop | undefined): readonly string[] {
    return this.#first.language === "node" || stop === "cancelled" ? [] : ["its variables are gone"];
  }

  async #write(files: readonly ScriptFile[]): Promise<void> {
    for (const { path, text } of files) {
      await mkdir(join(this.#folder, dirname(path)), { recursive: true, mode: 0o700 });
      await writeFile(join(this.#folder, path), text, { mode: 0o600 });
    }
  }
}

type Around = { readonly ports: ScriptPorts; readonly stopping: Stopping };

/** `isOver`: the process has ended by itself. */
type Followed = { readonly exit: CommandExit; readonly stop: ScriptStop | undefined; readonly isOver: boolean };

async function followed(running: RunningCommand, done: Promise<number>, stopping: Stopping): Promise<Followed> {
  const counting = countProcesses(running, stopping);
  const first = await Promise.race([
    running.exit.then((exit) => ({ exit, stop: undefined, isOver: true })),
    done.then((exitCode) => ({ exit: { exitCode, signal: null }, stop: undefined, isOver: false })),
    stopping.stopped.then((stop) => ({ exit: { exitCode: null, signal: null }, stop, isOver: false })),
  ]);
  counting.stop();
  return first;
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

/** Python finds the modules of the working folder, as it does for code from its standard input. */
function commandLine(file: string, language: ScriptLanguage): string {
  return language === "python"
    ? `export PYTHONPATH="$PWD\${PYTHONPATH:+:$PYTHONPATH}" PYTHONIOENCODING=utf-8:backslashreplace; exec python3 -u ${quote(file)}`
    : `command -v node >/dev/null && exec node ${quote(file)}; ELECTRON_RUN_AS_NODE=1 exec ${quote(process.execPath)} ${quote(file)}`;
}

/** First and last part of the text that one script printed. */
class PrintedText {
  #head = "";
  #tail = "";
  #bytes = 0;
  #isWhole: boolean = true;

  push(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    this.#isWhole &&= this.#head.length + this.#tail.length + text.length <= HEAD_CHARS + TAIL_CHARS;
    const room = HEAD_CHARS - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail = (this.#tail + text.slice(room)).slice(-TAIL_CHARS);
  }

  /** `file` has the whole output. */
  shown(file: string | undefined): CommandOutput {
    const totalBytes = this.#bytes;
    if (this.#isWhole) return { head: this.#head + this.#tail, tail: "", totalBytes, omittedBytes: 0, file };
    const [head, tail] = [this.#head.toWellFormed(), this.#tail.toWellFormed()];
    return { head, tail, totalBytes, omittedBytes: totalBytes - Buffer.byteLength(head + tail), file };
  }
}
