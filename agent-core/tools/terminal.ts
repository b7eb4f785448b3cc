import { join } from "node:path";
import * as z from "zod";
import type { RunningCommand } from "../host/host.ts";
import { nearFiles } from "./missing-file.ts";
import { absolutePath, shortTitle } from "./resolve-path.ts";
import { exitNote } from "./terminal/exit-note.ts";
import { LiveText } from "./terminal/live-text.ts";
import { shownOutput } from "./terminal/shown-output.ts";
import { type Ending, waitForEnd } from "./terminal/wait-for-end.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const DEFAULT_TIMEOUT_SECONDS = 180;
const MAX_TIMEOUT_SECONDS = 600;

const input = z.object({
  command: z
    .string()
    .refine((command) => command.trim() !== "", "must not be empty")
    .refine((command) => !command.includes("\0"), "must not hold a NUL character")
    .describe("Shell command"),
  timeout: z.number().positive().max(MAX_TIMEOUT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS).describe("Seconds"),
  workdir: z.string().min(1).optional().describe("Folder to run in; default: the working folder"),
});

type Input = z.infer<typeof input>;

export const tool = defineTool({
  name: "terminal",
  toolset: "terminal",
  kind: "execute",
  readOnly: false,
  description:
    "Run a shell command and wait for its end. Gives output and exit code. No input can be typed; long output keeps its beginning and end, the whole is in a file.",
  input,
  title: ({ command }) => shortTitle(command),
  effect: ({ command, workdir }, cwd) => ({ kind: "command", command, cwd: absolutePath(workdir ?? ".", cwd) }),
  run,
});

async function run({ command, timeout, workdir }: Input, context: ToolContext): Promise<ToolResult> {
  const { host, cwd, callId, spillFolder, signal, show } = context;
  const folder = absolutePath(workdir ?? ".", cwd);
  const stat = await host.files.stat(folder);
  if (stat === undefined) return failed(`the folder ${folder} does not exist.${await nearFiles(folder, cwd, host)}`);
  if (stat.kind !== "directory") return failed(`${folder} is a file, not a folder to run in.`);
  const live = new LiveText();
  const running = await host.terminals.start(
    {
      command,
      cwd: folder,
      outputFile: join(spillFolder, `terminal-${callId.replace(/[^\w-]/g, "_")}.log`),
      onOutput: (piece) => show({ type: "output", text: live.push(piece) }),
    },
    signal,
  );
  if (running.terminalId !== undefined) show({ type: "terminal", terminalId: running.terminalId });
  try {
    return await follow(running, { command, timeout }, signal);
  } finally {
    await running.release().catch(() => undefined); // the command is over; that its terminal stays changes nothing of it
  }
}

async function follow(
  running: RunningCommand,
  { command, timeout }: Pick<Input, "command" | "timeout">,
  signal: AbortSignal,
): Promise<ToolResult> {
  const begin = performance.now();
  const ending = await waitForEnd(running, timeout, signal);
  if (ending.kind !== "exited") await running.kill();
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  const output = shownOutput(await running.output());
  return {
    ok: ending.kind === "exited" && ending.exit.exitCode === 0,
    text: `${output === "" ? "" : `${output}\n`}[${noteOf(command, ending, timeout, seconds)}]`,
    ...(running.terminalId !== undefined && { terminalId: running.terminalId }),
  };
}

function noteOf(command: string, ending: Ending, timeout: number, seconds: string): string {
  switch (ending.kind) {
    case "exited":
      return `${exitNote(command, ending.exit)}, ${seconds} s`;
    case "timed-out":
      return `stopped: it had not ended after ${timeout} s. Give a longer timeout if it needs one`;
    case "cancelled":
      return "stopped by the user";
  }
}

function failed(why: string): ToolResult {
  return { ok: false, text: `terminal: ${why}` };
}
