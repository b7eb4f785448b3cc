/** From the options of an agent to everything it works with: host, model, tools, policy, prompt. */
import { homedir, platform as osPlatform, release } from "node:os";
import { Grants } from "../approval/grants.ts";
import type { ApprovalMode } from "../approval/policy.ts";
import { type Environment, grantsFile, homeFolder, memoriesFolder, readSoul, spillFolder } from "../config/home.ts";
import { type ContextEngine, defaultEngine } from "../context/context-engine.ts";
import type { Host } from "../host/host.ts";
import { nodeHost } from "../host/node-host.ts";
import { Memory } from "../memory/memory.ts";
import { type MemorySnapshot, memorySnapshot } from "../memory/snapshot.ts";
import type { Message } from "../messages/message.ts";
import type { Clock } from "../platform/clock.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import { type ContextFiles, projectContext, SubfolderContext } from "../prompt/project-context.ts";
import { systemPrompt } from "../prompt/system-prompt.ts";
import { type CallEvent, callModel, type ModelRoute } from "../providers/call/call-model.ts";
import { ModelChain } from "../providers/call/model-chain.ts";
import type { ModelFacts } from "../providers/model-info.ts";
import { type ModelSettings, type ResolvedModel, resolveModel } from "../providers/resolve.ts";
import type { ApiMode, EditorModels, Sampling } from "../providers/wire/wire.ts";
import type { Conversation } from "../sessions/conversation.ts";
import type { JournalEntry } from "../sessions/entry.ts";
import type { SessionIndex } from "../sessions/index/session-index.ts";
import type { Journal } from "../sessions/journal.ts";
import { table as toolTable } from "../tools/table.gen.ts";
import type { Todo } from "../tools/todo-list.ts";
import type { Tool } from "../tools/tool.ts";
import { selectTools } from "../tools/toolsets.ts";
import type { Policy } from "./approvals.ts";
import { Auxiliary, type AuxiliaryOptions } from "./auxiliary.ts";
import type { IterationBudget } from "./budget.ts";
import type { AgentCallbacks } from "./callbacks.ts";
import { contextFiles } from "./context-files.ts";
import { modelLine } from "./model-line.ts";
import type { CallServices } from "./run-call.ts";
import { type PolicyOptions, sessionPolicy } from "./session-policy.ts";
import { clearedByModel } from "./smart-approval.ts";

/** Iterations of a turn; behaviour.md §AIAgent, Budget. */
const DEFAULT_MAX_ITERATIONS = 90;
/** The original's `terminal.timeout`. */
const DEFAULT_COMMAND_SECONDS = 180;

const NOTHING: MemorySnapshot = { memory: undefined, user: undefined };

export type AIAgentOptions = {
  /** Model name as the provider knows it; default: what the environment says, else the built-in offline model. */
  readonly model?: string;
  readonly provider?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly apiMode?: ApiMode;
  /** Default 90. */
  readonly maxIterations?: number;
  /** Seconds that a command may take when its call names no time; default 180. */
  readonly commandSeconds?: number;
  /** Of the turn that started this agent, when its iterations count there too; default: they do not. */
  readonly parentBudget?: IterationBudget;
  /** Only these toolsets; default: all. */
  readonly enabledToolsets?: readonly string[];
  readonly disabledToolsets?: readonly string[];
  /** Default: this machine (NodeHost). */
  readonly host?: Host;
  /** Default `HERMES_HOME`, else `~/.hermes`. */
  readonly home?: string;
  readonly callbacks?: AgentCallbacks;
  readonly sampling?: Sampling;
  /** Models that stand in, in this order, when the chosen one cannot be used; default: none. */
  readonly fallbacks?: readonly ModelSettings[];
  /** Models for tasks beside the conversation; default: the conversation's. */
  readonly auxiliary?: AuxiliaryOptions["tasks"];
  /** The system prompt that the session began with, so that its prefix stays what it was; default: a new one is built. */
  readonly systemPrompt?: string;
  /** The title that the session has already. */
  readonly title?: string;
  /** The environment as it is now, asked for when a key was refused; default: it never changes. */
  readonly refreshEnvironment?: () => Promise<Environment>;
  /** Longest silence of a model's stream, in milliseconds, by provider; default 60,000. */
  readonly silenceMs?: (provider: string) => number | undefined;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Models that the editor offers, for the mode `editor_model`; default: there are none. */
  readonly editorModels?: EditorModels;
  /** What endpoints told of their models; default: only what is known by name. */
  readonly modelFacts?: (model: ResolvedModel) => ModelFacts;
  /** Working folder, absolute; default the process's. */
  readonly cwd?: string;
  /** Further workspace folders, absolute. */
  readonly otherFolders?: readonly string[];
  /** Default the process's. */
  readonly environment?: Environment;
  /** Read before each call, so it may change during a turn; default `code`. */
  readonly approvalMode?: () => ApprovalMode;
  /** `smart`: a model may clear what is plainly harmless; `off`: nothing asks but what is blocked. Default `manual`. */
  readonly approvals?: "manual" | "smart" | "off";
  /** False until the user trusts the workspace: nothing is written and nothing runs until then. Default: always true. */
  readonly trusted?: () => boolean;
  /** Name of the editor or program the user sits at. */
  readonly platform?: string;
  /** Default: a new one. */
  readonly sessionId?: string;
  /** Where the conversation is stored; default: nowhere. */
  readonly journal?: Journal;
  /** Every session of the home, for the tool that searches them; default: there is no such tool. */
  readonly sessionIndex?: SessionIndex;
  /** An earlier conversation to go on with, which `journal` holds already; the agent adds to it. */
  readonly conversation?: Conversation;
  readonly todos?: readonly Todo[];
  /** What `journal` holds already: the changes of files that can be taken back. */
  readonly entries?: readonly JournalEntry[];
  /** Memory across sessions; false: none. Default: the home's folder `memories`. */
  readonly memory?: Memory | false;
  /** Decides when the conversation is too long, and what it can do without; default: the built-in one. */
  readonly contextEngine?: ContextEngine;
  /** Told of defects that were survived, for the log. */
  readonly onDefect?: (message: string) => void;
};

export type AgentSetup = {
  readonly host: Host;
  /** As it was when the agent began; it holds the user's secrets. */
  readonly environment: Environment;
  readonly cwd: string;
  readonly tools: readonly Tool[];
  readonly policy: Policy;
  /** Answers that last. */
  readonly grants: Grants;
  readonly callbacks: AgentCallbacks;
  readonly maxIterations: number;
  readonly parentBudget: IterationBudget | undefined;
  readonly commandSeconds: number;
  readonly journal: Journal | undefined;
  readonly sessionIndex: SessionIndex | undefined;
  readonly memory: Memory | undefined;
  readonly models: ModelChain;
  /** Read at each call. */
  sampling: Sampling;
  modelFacts(model: ResolvedModel): ModelFacts;
  /** Throws an Error in one line when there is no such model. */
  resolve(settings: ModelSettings): ResolvedModel;
  /** Opens one model call; `offered` are the tools that the model has in it. */
  readonly callModel: (
    messages: readonly Message[],
    offered: readonly Tool[],
    signal: AbortSignal,
  ) => AsyncIterable<CallEvent>;
  readonly auxiliary: Auxiliary;
  readonly subfolderContext: SubfolderContext;
  /** What a request that was refused as too long gives way to; the agent puts it here. */
  shorten: ModelRoute["shorten"];
  /** Told what a call beside the conversation took; the agent puts it here. */
  usedBeside: AuxiliaryOptions["used"];
  readonly engine: ContextEngine;
  readonly clear: CallServices["clear"];
  /** The tools' schemas as text, to count it. */
  readonly toolText: string;
  buildSystemPrompt(systemMessage: string | undefined): Promise<string>;
  spillFolder(sessionId: string): string;
  onDefect(message: string): void;
};

/** Throws an Error in one line when the options cannot be met. */
export function setUpAgent(options: AIAgentOptions): AgentSetup {
  const environment = options.environment ?? process.env;
  const home = options.home ?? homeFolder(environment);
  const cwd = options.cwd ?? process.cwd();
  const host = options.host ?? nodeHost();
  const tools = chooseTools(options);
  const memory = memoryOf(options, home);
  const trusted = options.trusted ?? (() => true);
  const projectFiles = contextFiles(host, trusted);
  const onDefect = options.onDefect ?? ((message) => process.stderr.write(`${message}\n`));
  const grants = new Grants(grantsFile(home), onDefect);
  const resolvable = (settings: ModelSettings): ResolvedModel | undefined => {
    const resolution = resolveModel(settings, environment);
    return resolution.ok ? resolution.model : undefined;
  };
  // A stand-in that cannot be reached at all is none.
  const standIns = (options.fallbacks ?? []).map(resolvable).filter((model) => model !== undefined);
  const models = new ModelChain(resolved(options, environment), standIns);
  const line = modelLine(options, models, (messages, signal) => setup.shorten(messages, signal));
  let toolText: string | undefined;
  const setup: AgentSetup = {
    host,
    environment,
    cwd,
    tools,
    policy: policyOf(options, { cwd, hermesHome: home, trusted, grants, sandbox: host.terminals.sandboxes === true }),
    grants,
    callbacks: options.callbacks ?? {},
    maxIterations: options.maxIterations ?? DEFAULT_MAX_ITERATIONS,
    parentBudget: options.parentBudget,
    commandSeconds: options.commandSeconds ?? DEFAULT_COMMAND_SECONDS,
    journal: options.journal,
    sessionIndex: options.sessionIndex,
    memory,
    models,
    sampling: options.sampling ?? {},
    modelFacts: options.modelFacts ?? (() => ({})),
    resolve: (settings) => resolved(settings, environment),
    callModel: (messages, offered, signal) => {
      const schemas = offered.map((tool) => tool.schema);
      return callModel({ messages, tools: schemas, sampling: setup.sampling }, line, signal);
    },
    auxiliary: new Auxiliary({
      tasks: options.auxiliary ?? {},
      resolve: resolvable,
      lineTo: (first, others) => modelLine(options, new ModelChain(first, others)),
      used: (usage, model) => setup.usedBeside(usage, model),
      // A question beside the conversation never shortens the conversation.
      main: { ...line, shorten: () => Promise.resolve(undefined) },
    }),
    subfolderContext: new SubfolderContext(cwd, projectFiles),
    shorten: () => Promise.resolve(undefined),
    usedBeside: () => undefined,
    get toolText() {
      toolText ??= JSON.stringify(tools.map((tool) => tool.schema));
      return toolText;
    },
    engine: options.contextEngine ?? defaultEngine(),
    clear:
      options.approvals === "smart" ? (request, signal) => clearedByModel(request, setup.auxiliary, signal) : undefined,
    buildSystemPrompt: (systemMessage) =>
      buildPrompt(options, { home, cwd, tools, memory, contextFiles: projectFiles, systemMessage, onDefect }),
    spillFolder: (sessionId) => spillFolder(home, sessionId),
    onDefect,
  };
  return setup;
}

function memoryOf({ memory }: AIAgentOptions, home: string): Memory | undefined {
  if (memory === false) return undefined;
  return memory ?? new Memory({ folder: memoriesFolder(home) });
}

function policyOf(
  { otherFolders = [], approvalMode = () => "code", approvals }: AIAgentOptions,
  where: Pick<PolicyOptions, "cwd" | "hermesHome" | "trusted" | "grants" | "sandbox">,
): Policy {
  return sessionPolicy({
    ...where,
    roots: [where.cwd, ...otherFolders],
    home: homedir(),
    mode: approvalMode,
    asks: approvals !== "off",
  });
}

function chooseTools({ enabledToolsets, disabledToolsets, sessionIndex, memory }: AIAgentOptions): readonly Tool[] {
  const chosen = selectTools(toolTable, {
    ...(enabledToolsets && { enabled: enabledToolsets }),
    ...(disabledToolsets && { disabled: disabledToolsets }),
  });
  if (!chosen.ok) throw new Error(chosen.message);
  return chosen.tools
    .filter((tool) => tool.toolset !== "session_search" || sessionIndex !== undefined)
    .filter((tool) => tool.toolset !== "memory" || memory !== false);
}

function resolved(settings: ModelSettings, environment: Environment): ResolvedModel {
  const { model, provider, baseUrl, apiMode, apiKey } = settings;
  const resolution = resolveModel(
    {
      ...(model !== undefined && { model }),
      ...(provider !== undefined && { provider }),
      ...(baseUrl !== undefined && { baseUrl }),
      ...(apiMode !== undefined && { apiMode }),
      ...(apiKey !== undefined && { apiKey }),
    },
    environment,
  );
  if (!resolution.ok) throw new Error(resolution.message);
  return resolution.model;
}

async function buildPrompt(
  { otherFolders = [], platform }: AIAgentOptions,
  where: {
    readonly home: string;
    readonly cwd: string;
    readonly tools: readonly Tool[];
    readonly memory: Memory | undefined;
    readonly contextFiles: ContextFiles;
    readonly systemMessage: string | undefined;
    readonly onDefect: (message: string) => void;
  },
): Promise<string> {
  const { home, cwd, tools, memory, systemMessage } = where;
  const [soul, context, remembered] = await Promise.all([
    readSoul(home),
    projectContext(cwd, where.contextFiles),
    memory === undefined ? NOTHING : memorySnapshot(memory, { isBad: findThreat, onDefect: where.onDefect }),
  ]);
  return systemPrompt({
    soul,
    tools: tools.map(({ name }) => name),
    systemMessage,
    memory: remembered,
    projectContext: context,
    cwd,
    otherFolders,
    platform,
    operatingSystem: `${osPlatform()} ${release()}`,
    date: new Date().toISOString().slice(0, 10),
  });
}
