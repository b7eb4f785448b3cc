import { randomUUID } from "node:crypto";
import * as z from "zod";
import type {
  PasswordAnswer,
  PasswordQuestion,
  RunningCommand,
  SandboxKind,
  ShellState,
} from "../host/terminals/terminals.ts";
import { spillPath } from "../sessions/session-files.ts";
import { nearFiles } from "./nearest-names.ts";
import { absolutePath, shortTitle } from "./shown-path.ts";
import { exitNote, LiveText, lastLine, shownOutput } from "./terminal/output-text.ts";
import { type Ending, waitForEnd } from "./terminal/wait-for-end.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const MAX_TIMEOUT_SECONDS = 600;
/** A background command is awaited this long, so that its result reports a failure at the start. */
const BACKGROUND_WAIT_SECONDS = 1;

const SANDBOX_NOTES: Readonly<Record<SandboxKind, string>> = {
  isolated:
    "sandboxed: no network, writes only in the workspace and by git alone in .git, home and other processes hidden; if that made the command fail, call again with network, or else with unsandboxed",
  reading:
    "sandboxed: no network, no writes, home and files with keys or passwords hidden; to read such a file, name it in the command",
  networked:
    "sandboxed with network: writes only in the workspace, home, other processes and files with keys or passwords hidden; if that made the command fail, call again with unsandboxed",
};
const APART =
  "in a sandbox of its own, with other process numbers and, without network, other ports; end it with process kill, and reach its server in the same command or with network in both";

const input = z.object({
  command: z
    .string()
    .refine((command) => command.trim() !== "", "must not be empty")
    .refine((command) => !command.includes("\0"), "must not contain a NUL character"),
  background: z.boolean().default(false).describe("Do not wait for the end (servers, watchers); see process"),
  timeout: z.number().positive().max(MAX_TIMEOUT_SECONDS).optional().describe("Seconds; default 180"),
  workdir: z.string().min(1).optional().describe("For this call only"),
  pty: z.boolean().default(false),
  network: z.boolean().default(false).describe("It downloads or serves; asks the user"),
  unsandboxed: z.boolean().default(false).describe("Only after the sandbox made it fail; asks the user"),
  watch: z.array(z.string().min(1)).max(8).optional().describe("background: notify of these printed texts"),
});

type Input = z.infer<typeof input>;

export const tool = defineTool({
  name: "terminal",
  toolset: "terminal",
  kind: "execute",
  readOnly: false,
  need: "core",
  largeOutput: true,
  description:
    "Run a shell command. Folder and exported variables persist between calls. Long output is cut, with a file that has all. A command that waits for input becomes a process.",
  input,
  title: ({ command }) => shortTitle(command),
  effect: ({ command, workdir, network, unsandboxed }, _, shell) => ({
    kind: "command",
    command,
    cwd: absolutePath(workdir ?? ".", shell.folder),
    ...(shell.variables !== undefined && { variables: shell.variables }),
    ...((network || unsandboxed) && { reach: unsandboxed ? "outside" : "network" }),
  }),
  run,
});

/** A running command and the state of its start. */
type Started = {
  readonly input: Input;
  readonly before: ShellState;
  readonly running: RunningCommand;
  readonly begin: number;
  readonly passwords: Passwords;
};

/** Questions for passwords that the command waits with. */
class Passwords {
  readonly #context: ToolContext;
  #open = 0;
  #problem: string | undefined;
  #typed: boolean = false;

  constructor(context: ToolContext) {
    this.#context = context;
  }

  get isAsking(): boolean {
    return this.#open > 0;
  }

  /** Note for the model about a password that the command did not get. */
  get notes(): readonly string[] {
    return this.#problem === undefined ? [] : [this.#problem];
  }

  /** Types a password into a pseudo-terminal that hides it. False: the user gave none. */
  async type(running: RunningCommand, command: string): Promise<boolean> {
    const { head, tail } = await running.output();
    const question = { prompt: lastLine(tail || head), command, isPrivileged: false, isRetry: this.#typed };
    const answer = await this.ask(question, this.#context.signal);
    if (answer.kind !== "given") return false;
    this.#typed = true;
    return (await running.write(`${answer.password}\n`)).ok;
  }

  async ask(question: PasswordQuestion, programEnds: AbortSignal): Promise<PasswordAnswer> {
    const { askPassword, signal } = this.#context;
    this.#open += 1;
    try {
      const ends = AbortSignal.any([programEnds, signal]);
      const answer = (await askPassword?.(question, ends)) ?? { kind: "unavailable" as const };
      if (answer.kind !== "given") this.#problem = PASSWORD_NOTES[answer.kind];
      return answer;
    } finally {
      this.#open -= 1;
    }
  }
}

const PASSWORD_NOTES = {
  refused: "it asked for a password, and the user gave none",
  unavailable:
    "it asked for a password, and no user can be asked for one here: they can run the command in a terminal of their own",
};

async function run(input: Input, context: ToolContext): Promise<ToolResult> {
  const { shell, shellFolder, processes } = context;
  const before = shell.stateIn(absolutePath(input.workdir ?? ".", shellFolder));
  const problem =
    (await folderProblem(before.folder, input, context)) ??
    (input.background ? await processes.limitReason() : undefined);
  if (problem !== undefined) return { ok: false, text: `terminal: ${problem}` };
  const passwords = new Passwords(context);
  const running = await start(input, before, context, passwords);
  if (running.terminalId !== undefined) context.show({ type: "terminal", terminalId: running.terminalId });
  const started: Started = { input, before, running, begin: performance.now(), passwords };
  try {
    const { result, isKept } = await follow(started, context);
    if (!isKept) await free(running);
    return { ...result, ...(running.terminalId !== undefined && { terminalId: running.terminalId }) };
  } catch (error) {
    await running.kill();
    await free(running);
    throw error;
  }
}

async function folderProblem(folder: string, { workdir }: Input, context: ToolContext): Promise<string | undefined> {
  const { host, shell, cwd } = context;
  if (host.terminals.place !== undefined) return undefined; // the remote shell reports it
  const stat = await host.files.stat(folder);
  if (stat?.kind === "directory") return undefined;
  if (stat !== undefined) return `${folder} is a file, not a folder.`;
  if (workdir !== undefined) return `the folder ${folder} does not exist.${await nearFiles(folder, cwd, host)}`;
  const first = shell.reset();
  if (first === folder) return `the session's folder ${folder} does not exist. Commands run once the user has it back.`;
  return `the shell's folder ${folder} no longer exists. The shell is in ${first} now; call again.`;
}

function start(
  { command, background, pty }: Input,
  shell: ShellState,
  context: ToolContext,
  passwords: Passwords,
): Promise<RunningCommand> {
  const { host, signal, show, sandbox, writable } = context;
  const live = new LiveText();
  const takesInput = (background || host.terminals.seesWaiting) && !READERS.test(command);
  return host.terminals.start(
    {
      command,
      shell,
      keepsShell: !background,
      input: takesInput ? "open" : "none",
      pty,
      sandbox,
      writable,
      // Some models reuse the ids of their calls.
      outputFile: spillPath(context, "terminal", `-${randomUUID().slice(0, 8)}.log`),
      onOutput: (piece) => show({ type: "output", text: live.push(piece) }),
      askPassword: (question, ends) => passwords.ask(question, ends),
      hasPasswords: context.askPassword !== undefined,
    },
    signal,
  );
}

type Followed = { readonly result: ToolResult; readonly isKept: boolean };

async function follow(started: Started, context: ToolContext): Promise<Followed> {
  const { input, running, passwords } = started;
  const timeout = input.timeout ?? context.commandSeconds;
  const seconds = input.background ? BACKGROUND_WAIT_SECONDS : timeout;
  let ending = await waitForEnd(running, seconds, context.signal, () => passwords.isAsking);
  while (ending.kind === "asks" && (await running.hidesInput()) && (await passwords.type(running, input.command))) {
    ending = await waitForEnd(running, seconds, context.signal);
  }
  if (ending.kind === "exited") return ended(started, ending, context);
  if (ending.kind === "asks" || (ending.kind === "timed-out" && input.background)) {
    const { id } = await register(started, context);
    const why =
      ending.kind === "asks"
        ? `waits for input as ${id}: answer with process write, or end it with process kill`
        : `runs in the background as ${id}: see process${apartNote(context)}`;
    return { result: await resultOf(running, [...passwords.notes, why].join("; "), true), isKept: true };
  }
  await running.kill();
  const late = `stopped: timeout after ${timeout} s. Use a longer timeout, or run it in the background`;
  const result = await resultOf(running, ending.kind === "cancelled" ? "stopped by the user" : late, false);
  return { result: { ...result, command: { text: input.command, exit: null } }, isKept: false };
}

async function ended(
  started: Started,
  { exit }: Extract<Ending, { kind: "exited" }>,
  context: ToolContext,
): Promise<Followed> {
  const { input, before, running, begin, passwords } = started;
  const { place } = context.host.terminals;
  const notes = [`${exitNote(input.command, exit)}, ${((performance.now() - begin) / 1000).toFixed(1)} s`];
  notes.push(...passwords.notes);
  if (place !== undefined) notes.push(`on ${place}`);
  const after = await running.shellAfter();
  const moved = after && context.shell.adopt(before, after);
  if (moved !== undefined) notes.push(`the shell is in ${moved} now; file tools still start from ${context.cwd}`);
  const leftBehind = await running.hasSurvivors();
  notes.push(...(await running.inspected()));
  notes.push(...(await placeNotes(exit.exitCode === 0, context)));
  const isLong = (await running.output()).tail !== "";
  if (leftBehind || isLong) {
    const process = await register(started, context);
    process.isReported = !leftBehind;
    if (!leftBehind) await process.release(); // its file is enough
    notes.push(
      leftBehind
        ? `a program that it started still runs as ${process.id}: see process${apartNote(context)}`
        : `process log ${process.id} shows any part of it`,
    );
  }
  const result = await resultOf(running, notes.join("; "), exit.exitCode === 0);
  const command = { text: input.command, exit: exit.exitCode };
  return { result: { ...result, command }, isKept: leftBehind || isLong };
}

const apartNote = ({ sandbox }: ToolContext): string => (sandbox === undefined ? "" : `; ${APART}`);

/** Notes about the command's sandbox. A command that failed may have looked for a process in another one. */
async function placeNotes(isOk: boolean, { sandbox, processes }: ToolContext): Promise<readonly string[]> {
  const isPlain = isOk && sandbox !== "reading";
  const own = sandbox === undefined ? [] : [isPlain ? "sandboxed" : SANDBOX_NOTES[sandbox]];
  const others = isOk ? [] : processes.list().filter(({ isSandboxed }) => isSandboxed);
  const states = await Promise.all(others.map((one) => one.state()));
  const ids = others.filter((_, at) => states[at]?.kind !== "ended").map(({ id }) => id);
  return ids.length === 0 ? own : [...own, `${ids.join(", ")}: ${APART}`];
}

/** Turns the command into a process of the session; its output so far counts as seen. */
async function register({ input, before, running }: Started, { processes, sandbox }: ToolContext) {
  const seenBytes = (await running.read(0, 0)).totalBytes;
  const { command, watch = [] } = input;
  const isSandboxed = sandbox !== undefined;
  return processes.add({ command, folder: before.folder, running, seenBytes, watch, isSandboxed });
}

async function resultOf(running: RunningCommand, note: string, ok: boolean): Promise<ToolResult> {
  const output = shownOutput(await running.output());
  return { ok, text: `${output === "" ? "" : `${output}\n`}[${note}]` };
}

function free(running: RunningCommand): Promise<void> {
  return running.release().catch(() => undefined); // a terminal that stays open does not change the result
}

/** Programs that read an open input instead of files, and would wait where they should search. */
const READERS = /(?:^|[\s;&|(`/])(?:rg|ag|ack|fzf)(?:\s|$)/;
