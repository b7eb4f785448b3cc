/**
 * Tools and their ports. A tool is one file in this folder that exports `tool = defineTool(…)`, with its name, schema,
 * title, ACP kind and effect. A call goes through prepare (arguments) → stage (diffs) → approval → run.
 */
import type * as z from "zod";
import type { Effect } from "../approval/decision.ts";
import type { SessionBrowser } from "../browser/session-browser.ts";
import type { CronAccess } from "../cron/cron-requests.ts";
import type { ScriptLimits } from "../execute-code/script.ts";
import type { SessionScripts } from "../execute-code/session-scripts.ts";
import type { Answer, EditedFile, Host, Question, ReportedProblem } from "../host/host.ts";
import type { AskPassword, SandboxKind } from "../host/terminals/terminals.ts";
import type { Memory } from "../memory/memory.ts";
import type { MemoryWriter } from "../memory/memory-ledger.ts";
import type { Delegated } from "../orchestration/delegation.ts";
import type { TaskSpec } from "../orchestration/task-graph.ts";
import type { HermesTask } from "../protocol/delegation.ts";
import type { ToolSchema } from "../providers/wire/wire.ts";
import type { SessionIndex } from "../sessions/index/session-index.ts";
import type { SkillLibrary } from "../skills/skill-library.ts";
import type { WebAccess } from "../web/web-access.ts";
import type { FileMemory } from "./seen-files.ts";
import type { Processes } from "./terminal/processes.ts";
import type { SessionShell } from "./terminal/session-shell.ts";
import type { TodoList } from "./todo-list.ts";
import { toolParameters } from "./tool-parameters.ts";

/** ACP's tool kinds (`session/update` → `tool_call.kind`). */
export type ToolKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other";

/** A file as an edit changes it. The path of a moved file's old text has a diff of its own. */
export type FileDiff = EditedFile;

/** Place in the workspace that a call works on, for editors that follow it; `line` is 1-based. */
export type ToolLocation = { readonly path: string; readonly line?: number };

export type ToolLink = { readonly title: string; readonly url: string };

/** Result of a call. `text` goes to the model; the rest is for people. */
export type ToolResult = {
  readonly ok: boolean;
  readonly text: string;
  readonly diffs?: readonly FileDiff[];
  /** New problems after an edit; `text` lists them too. */
  readonly problems?: readonly ReportedProblem[];
  /** Terminal of the client that showed the command. */
  readonly terminalId?: string;
  /** Shell command that ended; `exit`: null when a signal ended it. */
  readonly command?: { readonly text: string; readonly exit: number | null };
  /** Tasks of a delegation at its end. */
  readonly tasks?: readonly HermesTask[];
  /** The user said no: the call did not run, and nothing failed. */
  readonly rejected?: boolean;
  /** Pages that a card links to. */
  readonly links?: readonly ToolLink[];
  /** Pictures for the model, base64; a model that cannot see gets a line of text instead. */
  readonly images?: readonly { readonly mimeType: string; readonly data: string }[];
  /** Pictures and sounds for people; base64. */
  readonly media?: readonly { readonly kind: "image" | "audio"; readonly mimeType: string; readonly data: string }[];
};

/** Progress to show while a call runs. */
export type ToolActivity =
  | { readonly type: "terminal"; readonly terminalId: string }
  | { readonly type: "output"; readonly text: string }
  | { readonly type: "delegation"; readonly tasks: readonly HermesTask[] };

/** The ports of a running call. */
export type ToolContext = {
  readonly host: Host;
  /** Working folder of the session, absolute; the model's relative paths start here. */
  readonly cwd: string;
  /** Further folders of the workspace, absolute. Default: none. */
  readonly otherFolders?: readonly string[];
  /** The session's shell, for commands. */
  readonly shell: SessionShell;
  /** Folder of that shell when the call was prepared: the approval judged the call in this folder. */
  readonly shellFolder: string;
  readonly processes: Processes;
  /** Timeout of commands without one of their own. Seconds. */
  readonly commandSeconds: number;
  /** Access to the web. Default: public pages, and no search. */
  readonly web?: WebAccess | undefined;
  readonly scripts: SessionScripts;
  /** Limits of scripts. Default: those of the tool. */
  readonly scriptLimits?: ScriptLimits | undefined;
  /** True for a file (absolute) that may hold keys: a search over its folder leaves it out. */
  readonly isSecret: (path: string) => boolean;
  /** Commands of the call run in this sandbox: the approval covers no other place. */
  readonly sandbox?: SandboxKind | undefined;
  /** Guarded files (absolute) that git may change in this call, on the user's answer. */
  readonly writable?: readonly string[] | undefined;
  readonly callId: string;
  /** Folder of the session for spilled output, absolute; may not exist yet. */
  readonly spillFolder: string;
  readonly signal: AbortSignal;
  /** Texts that the model knows. */
  readonly files: FileMemory;
  readonly todos: TodoList;
  /** Memory across sessions; undefined when it is off. */
  readonly memory: Memory | undefined;
  /** Writer of the call's changes of the memory. Default: `agent`. */
  readonly memoryWriter?: MemoryWriter;
  /** Skills of the session; undefined when they are off. */
  readonly skills: SkillLibrary | undefined;
  /** Browser of the session; undefined outside a session. */
  readonly browser?: SessionBrowser;
  /** Address of the browser's page when the call was prepared: the approval judged the call for its site. */
  readonly judgedPage?: string | undefined;
  /** Index of all sessions; undefined when there is none. */
  readonly sessions: SessionIndex | undefined;
  /** Planned jobs; undefined for an agent that may not plan any. */
  readonly cron?: CronAccess | undefined;
  readonly sessionId: string;
  /** Task of the turn, the same in all turns that its caller gave one id. */
  readonly taskId?: string;
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer>;
  /** Asks the user for a password that a command waits for. Default: no user can be asked. */
  readonly askPassword?: AskPassword | undefined;
  readonly show: (activity: ToolActivity) => void;
  /**
   * Runs another tool of the session as a part of this call: with hooks, policy, permission and a card of its own. Undefined
   * outside a turn. Rejects with the signal's reason.
   */
  readonly callTool?: (name: string, input: unknown, signal: AbortSignal) => Promise<ToolResult>;
  /** Schemas of the tools that `callTool` runs. */
  readonly callableTools?: () => readonly ToolSchema[];
  /** Runs tasks in sub-agents, to the end of all of them. Undefined for an agent that may not delegate. */
  readonly delegate?: ((tasks: readonly TaskSpec[]) => Promise<Delegated>) | undefined;
};

/** The part of the session's state that the effect of a call depends on: its shell, and the page of its browser. */
export type ShellView = {
  /** Folder that the next command starts in, absolute. */
  readonly folder: string;
  /** Name of the file with the variables that commands exported; undefined when they changed none. */
  readonly variables?: string | undefined;
  process(id: string): { readonly command: string; readonly folder: string } | undefined;
  /** Address of the browser's page; undefined without one. */
  readonly page?: string | undefined;
};

/** A call with valid arguments. */
export type PreparedCall = {
  readonly title: string;
  readonly locations: readonly ToolLocation[];
  readonly effect: Effect;
  /** Computes the diffs of the call without running it, or the reason why it cannot run. */
  stage(context: ToolContext): Promise<StagedCall>;
};

export type StagedCall =
  | { readonly ok: false; readonly text: string }
  | { readonly ok: true; readonly diffs: readonly FileDiff[]; run(): Promise<ToolResult> };

export type Preparation =
  | { readonly ok: true; readonly call: PreparedCall }
  | { readonly ok: false; readonly text: string };

/**
 * Turns that need a tool: each one, many, few, or those that its server or plugin is for. It decides whether a request holds
 * the schema (tool-catalogue.ts).
 */
export type ToolNeed = "core" | "common" | "rare" | "foreign";

export type Tool = {
  readonly name: string;
  /** Toolset of the tool; users enable and disable toolsets as a whole. */
  readonly toolset: string;
  readonly kind: ToolKind;
  /** True when a call neither changes anything nor asks: it may start before the answer ends. */
  readonly readOnly: boolean;
  /** True when a call waits for the user: the calls of its batch run one after the other. */
  readonly interactive: boolean;
  /** True when a result may fill a large part of the context: the tool is not offered while there is no room. */
  readonly largeOutput: boolean;
  readonly need: ToolNeed;
  readonly schema: ToolSchema;
  /** Checks parsed JSON against the schema. Relative paths start at `cwd`, commands run in `shell`. */
  prepare(raw: unknown, cwd: string, shell?: ShellView): Preparation;
  /** Arguments in the form of another agent's tool, in our own; all others as they are. */
  ownForm?(raw: unknown): unknown;
  /** For a tool that only calls another one: the call of the other one, which the policy, hooks and people see instead. */
  forward?(raw: unknown): ForwardedCall;
};

export type ForwardedCall =
  /** `input`: parsed arguments, or their JSON text. */
  { readonly ok: true; readonly name: string; readonly input: unknown } | { readonly ok: false; readonly text: string };

/** Definition in a tool's file: `run` alone, or `stage` when a call can be shown before it runs. */
export type ToolDefinition<Schema extends z.ZodType> = {
  readonly name: string;
  readonly toolset: string;
  readonly kind: ToolKind;
  readonly readOnly: boolean;
  readonly interactive?: boolean;
  readonly largeOutput?: boolean;
  /** Default: `common`. */
  readonly need?: ToolNeed;
  /** A function when the text depends on this machine; called on first use. */
  readonly description: string | (() => string);
  readonly input: Schema;
  /** JSON schema of `input` for a tool of another folder: the bundles hold those of this folder only. */
  readonly parameters?: ToolSchema["parameters"];
  ownForm?(raw: unknown): unknown;
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
  const { name, toolset, kind, readOnly, description } = definition;
  const { interactive = false, largeOutput = false, need = "common", ownForm } = definition;
  let schema: ToolSchema | undefined;
  return {
    name,
    toolset,
    kind,
    readOnly,
    interactive,
    largeOutput,
    need,
    ...(ownForm && { ownForm }),
    get schema() {
      schema ??= {
        name,
        description: typeof description === "string" ? description : description(),
        parameters: definition.parameters ?? toolParameters(name, definition.input),
      };
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
  const { folder: shellFolder, page: judgedPage } = shell;
  const fixed = (context: ToolContext): ToolContext => ({ ...context, shellFolder, judgedPage });
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

/** Refusal of a call; `why` ends with a dot. */
export function refusal(tool: string, why: string): { readonly ok: false; readonly text: string } {
  return { ok: false, text: `${tool}: ${why}` };
}

function explainArguments(tool: string, error: z.ZodError): string {
  const problems = error.issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`);
  return `${tool}: the arguments do not fit its schema. ${problems.join("; ")}. Call it again with corrected arguments.`;
}
