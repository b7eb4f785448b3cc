import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import type { RunningCommand, ShellState } from "../host/terminals/terminals.ts";
import { nearFiles } from "./missing-file.ts";
import { absolutePath, shortTitle } from "./resolve-path.ts";
import { exitNote } from "./terminal/exit-note.ts";
import { LiveText } from "./terminal/live-text.ts";
import { readsAnyPipe } from "./terminal/reads-any-pipe.ts";
import { shownOutput } from "./terminal/shown-output.ts";
import { type Ending, waitForEnd } from "./terminal/wait-for-end.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const MAX_TIMEOUT_SECONDS = 600;
/** A background command is followed this long, so that one that fails at once is told of at once. */
const BACKGROUND_LOOK_SECONDS = 1;

const SANDBOX_NOTE =
  "sandboxed: no network, only the workspace can be written, secrets are hidden; where that was in the way, call again with unsandboxed";

const input = z.object({
  command: z
    .string()
    .refine((command) => command.trim() !== "", "must not be empty")
    .refine((command) => !command.includes("\0"), "must not hold a NUL character")
    .describe("Shell command"),
  background: z.boolean().default(false).describe("For servers and watchers: go on without waiting, see process"),
  timeout: z
    .number()
    .positive()
    .max(MAX_TIMEOUT_SECONDS)
    .optional()
    .describe("Seconds; default 180, or as the user set it"),
  workdir: z.string().min(1).optional().describe("Folder for this call only"),
  pty: z.boolean().default(false).describe("Run on a pseudo-terminal"),
  unsandboxed: z.boolean().default(false).describe("Only after the sandbox was in the way; asks the user"),
  watch: z.array(z.string().min(1)).max(8).optional().describe("With background: texts to be told of when printed"),
});

type Input = z.infer<typeof input>;

export const tool = defineTool({
  name: "terminal",
  toolset: "terminal",
  kind: "execute",
  readOnly: false,
  largeOutput: true,
  description:
    "Run a shell command. Folder and exported variables persist between calls. Gives output and exit code; long output keeps both ends, the whole is in a file. A command that asks for input becomes a process to write to.",
  input,
  title: ({ command }) => shortTitle(command),
  effect: ({ command, workdir, unsandboxed }, _, shell) => ({
    kind: "command",
    command,
    cwd: absolutePath(workdir ?? ".", shell.folder),
    unsandboxed,
  }),
  run,
});

/** A command that was started: what it began with, and what is known of it. */
type Started = {
  readonly input: Input;
  readonly before: ShellState;
  readonly running: RunningCommand;
  readonly begin: number;
};

async function run(input: Input, context: ToolContext): Promise<ToolResult> {
  const { shell, shellFolder, processes } = context;
  const before = shell.stateIn(absolutePath(input.workdir ?? ".", shellFolder));
  const problem =
    (await folderProblem(before.folder, input, context)) ?? (input.background ? await processes.whyFull() : undefined);
  if (problem !== undefined) return { ok: false, text: `terminal: ${problem}` };
  const running = await start(input, before, context);
  if (running.terminalId !== undefined) context.show({ type: "terminal", terminalId: running.terminalId });
  const started: Started = { input, before, running, begin: performance.now() };
  try {
    const { result, goesOn } = await follow(started, context);
    if (!goesOn) await free(running);
    return { ...result, ...(running.terminalId !== undefined && { terminalId: running.terminalId }) };
  } catch (error) {
    await running.kill();
    await free(running);
    throw error;
  }
}

async function folderProblem(folder: string, { workdir }: Input, context: ToolContext): Promise<string | undefined> {
  const { host, shell, cwd } = context;
  if (host.terminals.place !== undefined) return undefined; // its shell says so itself
  const stat = await host.files.stat(folder);
  if (stat?.kind === "directory") return undefined;
  if (stat !== undefined) return `${folder} is a file, not a folder to run in.`;
  if (workdir !== undefined) return `the folder ${folder} does not exist.${await nearFiles(folder, cwd, host)}`;
  return `the folder ${folder}, where the shell was, is gone. The shell is back in ${shell.reset()}: call again from there.`;
}

function start({ command, background, pty }: Input, shell: ShellState, context: ToolContext): Promise<RunningCommand> {
  const { host, callId, spillFolder, signal, show, sandboxed = false } = context;
  const live = new LiveText();
  const takesInput = (background || host.terminals.seesWaiting) && !readsAnyPipe(command);
  return host.terminals.start(
    {
      command,
      shell,
      keepsShell: !background,
      input: takesInput ? "open" : "none",
      pty,
      sandboxed,
      // Some models give their calls the same ids again and again.
      outputFile: join(spillFolder, `terminal-${callId.replace(/[^\w-]/g, "_")}-${randomUUID().slice(0, 8)}.log`),
      onOutput: (piece) => show({ type: "output", text: live.push(piece) }),
    },
    signal,
  );
}

type Followed = { readonly result: ToolResult; readonly goesOn: boolean };

async function follow(started: Started, context: ToolContext): Promise<Followed> {
  const { input, running } = started;
  const timeout = input.timeout ?? context.commandSeconds;
  const ending = await waitForEnd(running, input.background ? BACKGROUND_LOOK_SECONDS : timeout, context.signal);
  if (ending.kind === "exited") return ended(started, ending, context);
  if (ending.kind === "asks" || (ending.kind === "timed-out" && input.background)) {
    const { id } = await register(started, context);
    const why =
      ending.kind === "asks"
        ? `waits for input as ${id}: answer with process write, or end it with process kill`
        : `runs in the background as ${id}: see process`;
    return { result: await resultOf(running, why, true), goesOn: true };
  }
  await running.kill();
  return { result: await resultOf(running, stopNote(ending, timeout), false), goesOn: false };
}

async function ended(
  started: Started,
  { exit }: Extract<Ending, { kind: "exited" }>,
  context: ToolContext,
): Promise<Followed> {
  const { input, before, running, begin } = started;
  const { place } = context.host.terminals;
  const notes = [`${exitNote(input.command, exit)}, ${((performance.now() - begin) / 1000).toFixed(1)} s`];
  if (place !== undefined) notes.push(`on ${place}`);
  const after = await running.shellAfter();
  const moved = after && context.shell.adopt(before, after);
  if (moved !== undefined) notes.push(`the shell is in ${moved} now; file tools start from ${context.cwd}`);
  const leftBehind = await running.hasSurvivors();
  notes.push(...(await running.inspected()));
  if (context.sandboxed) notes.push(exit.exitCode === 0 ? "sandboxed" : SANDBOX_NOTE);
  const isLong = (await running.output()).tail !== "";
  if (leftBehind || isLong) {
    const process = await register(started, context);
    process.isTold = !leftBehind;
    if (!leftBehind) await process.release(); // its file is all that is needed
    notes.push(
      leftBehind
        ? `what it started goes on as ${process.id}: see process`
        : `process log ${process.id} reads any part of it`,
    );
  }
  return { result: await resultOf(running, notes.join("; "), exit.exitCode === 0), goesOn: leftBehind || isLong };
}

/** Makes a process of it, which the session owns from now on, whose output up to now counts as seen. */
async function register({ input, before, running }: Started, { processes }: ToolContext) {
  const { totalBytes } = await running.read(0, 0);
  const { command, watch } = input;
  return processes.add({ command, folder: before.folder, running, seenBytes: totalBytes, ...(watch && { watch }) });
}

async function resultOf(running: RunningCommand, note: string, ok: boolean): Promise<ToolResult> {
  const output = shownOutput(await running.output());
  return { ok, text: `${output === "" ? "" : `${output}\n`}[${note}]` };
}

function stopNote({ kind }: Extract<Ending, { kind: "timed-out" | "cancelled" }>, timeout: number): string {
  if (kind === "cancelled") return "stopped by the user";
  return `stopped: it had not ended after ${timeout} s. Give a longer timeout, or run it in the background`;
}

function free(running: RunningCommand): Promise<void> {
  return running.release().catch(() => undefined); // it is over; that its terminal stays changes nothing of what it came to
}
