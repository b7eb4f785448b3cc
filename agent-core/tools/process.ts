import * as z from "zod";
import { CTRL_C, CTRL_D } from "../host/terminals/backend.ts";
import { quote } from "../host/terminals/preamble.ts";
import type { RunningCommand } from "../host/terminals/terminals.ts";
import { shortTitle } from "./shown-path.ts";
import { plainText } from "./terminal/output-text.ts";
import { type BackgroundProcess, shortened } from "./terminal/processes.ts";
import { waitForEnd } from "./terminal/wait-for-end.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const DEFAULT_WAIT_SECONDS = 60;
const MAX_WAIT_SECONDS = 600;
const DEFAULT_LINES = 200;
const MAX_LINES = 2_000;
/** Time to wait for the reaction to written input. */
const ANSWER_SECONDS = 1;

const input = z
  .object({
    action: z.enum(["list", "poll", "log", "wait", "kill", "write"]),
    id: z.string().optional(),
    data: z.string().optional().describe("write: input with its \\n; \\u0003 interrupts, a final \\u0004 ends it"),
    timeout: z.number().positive().max(MAX_WAIT_SECONDS).default(DEFAULT_WAIT_SECONDS),
    offset: z.number().int().positive().optional().describe("log: first line"),
    limit: z.number().int().positive().max(MAX_LINES).default(DEFAULT_LINES),
  })
  .refine(({ action, id }) => action === "list" || id !== undefined, { path: ["id"], message: "is needed" })
  .refine(({ action, data }) => action !== "write" || data !== undefined, { path: ["data"], message: "is needed" });

type Input = z.infer<typeof input>;

const TITLES = {
  list: "List",
  poll: "Check",
  log: "Read output of",
  wait: "Wait for",
  kill: "End",
  write: "Write to",
};

export const tool = defineTool({
  name: "process",
  toolset: "terminal",
  kind: "execute",
  readOnly: false,
  largeOutput: true,
  description:
    "Background commands. poll: state and new output; log: lines of all output; wait: until it ends or waits for input. You are notified of ends.",
  input,
  title: ({ action, id }) => shortTitle(id === undefined ? "List processes" : `${TITLES[action]} ${id}`),
  effect: ({ action, id = "", data = "" }, _, shell) => {
    const target = action === "write" ? shell.process(id) : undefined;
    if (target === undefined) return { kind: "none" };
    // The program may execute its input, so the approval judges the input as if it came through a pipe.
    const typed = data.replaceAll(CTRL_C, "").replaceAll(CTRL_D, "");
    return typed.trim() === ""
      ? { kind: "none" }
      : { kind: "command", command: `printf '%s' ${quote(typed)} | {\n${target.command}\n}`, cwd: target.folder };
  },
  run,
});

async function run(input: Input, context: ToolContext): Promise<ToolResult> {
  if (input.action === "list") return list(context);
  const process = context.processes.find(input.id ?? "");
  if (process === undefined) return unknown(input.id ?? "", context);
  switch (input.action) {
    case "poll":
      return report(process);
    case "log":
      return log(process, input);
    case "wait":
      await waitForEnd(process.running, input.timeout, context.signal);
      return report(process);
    case "kill":
      await process.kill();
      return report(process);
    case "write":
      return write(process, input.data ?? "", context.signal);
  }
}

async function list({ processes }: ToolContext): Promise<ToolResult> {
  const lines = await Promise.all(processes.list().map((process) => headline(process)));
  return { ok: true, text: lines.length === 0 ? "No command runs in the background." : lines.join("\n") };
}

function unknown(id: string, { processes }: ToolContext): ToolResult {
  const known = processes.list().map((process) => process.id);
  const which = known.length === 0 ? "no process exists" : `the processes are ${known.join(", ")}`;
  return { ok: false, text: `process: there is no process ${JSON.stringify(id)}; ${which}.` };
}

async function report(process: BackgroundProcess): Promise<ToolResult> {
  const fresh = await process.fresh();
  const line = await headline(process);
  return { ok: true, text: `${line}\n${fresh === "" ? "[no new output]" : fresh}` };
}

/** Reporting an end counts: no notice repeats it. */
async function headline(process: BackgroundProcess): Promise<string> {
  const { id, command, running, seconds } = process;
  const state = await process.state();
  const words = `${seconds.toFixed(0)} s: ${shortened(command)}`;
  switch (state.kind) {
    case "running":
      return `${id} ${(await running.waitsForInput()) ? "waits for input" : "runs"}, ${words}`;
    case "left-behind":
      return `${id} has ended, but a program that it started still runs, ${words}`;
    case "ended":
      process.isReported = true;
      return `${id} has ended: ${state.note}, ${words}`;
  }
}

async function log({ running }: BackgroundProcess, { offset, limit }: Input): Promise<ToolResult> {
  const { lines, first, hasMore } =
    offset === undefined ? await lastLines(running, limit) : await linesFrom(running, offset, limit);
  const { file } = await running.output();
  const from = first === undefined ? `the last ${lines.length} lines` : `lines ${first} to ${first + lines.length - 1}`;
  const more = hasMore && first !== undefined ? `, more from offset ${first + lines.length}` : "";
  return { ok: true, text: `${lines.join("\n")}\n[${from}${more}${file === undefined ? "" : `; file: ${file}`}]` };
}

async function write(process: BackgroundProcess, data: string, signal: AbortSignal): Promise<ToolResult> {
  const outcome = await process.running.write(data);
  if (!outcome.ok) return { ok: false, text: `process: ${process.id}: ${outcome.reason}` };
  await waitForEnd(process.running, ANSWER_SECONDS, signal);
  return report(process);
}

const CHUNK_BYTES = 1_048_576;
/** Part of the output that is searched for the last lines. Bytes. */
const TAIL_BYTES = 262_144;
/** A longer line is cut to its end, which is the part that a redrawn line shows. Characters. */
const MAX_LINE_CHARS = 4_000;

type Lines = {
  readonly lines: readonly string[];
  /** Number of the first line, 1-based; undefined when the lines were counted from the end. */
  readonly first: number | undefined;
  readonly hasMore: boolean;
};

async function lastLines(running: RunningCommand, limit: number): Promise<Lines> {
  const { totalBytes } = await running.read(0, 0);
  const from = Math.max(0, totalBytes - TAIL_BYTES);
  const { text } = await running.read(from, TAIL_BYTES);
  const lines = text.replace(/\n$/, "").split("\n");
  const whole = from > 0 && lines.length > 1 ? lines.slice(1) : lines;
  const shown = whole.slice(-limit);
  const first = from === 0 ? whole.length - shown.length + 1 : undefined;
  return { lines: shown.map(shownLine), first, hasMore: false };
}

/** `limit` lines from line `offset` (1-based) on, of an output of any length: memory holds only these and a chunk. */
async function linesFrom(running: RunningCommand, offset: number, limit: number): Promise<Lines> {
  const lines: string[] = [];
  let [from, number, open] = [0, 1, ""];
  const take = (line: string): void => {
    if (number >= offset && lines.length <= limit) lines.push(line);
    number += 1;
  };
  while (lines.length <= limit) {
    const { text, nextByte } = await running.read(from, CHUNK_BYTES);
    const ended = (open + text).split("\n");
    open = ended.pop()?.slice(-MAX_LINE_CHARS - 1) ?? "";
    ended.forEach(take);
    if (nextByte === from) break;
    from = nextByte;
  }
  if (open !== "") take(open);
  return { lines: lines.slice(0, limit).map(shownLine), first: offset, hasMore: lines.length > limit };
}

function shownLine(line: string): string {
  return plainText(line.length > MAX_LINE_CHARS ? `…${line.slice(-MAX_LINE_CHARS)}` : line);
}
