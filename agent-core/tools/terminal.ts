import { join } from "node:path";
import * as z from "zod";
import type { CommandExit, RunningCommand } from "../host/host.ts";
import { absolutePath, shortTitle } from "./resolve-path.ts";
import { exitNote } from "./terminal/exit-note.ts";
import { plainText } from "./terminal/plain-text.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const DEFAULT_TIMEOUT_SECONDS = 180;
const MAX_TIMEOUT_SECONDS = 600;

const input = z.object({
  command: z
    .string()
    .refine((command) => command.trim() !== "", "must not be empty")
    .describe("Shell command"),
  timeout: z.number().positive().max(MAX_TIMEOUT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS).describe("Seconds"),
  workdir: z.string().min(1).optional().describe("Folder to run in; default: the working folder"),
});

type Input = z.infer<typeof input>;

/** How the wait for a command ended. */
type Ending =
  | { readonly kind: "exited"; readonly exit: CommandExit }
  | { readonly kind: "timed-out" }
  | { readonly kind: "cancelled" };

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
  const begin = performance.now();
  const running = await host.terminals.start(
    {
      command,
      cwd: absolutePath(workdir ?? ".", cwd),
      outputFile: join(spillFolder, `terminal-${callId.replace(/[^\w-]/g, "_")}.log`),
      onOutput: (text) => show({ type: "output", text: plainText(text) }),
    },
    signal,
  );
  if (running.terminalId !== undefined) show({ type: "terminal", terminalId: running.terminalId });
  try {
    const ending = await waitFor(running, timeout, signal);
    if (ending.kind !== "exited") await running.kill();
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    const note = noteOf(command, ending, timeout, seconds);
    return {
      ok: ending.kind === "exited" && ending.exit.exitCode === 0,
      text: [await shownOutput(running), `[${note}]`].filter((part) => part !== "").join("\n"),
      ...(running.terminalId !== undefined && { terminalId: running.terminalId }),
    };
  } finally {
    await running.release();
  }
}

async function waitFor(running: RunningCommand, timeoutSeconds: number, signal: AbortSignal): Promise<Ending> {
  const limit = AbortSignal.timeout(timeoutSeconds * 1000);
  const stop = AbortSignal.any([signal, limit]);
  const { promise: stopped, resolve } = Promise.withResolvers<Ending>();
  const onStop = (): void => resolve(signal.aborted ? { kind: "cancelled" } : { kind: "timed-out" });
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop, { once: true });
  try {
    return await Promise.race([running.exit.then((exit): Ending => ({ kind: "exited", exit })), stopped]);
  } finally {
    stop.removeEventListener("abort", onStop);
  }
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

async function shownOutput(running: RunningCommand): Promise<string> {
  const { head, tail, omittedBytes, file } = await running.output();
  if (tail === "") return plainText(head).trimEnd();
  const where = file === undefined ? "" : ` The whole output is in ${file}; search it, or read parts of it.`;
  return `${plainText(head).trimEnd()}\n[… ${omittedBytes} bytes left out.${where} …]\n${plainText(tail).trimEnd()}`;
}
