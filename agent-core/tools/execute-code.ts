import { randomUUID } from "node:crypto";
import * as z from "zod";
import { sectionDefault } from "../config/section-defaults.ts";
import type { ScriptLanguage } from "../execute-code/hermes-tools.ts";
import type { ScriptEnd, ScriptLimits, ScriptStop } from "../execute-code/script.ts";
import { hasPython } from "../platform/find-program.ts";
import { spillPath } from "../sessions/session-files.ts";
import { shortTitle } from "./shown-path.ts";
import { exitNote, LiveText, shownOutput } from "./terminal/output-text.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

/** Tools that scripts cannot call: they run scripts and agents of their own, or wait for words of the user. */
const NOT_CALLABLE = new Set(["execute_code", "delegate_task", "clarify", "tool_search", "tool_describe", "tool_call"]);

const input = z.object({
  code: z
    .string()
    .refine((code) => code.trim() !== "", "must not be empty")
    .refine((code) => !code.includes("\0"), "must not contain a NUL character")
    .describe("The whole script"),
  reset: z.boolean().optional(),
});

const DESCRIPTIONS: Readonly<Record<ScriptLanguage, string>> = {
  python:
    "Run a Python 3 script, for loops and many calls at once. `from hermes_tools import read_file, terminal` (any tool): functions take a tool's parameters by name or in order, and return its text. Only printed output returns. Variables stay until reset.",
  node: 'Run a JavaScript module on Node, for loops and many calls at once. `import { read_file, terminal } from "hermes_tools"` (any tool): async functions take an object of a tool\'s parameters, or them in order, and return its text. Only printed output returns.',
};
const NAMES: Readonly<Record<ScriptLanguage, string>> = { python: "Python", node: "JavaScript" };

export const tool = defineTool({
  name: "execute_code",
  toolset: "code_execution",
  kind: "execute",
  readOnly: false,
  need: "rare",
  largeOutput: true,
  description: () => DESCRIPTIONS[language()],
  input,
  title: ({ code }) => titleOf(code),
  // The approval judges the code as a shell judges the standard input of an interpreter.
  effect: ({ code }, _, shell) => ({
    kind: "command",
    command: asCommand(code),
    cwd: shell.folder,
    ...(shell.variables !== undefined && { variables: shell.variables }),
  }),
  run,
});

/** Python 3 where there is one, else Node. */
function language(): ScriptLanguage {
  return hasPython() ? "python" : "node";
}

function titleOf(code: string): string {
  const telling = code.split("\n").find((line) => !/^\s*(?:$|#|\/\/|import\b|from\b)/.test(line));
  return shortTitle(`Run ${NAMES[language()]}: ${telling ?? ""}`);
}

function asCommand(code: string): string {
  let end = "SCRIPT";
  while (code.split("\n").includes(end)) end += "_";
  return `${language() === "python" ? "python3 -" : "node -"} <<'${end}'\n${code}\n${end}`;
}

async function run({ code, reset = false }: z.infer<typeof input>, context: ToolContext): Promise<ToolResult> {
  const { host, callTool, callableTools = () => [], shell, show, signal } = context;
  const { timeout: timeoutSeconds, maxToolCalls } = sectionDefault("code_execution");
  const limits = context.scriptLimits ?? { timeoutSeconds, maxToolCalls };
  const begin = performance.now();
  const live = new LiveText();
  const end = await context.scripts.run(
    {
      code,
      limits,
      sandbox: context.sandbox,
      isFresh: reset,
      language: language(),
      shell: shell.stateIn(context.shellFolder),
      outputFile: spillPath(context, "script", `-${randomUUID().slice(0, 8)}.log`),
      tools: callTool === undefined ? [] : callableTools().filter(({ name }) => !NOT_CALLABLE.has(name)),
    },
    {
      terminals: host.terminals,
      callTool: async (name, parameters, nested) => (await callTool?.(name, parameters, nested))?.text ?? "",
      onOutput(text) {
        const shown = live.push(text);
        if (shown !== "") show({ type: "output", text: shown });
      },
    },
    signal,
  );
  const result = resultOf(end, limits, {
    seconds: (performance.now() - begin) / 1_000,
    isSandboxed: context.sandbox !== undefined,
  });
  return { ...result, command: { text: titleOf(code), exit: end.exit.exitCode } };
}

type Facts = { readonly seconds: number; readonly isSandboxed: boolean };

function resultOf(end: ScriptEnd, limits: ScriptLimits, { seconds, isSandboxed }: Facts): ToolResult {
  const { exit, stop, toolCalls, output, notes } = end;
  const printed = shownOutput(output);
  const note = [
    `${stop === undefined ? exitNote("", exit) : stopNote(stop, limits)}, ${seconds.toFixed(1)} s`,
    ...(toolCalls > 0 ? [`${toolCalls} tool ${toolCalls === 1 ? "call" : "calls"}`] : []),
    ...notes,
    ...(isSandboxed
      ? [
          exit.exitCode === 0
            ? "sandboxed"
            : "sandboxed: no network, writes only in the workspace; tools are not confined",
        ]
      : []),
  ].join("; ");
  return { ok: exit.exitCode === 0, text: `${printed === "" ? "" : `${printed}\n`}[${note}]` };
}

function stopNote(stop: ScriptStop, { timeoutSeconds }: ScriptLimits): string {
  return {
    timeout: `stopped: timeout after ${timeoutSeconds} s. Do less in one script`,
    flood: "stopped: it printed too much. Print only what you need",
    "fork bomb": "stopped: it started too many processes",
    cancelled: "stopped by the user",
  }[stop];
}
