/** Builds the parts of an agent from its options, bottom-up: host, policy, models, tools, prompt. */
import { homedir, platform as osPlatform, release } from "node:os";
import { Grants } from "../approval/grants.ts";
import { resolvePath } from "../approval/resolve-path.ts";
import { Checkpoints } from "../checkpoints/checkpoints.ts";
import {
  checkpointsFolder,
  type Environment,
  grantsFile,
  homeFolder,
  memoriesFolder,
  readSoul,
  skillsFolder,
  spillFolder,
} from "../config/home.ts";
import { type ContextEngine, defaultEngine } from "../context/context-engine.ts";
import type { Hook } from "../hooks/hook.ts";
import type { Host } from "../host/host.ts";
import { nodeHost } from "../host/node-host.ts";
import { findShell } from "../host/terminals/local-backend.ts";
import { Memory, type MemorySnapshot, memorySnapshot } from "../memory/memory.ts";
import type { Message } from "../messages/message.ts";
import { repairMessages } from "../messages/repair.ts";
import { systemClock } from "../platform/clock.ts";
import { useNetwork } from "../platform/http/connections.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import { type ContextFiles, projectContext, SubfolderContext } from "../prompt/project-context.ts";
import { Surroundings, type SurroundingsOptions } from "../prompt/surroundings.ts";
import { systemPrompt } from "../prompt/system-prompt.ts";
import { Adaptations } from "../providers/call/adaptations.ts";
import { type CallEvent, type CallRequest, callModel, type ModelRoute } from "../providers/call/call-model.ts";
import { ModelChain } from "../providers/call/model-chain.ts";
import { type ModelFacts, modelInfo } from "../providers/model-info.ts";
import { type ModelSettings, type ResolvedModel, resolveModel } from "../providers/resolve.ts";
import type { Sampling } from "../providers/wire/wire.ts";
import type { SessionIndex } from "../sessions/index/session-index.ts";
import type { Journal, NewEntry } from "../sessions/journal.ts";
import { UsageLedger } from "../sessions/usage-ledger.ts";
import type { Tool } from "../tools/tool.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import { modelApproval, type Policy, type PolicyOptions, sessionPolicy } from "./approvals.ts";
import { Auxiliary } from "./auxiliary.ts";
import type { IterationBudget } from "./budget.ts";
import type { AgentCallbacks } from "./callbacks.ts";
import { Extensions } from "./extensions.ts";
import type { CallServices } from "./run-call.ts";
import { SessionSkills } from "./session-skills.ts";
import { ToolCatalogue } from "./tool-catalogue.ts";

/** Iterations of a turn, as in the original Hermes Agent. */
const DEFAULT_MAX_ITERATIONS = 90;
/** Default of `terminal.timeout` in the original Hermes Agent. */
const DEFAULT_COMMAND_SECONDS = 180;

const NOTHING: MemorySnapshot = { memory: undefined, user: undefined };

export type AgentSetup = {
  readonly host: Host;
  /** Environment at the start. It contains secrets. */
  readonly environment: Environment;
  readonly cwd: string;
  readonly catalogue: ToolCatalogue;
  readonly extensions: Extensions;
  readonly hooks: () => readonly Hook[];
  /** Folder of the Hermes home, absolute. */
  readonly home: string;
  readonly policy: Policy;
  /** Lasting permissions. */
  readonly grants: Grants;
  readonly callbacks: AgentCallbacks;
  readonly maxIterations: number;
  readonly parentBudget: IterationBudget | undefined;
  readonly commandSeconds: number;
  readonly journal: Journal | undefined;
  readonly sessionIndex: SessionIndex | undefined;
  readonly memory: Memory | undefined;
  readonly skills: SessionSkills | undefined;
  readonly models: ModelChain;
  /** Read at each call. */
  sampling: Sampling;
  modelFacts(model: ResolvedModel): ModelFacts;
  /** Throws an Error in one line when there is no such model. */
  resolve(settings: ModelSettings): ResolvedModel;
  /** Opens one model call. */
  readonly callModel: (call: OpenCall, signal: AbortSignal) => AsyncIterable<CallEvent>;
  readonly auxiliary: Auxiliary;
  /** Usage of all model calls of the session. */
  readonly ledger: UsageLedger;
  readonly subfolderContext: SubfolderContext;
  readonly engine: ContextEngine;
  readonly modelApproval: CallServices["modelApproval"];
  buildSystemPrompt(systemMessage: string | undefined): Promise<string>;
  /** Undefined when the prompt leaves the workspace's state out. */
  readonly surroundings: Surroundings | undefined;
  spillFolder(sessionId: string): string;
  onDefect(message: string): void;
};

/** One call of the conversation's model. `offered`: the tools that the model may call. */
type OpenCall = Pick<CallRequest, "messages"> & Pick<CallRequest, "onOverflow"> & { readonly offered: readonly Tool[] };

/** Throws an Error in one line when the options cannot be met. */
export function setUpAgent(options: AIAgentOptions): AgentSetup {
  const environment = options.environment ?? process.env;
  useNetwork(environment);
  const home = options.home ?? homeFolder(environment);
  const cwd = options.cwd ?? process.cwd();
  const host = options.host ?? nodeHost();
  const onDefect = options.onDefect ?? ((message) => process.stderr.write(`${message}\n`));
  const trusted = options.trusted ?? (() => true);
  const catalogue = new ToolCatalogue(options, () => extensions.tools());
  const skills = skillsOf(options, { home, cwd, trusted, environment, catalogue, onDefect });
  const extensions = new Extensions(
    [...(options.extensions ?? []), ...(skills === undefined ? [] : [skills])],
    onDefect,
  );
  const memory = memoryOf(options, home);
  const projectFiles = contextFiles(host, trusted);
  const surroundings = surroundingsOf(options, { cwd, files: host.files, trusted });
  const grants = new Grants(grantsFile(home), onDefect);
  const { models, route, modelFacts, ledger, auxiliary } = setUpModels(options, environment);
  const setup: AgentSetup = {
    host,
    environment,
    cwd,
    catalogue,
    extensions,
    hooks: options.hooks ?? (() => extensions.hooks()),
    home,
    policy: policyOf(options, host, { cwd, hermesHome: home, trusted, grants }),
    grants,
    callbacks: options.callbacks ?? {},
    maxIterations: options.maxIterations ?? DEFAULT_MAX_ITERATIONS,
    parentBudget: options.parentBudget,
    commandSeconds: options.commandSeconds ?? DEFAULT_COMMAND_SECONDS,
    journal: options.journal,
    sessionIndex: options.sessionIndex,
    ...{ memory, skills, models },
    sampling: options.sampling ?? {},
    modelFacts,
    resolve: (settings) => resolved(settings, environment),
    callModel: modelCaller(options, route, () => setup.sampling),
    auxiliary,
    ledger,
    subfolderContext: new SubfolderContext(cwd, projectFiles),
    engine: extensions.contextEngine(options.contextEngine ?? defaultEngine()),
    modelApproval:
      options.approvals === "smart" ? (request, signal) => modelApproval(request, auxiliary, signal) : undefined,
    surroundings,
    buildSystemPrompt: (systemMessage) =>
      buildPrompt(options, {
        ...{ home, cwd, memory, contextFiles: projectFiles, systemMessage, onDefect, extensions, surroundings },
        tools: catalogue.tools,
      }),
    spillFolder: (sessionId) => spillFolder(home, sessionId),
    onDefect,
  };
  return setup;
}

/** Opens the calls of the conversation's model. `sampling` is read at each call. */
function modelCaller(
  { prefillMessages: prefill = [] }: AIAgentOptions,
  route: ModelRoute,
  sampling: () => Sampling,
): AgentSetup["callModel"] {
  return ({ messages, offered, onOverflow }, signal) => {
    const request = { tools: offered.map((tool) => tool.schema), sampling: sampling() };
    if (prefill.length === 0)
      return callModel({ ...request, messages, ...(onOverflow && { onOverflow }) }, route, signal);
    const shorten = async (...refusal: Parameters<NonNullable<typeof onOverflow>>) => {
      const shorter = await onOverflow?.(...refusal);
      return shorter && withPrefill(shorter, prefill);
    };
    return callModel({ ...request, messages: withPrefill(messages, prefill), onOverflow: shorten }, route, signal);
  };
}

/** Adds the prefill after the system prompt, so that the start of all requests stays the same. */
function withPrefill(messages: readonly Message[], prefill: readonly Message[]): readonly Message[] {
  const start = messages[0]?.role === "system" ? 1 : 0;
  return repairMessages([...messages.slice(0, start), ...prefill, ...messages.slice(start)]);
}

/** The models of an agent: the conversation's and those of auxiliary tasks, and what they use. */
function setUpModels(options: AIAgentOptions, environment: Environment) {
  const resolvable = (settings: ModelSettings): ResolvedModel | undefined => {
    const resolution = resolveModel(settings, environment);
    return resolution.ok ? resolution.model : undefined;
  };
  const fallbacks = (options.fallbacks ?? []).map(resolvable).filter((model) => model !== undefined);
  const models = new ModelChain(resolved(options, environment), fallbacks);
  const route = modelRoute(options, models);
  const modelFacts = options.modelFacts ?? (() => ({}));
  const ledger = new UsageLedger(options.entries ?? [], {
    priceOf: (model) => modelInfo(model.model, modelFacts(model)).price,
    journal: (entry) => options.journal?.append(entry),
  });
  const auxiliary = new Auxiliary({
    tasks: options.auxiliary ?? {},
    resolve: resolvable,
    routeTo: (first, others) => modelRoute(options, new ModelChain(first, others)),
    onUsage: (usage, model) => ledger.addAuxiliary(usage, model),
    main: route,
  });
  return { models, route, modelFacts, ledger, auxiliary };
}

function memoryOf({ memory }: AIAgentOptions, home: string): Memory | undefined {
  if (memory === false) return undefined;
  return memory ?? new Memory({ folder: memoriesFolder(home) });
}

/** Undefined when the skills or their tools are off. */
function skillsOf(
  options: AIAgentOptions,
  where: Pick<AgentSetup, "cwd" | "environment" | "catalogue" | "onDefect"> & {
    readonly home: string;
    readonly trusted: () => boolean;
  },
): SessionSkills | undefined {
  const { home, cwd, trusted, environment, catalogue, onDefect } = where;
  if (!catalogue.tools.some(({ toolset }) => toolset === "skills")) return undefined;
  const { externalFolders = [], disabled = [] } = options.skills || {};
  const { clock = systemClock, otherFolders = [] } = options;
  return new SessionSkills({
    ...{ externalFolders, disabled, trusted, environment, onDefect },
    homeSkills: skillsFolder(home),
    roots: [cwd, ...otherFolders],
    pluginFolders: () => (options.extensions ?? []).flatMap((extension) => extension.skillFolders?.() ?? []),
    tools: () => ({
      toolsets: catalogue.tools.map(({ toolset }) => toolset),
      tools: catalogue.tools.map(({ name }) => name),
    }),
    onUse: (use) => options.journal?.append({ type: "skill-use", ...use }),
    now: () => clock.now(),
  });
}

function policyOf(
  { otherFolders = [], approvalMode = () => "code", approvals }: AIAgentOptions,
  { terminals }: Host,
  where: Pick<PolicyOptions, "cwd" | "hermesHome" | "trusted" | "grants">,
): Policy {
  return sessionPolicy({
    ...where,
    sandbox: () => terminals.sandboxes === true,
    roots: [where.cwd, ...otherFolders],
    home: homedir(),
    mode: approvalMode,
    asks: approvals !== "off",
  });
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

function surroundingsOf(
  { surroundings = true, editorFiles }: AIAgentOptions,
  where: Pick<SurroundingsOptions, "cwd" | "files" | "trusted">,
): Surroundings | undefined {
  return surroundings ? new Surroundings({ ...where, shell: findShell().path, editorFiles }) : undefined;
}

async function buildPrompt(
  { otherFolders = [], platform, clock = systemClock }: AIAgentOptions,
  where: {
    readonly home: string;
    readonly cwd: string;
    readonly tools: readonly Tool[];
    readonly memory: Memory | undefined;
    readonly contextFiles: ContextFiles;
    readonly systemMessage: string | undefined;
    readonly extensions: Extensions;
    readonly surroundings: Surroundings | undefined;
    readonly onDefect: (message: string) => void;
  },
): Promise<string> {
  const { home, cwd, tools, memory, systemMessage, extensions } = where;
  const [soul, context, snapshot, extensionTexts, surroundings] = await Promise.all([
    readSoul(home),
    projectContext(cwd, where.contextFiles),
    memory === undefined ? NOTHING : memorySnapshot(memory, { isBad: findThreat, onDefect: where.onDefect }),
    extensions.promptTexts(),
    where.surroundings?.text(),
  ]);
  return systemPrompt({
    soul,
    tools: tools.map(({ name }) => name),
    systemMessage,
    memory: snapshot,
    extensionTexts,
    projectContext: context,
    cwd,
    otherFolders,
    platform,
    surroundings,
    operatingSystem: `${osPlatform()} ${release()}`,
    date: new Date(clock.now()).toISOString().slice(0, 10),
  });
}

/** Idle timeout of a stream in milliseconds. A living server sends something within a minute. */
const IDLE_MS = 60_000;
/** Most outages and rate limits are over within minutes. A longer wait is the user's decision. Milliseconds. */
const RETRY_MS = 300_000;

/** Access to the models of `chain`, with the agent's clock, keys and timeouts. */
function modelRoute(options: AIAgentOptions, chain: ModelChain): ModelRoute {
  const { clock = systemClock, editorModels, silenceMs, retryMs = RETRY_MS, refreshEnvironment } = options;
  return {
    chain,
    adaptations: new Adaptations(),
    clock,
    editorModels,
    retryMs,
    silenceMs: ({ endpoint }) => silenceMs?.(endpoint.provider) ?? IDLE_MS,
    refreshKey: async (model) => refreshEnvironment && withNewKey(model, await refreshEnvironment()),
  };
}

/** The model with the environment's key. Undefined when that is the refused one. */
function withNewKey(
  model: ResolvedModel,
  environment: Readonly<Record<string, string | undefined>>,
): ResolvedModel | undefined {
  const { provider, baseUrl, apiKey } = model.endpoint;
  const settings = { provider, model: model.model, apiMode: model.mode, ...(baseUrl !== undefined && { baseUrl }) };
  const again = resolveModel(settings, environment);
  const fresh = again.ok ? again.model.endpoint.apiKey : undefined;
  return fresh === undefined || fresh === apiKey
    ? undefined
    : { ...model, endpoint: { ...model.endpoint, apiKey: fresh } };
}

/** Limit for reading one file of instructions, which may be on another machine. */
const READ_TIMEOUT_MS = 5_000;

/** The project's instruction files, through the host, so that unsaved text counts. Empty until the user trusts the workspace. */
export function contextFiles({ files }: Host, trusted: () => boolean): ContextFiles {
  return {
    async read(path) {
      if (!trusted()) return undefined;
      // Most of the candidate files do not exist, and a request to the editor is slower than a stat.
      if ((await files.stat(path))?.kind !== "file") return undefined;
      const read = await files.readText(path, AbortSignal.timeout(READ_TIMEOUT_MS)).catch(() => undefined);
      return read?.ok ? read.text : undefined;
    },
    exists: async (path) => trusted() && (await files.stat(path)) !== undefined,
    list: async (folder) => (trusted() ? files.list(folder) : []),
  };
}

/** Delay of the workspace scan, so that the first request of a turn is sent before it. */
const SCAN_DELAY_MS = 50;

type SessionPorts = {
  /** Position of the next message. */
  readonly position: () => number;
  readonly journal: (entry: NewEntry) => void;
  /** Shows a problem to the user. */
  readonly notifyUser: (problem: string) => void;
};

/** Undefined without a journal, because restores need its entries. */
export function sessionCheckpoints(
  options: AIAgentOptions,
  { host, cwd, journal, onDefect }: AgentSetup,
  ports: SessionPorts,
): Checkpoints | undefined {
  if (journal === undefined) return undefined;
  const hermesHome = options.home ?? homeFolder(options.environment ?? process.env);
  const roots = [cwd, ...(options.otherFolders ?? [])];
  const scope = { roots, home: homedir(), hermesHome, resolvePath };
  return new Checkpoints({
    ...ports,
    host,
    roots,
    objects: checkpointsFolder(hermesHome),
    lookDelayMs: SCAN_DELAY_MS,
    entries: options.entries ?? [],
    trusted: options.trusted ?? (() => true),
    async onlyReads(command, folder) {
      const { judgeCommand } = await import("../approval/command-verdict.ts");
      return judgeCommand(command, { ...scope, cwd: folder }).readOnly;
    },
    onDefect,
  });
}
