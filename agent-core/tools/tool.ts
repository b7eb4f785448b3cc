/**
 * What a tool is, and the ports it is given. One tool is one file in this folder that exports `tool = defineTool(…)`;
 * its name, schema, title, ACP kind and approval facts stand in that file and nowhere else.
 * The way of a call: prepare (arguments) → stage (what it would do) → approval → run.
 */
import type * as z from "zod";
import type { Effect } from "../approval/policy.ts";
import type { Host } from "../host/host.ts";
import type { ReportedProblem } from "../host/problems.ts";
import type { Memory } from "../memory/memory.ts";
import type { ToolSchema } from "../providers/wire/wire.ts";
import type { SessionIndex } from "../sessions/index/session-index.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Processes } from "./terminal/processes.ts";
import type { SessionShell } from "./terminal/session-shell.ts";
import type { TodoList } from "./todo-list.ts";
import { toolParameters } from "./tool-parameters.ts";

/** ACP's tool kinds (`session/update` → `tool_call.kind`). */
export type ToolKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other";

/** A file as an edit changes it; `oldText` is null for a new file, `newText` null for a deleted one. */
export type FileDiff = {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string | null;
  /** The path of the file before, which has a diff of its own. */
  readonly movedFrom?: string;
};

/** Where in the workspace a call works, for editors that follow along; `line` is 1-based. */
export type ToolLocation = { readonly path: string; readonly line?: number };

/** What a call came to. `text` goes to the model; the rest is for people. */
export type ToolResult = {
  readonly ok: boolean;
  readonly text: string;
  readonly diffs?: readonly FileDiff[];
  /** What an edit has broken; in `text`, too. */
  readonly problems?: readonly ReportedProblem[];
  /** The client's terminal that showed the command. */
  readonly terminalId?: string;
};

/** Something to show while a call runs. */
export type ToolActivity =
  | { readonly type: "terminal"; readonly terminalId: string }
  | { readonly type: "output"; readonly text: string };

export type Question = {
  readonly question: string;
  /** Up to 4; a free answer is always possible. */
  readonly choices: readonly string[];
};

/** `unavailable`: nobody can be asked here. */
export type Answer =
  | { readonly kind: "answered"; readonly text: string }
  | { readonly kind: "cancelled" }
  | { readonly kind: "unavailable" };

/** The ports of a running call. */
export type ToolContext = {
  readonly host: Host;
  /** The session's working folder, absolute; relative paths of the model start here. */
  readonly cwd: string;
  /** The session's shell, for commands. */
  readonly shell: SessionShell;
  /** Where that shell was when the call was prepared: the folder that its approval was judged with. */
  readonly shellFolder: string;
  readonly processes: Processes;
  /** Seconds that a command may take when its call names no time of its own. */
  readonly commandSeconds: number;
  /** Commands of the call run in the sandbox: it was allowed for no other place. */
  readonly sandboxed?: boolean;
  /** Id of the tool call. */
  readonly callId: string;
  /** Folder of the session for spilled output, absolute; may not exist yet. */
  readonly spillFolder: string;
  readonly signal: AbortSignal;
  /** What the model has read so far. */
  readonly files: FileMemory;
  readonly todos: TodoList;
  /** What outlives the session; undefined when nothing is remembered. */
  readonly memory: Memory | undefined;
  /** Every session of the home; undefined when they are not indexed. */
  readonly sessions: SessionIndex | undefined;
  /** Id of the session that the call belongs to. */
  readonly sessionId: string;
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer>;
  readonly show: (activity: ToolActivity) => void;
};

/** The session's shell, as far as the effect of a call depends on it. */
export type ShellView = {
  /** Folder that the next command starts in, absolute. */
  readonly folder: string;
  /** What runs in the background under this id. */
  process(id: string): { readonly command: string; readonly folder: string } | undefined;
};

/** A call whose arguments are in order. */
export type PreparedCall = {
  readonly title: string;
  readonly locations: readonly ToolLocation[];
  readonly effect: Effect;
  /** Works out what the call would do, without doing it: its diffs, or why it cannot be done. */
  stage(context: ToolContext): Promise<StagedCall>;
};

export type StagedCall =
  | { readonly ok: false; readonly text: string }
  | { readonly ok: true; readonly diffs: readonly FileDiff[]; run(): Promise<ToolResult> };

export type Preparation =
  | { readonly ok: true; readonly call: PreparedCall }
  | { readonly ok: false; readonly text: string };

export type Tool = {
  readonly name: string;
  /** Toolset that it belongs to; toolsets are enabled and disabled as a whole. */
  readonly toolset: string;
  readonly kind: ToolKind;
  /** True when a call can neither change anything nor ask: such calls may start before the answer ends. */
  readonly readOnly: boolean;
  /** True when a call waits for the user: its batch runs one after the other. */
  readonly interactive: boolean;
  /** True when a result may fill a good part of the window: not offered while there is no room for it. */
  readonly largeOutput: boolean;
  readonly schema: ToolSchema;
  /** Checks raw arguments (parsed JSON) against the schema; relative paths start at `cwd`, commands in `shell`. */
  prepare(raw: unknown, cwd: string, shell?: ShellView): Preparation;
};

/** What a tool file writes down. Give `run` alone, or `stage` when a call can be shown before it happens. */
export type ToolDefinition<Schema extends z.ZodType> = {
  readonly name: string;
  readonly toolset: string;
  readonly kind: ToolKind;
  readonly readOnly: boolean;
  readonly interactive?: boolean;
  readonly largeOutput?: boolean;
  readonly description: string;
  readonly input: Schema;
  /** One line for people, at most 80 characters: `Read src/a.ts`. */
  title(input: z.infer<Schema>): string;
  locations?(input: z.infer<Schema>, cwd: string): readonly ToolLocation[];
  effect(input: z.infer<Schema>, cwd: string, shell: ShellView): Effect;
} & (
  | { run(input: z.infer<Schema>, context: ToolContext): Promise<ToolResult> }
  | { stage(input: z.infer<Schema>, context: ToolContext): Promise<StagedCall> }
);

/** Turns a definition into a tool; the typed input stays inside the prepared call's closures. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const { name, toolset, kind, readOnly, interactive = false, largeOutput = false, description } = definition;
  let schema: ToolSchema | undefined;
  return {
    name,
    toolset,
    kind,
    readOnly,
    interactive,
    largeOutput,
    get schema() {
      schema ??= { name, description, parameters: toolParameters(name, definition.input) };
      return schema;
    },
    prepare(raw, cwd, shell = { folder: cwd, process: () => undefined }) {
      const parsed = definition.input.safeParse(raw);
      if (!parsed.success) return { ok: false, text: explainArguments(name, parsed.error) };
      return { ok: true, call: prepareCall(definition, parsed.data, cwd, shell) };
    },
  };
}

function prepareCall<Schema extends z.ZodType>(
  definition: ToolDefinition<Schema>,
  input: z.infer<Schema>,
  cwd: string,
  shell: ShellView,
): PreparedCall {
  const shellFolder = shell.folder;
  const fixed = (context: ToolContext): ToolContext => ({ ...context, shellFolder });
  return {
    title: definition.title(input),
    locations: definition.locations?.(input, cwd) ?? [],
    effect: definition.effect(input, cwd, shell),
    stage: (context) =>
      "stage" in definition
        ? definition.stage(input, fixed(context))
        : Promise.resolve({ ok: true, diffs: [], run: () => definition.run(input, fixed(context)) }),
  };
}

function explainArguments(tool: string, error: z.ZodError): string {
  const problems = error.issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`);
  return `${tool}: the arguments do not fit its schema. ${problems.join("; ")}. Call it again with corrected arguments.`;
}
