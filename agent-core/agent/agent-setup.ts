/** Builds the parts of an agent from its options, bottom-up: host, policy, models, tools, prompt. */
import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { Grants } from "../approval/grants.ts";
import { Checkpoints } from "../checkpoints/checkpoints.ts";
import {
  checkpointsFolder,
  type Environment,
  homeFolder,
  memoriesFolder,
  skillsFolder,
  spillFolder,
} from "../config/home.ts";
import { sectionDefault } from "../config/section-defaults.ts";
import { type ContextEngine, defaultEngine } from "../context/context-engine.ts";
import type { Hook, Hooks } from "../hooks/hook.ts";
import type { Host } from "../host/host.ts";
import { nodeHost } from "../host/node-host.ts";
import { Memory } from "../memory/memory.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { useNetwork } from "../platform/http/connections.ts";
import { resolvePath } from "../platform/paths.ts";
import { warmUpScan } from "../prompt/injection-scan.ts";
import type { ContextFiles } from "../prompt/project-context.ts";
import type { Surroundings } from "../prompt/surroundings.ts";
import type { HermesExtensionItem } from "../protocol/extensions.ts";
import type { ModelChain } from "../providers/call/model-chain.ts";
import type { ModelRoute } from "../providers/call/model-route.ts";
import { type ModelFacts, modelInfo, refusesImages } from "../providers/model-info.ts";
import { secretsOf } from "../providers/redact.ts";
import type { ModelSettings, ResolvedModel } from "../providers/resolve-model.ts";
import type { Sampling } from "../providers/wire/wire.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { UsageLedger } from "../sessions/usage-ledger.ts";
import { type AgentPlaces, agentFolders } from "../skills/agent-places.ts";
import { SessionSkills } from "../skills/session-skills.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { WebAccess } from "../web/web-access.ts";
import { resolved, setUpModels, webAccess } from "./agent-models.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import { modelApproval, type Policy, type PolicyOptions, sessionPolicy } from "./approvals.ts";
import type { Auxiliary } from "./auxiliary-models.ts";
import type { AgentCallbacks } from "./callbacks.ts";
import { type Extension, Extensions } from "./extensions.ts";
import { type Notifier, notifier, withStates } from "./notifier.ts";
import { buildPrompt, contextFiles, NO_FILES, rehearsePrompt, surroundingsOf } from "./prompt-builder.ts";
import type { CallServices } from "./run-call.ts";
import type { SessionRecord } from "./session-record.ts";
import { ToolCatalogue } from "./tool-catalogue.ts";

export type AgentSetup = {
  /** Options as they were given. */
  readonly options: AIAgentOptions;
  readonly host: Host;
  /** Environment at the start. It contains secrets. */
  readonly environment: Environment;
  readonly clock: Clock;
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
  readonly isSubAgent: boolean;
  readonly commandSeconds: number;
  readonly web: WebAccess;
  readonly memory: Memory | undefined;
  readonly skills: SessionSkills | undefined;
  /** Custom agents for sub-agents. Undefined when the session cannot delegate. */
  readonly agentPlaces: AgentPlaces | undefined;
  readonly models: ModelChain;
  /** Read at each call. */
  sampling: Sampling;
  modelFacts(model: ResolvedModel): ModelFacts;
  /** Tokens of the current model's context. */
  contextWindow(): number;
  /** Throws an Error in one line when there is no such model. */
  resolve(settings: ModelSettings): ResolvedModel;
  /** Access to the conversation's models. */
  readonly route: ModelRoute;
  readonly auxiliary: Auxiliary;
  /** Usage of all model calls of the session. */
  readonly ledger: UsageLedger;
  /** See `SubfolderContext.of`. */
  readonly subfolderContext: (paths: readonly string[]) => Promise<string>;
  readonly engine: ContextEngine;
  readonly modelApproval: CallServices["modelApproval"];
  buildSystemPrompt(systemMessage: string | undefined): Promise<string>;
  /** Loads and compiles what the first prompt and the first tool call need, while the user types. Never rejects. */
  warmUp(session: { readonly hasPrompt: boolean }): Promise<void>;
  /** Undefined when the prompt leaves the workspace's state out. */
  readonly surroundings: Surroundings | undefined;
  spillFolder(sessionId: string): string;
  onDefect(message: string): void;
};

/** Parts of one agent that its other parts share: its setup, its session, and the way to its user. */
export type AgentParts = {
  readonly sessionId: string;
  readonly setup: AgentSetup;
  readonly session: SessionRecord;
  readonly hooks: Hooks;
  readonly notify: Notifier;
  contextFor(callId: string, signal: AbortSignal): ToolContext;
};

/** Throws an Error in one line when the options cannot be met. */
export function setUpAgent(options: AIAgentOptions): AgentSetup {
  const environment = options.environment ?? process.env;
  const { clock = systemClock } = options;
  useNetwork(environment);
  const home = options.home ?? homeFolder(environment);
  const cwd = options.cwd ?? process.cwd();
  const host = options.host ?? nodeHost();
  const onDefect = options.onDefect ?? ((message) => process.stderr.write(`${message}\n`));
  const trusted = options.trusted ?? (() => true);
  const catalogue = new ToolCatalogue(options, () => extensions.tools());
  const skills = skillsOf(options, { home, cwd, trusted, environment, clock, catalogue, onDefect });
  const agentPlaces = agentPlacesOf(options, { home, cwd, trusted, catalogue });
  const extensions = extensionsOf(options, { skills, agentPlaces }, onDefect);
  const memory = memoryOf(options, clock, home)?.forProject(cwd);
  const projectFiles = projectFilesOf(options, host, { cwd, trusted, onDefect });
  const surroundings = surroundingsOf(options, { cwd, files: host.files, trusted });
  const grants = options.inherited?.grants ?? new Grants(home, onDefect, options.allowList);
  const { models, route, modelFacts, ledger, auxiliary } = setUpModels(options, environment);
  const forPrompt = { home, cwd, memory, contextFiles: projectFiles, onDefect, extensions, surroundings };
  const setup: AgentSetup = {
    options,
    host,
    environment,
    clock,
    cwd,
    catalogue,
    extensions,
    hooks: options.hooks ?? (() => extensions.hooks()),
    home,
    policy: policyOf(options, host, { cwd, hermesHome: home, trusted, grants, secrets: secretsOf(environment) }),
    grants,
    callbacks: withStates(options.callbacks ?? {}),
    maxIterations: options.maxIterations ?? sectionDefault("agent").maxTurns,
    isSubAgent: options.inherited !== undefined,
    commandSeconds: options.commandSeconds ?? sectionDefault("terminal").timeout,
    web: webAccess(options.web, auxiliary, () => !refusesImages(models.current, modelFacts(models.current))),
    memory,
    skills,
    agentPlaces,
    models,
    sampling: options.sampling ?? {},
    modelFacts,
    contextWindow: () => modelInfo(models.current.model, modelFacts(models.current)).contextWindow,
    resolve: (settings) => resolved(settings, environment),
    route,
    auxiliary,
    ledger,
    subfolderContext: subfolderContext(cwd, projectFiles),
    engine: extensions.contextEngine(options.contextEngine ?? defaultEngine()),
    modelApproval:
      options.approvals === "smart" ? (request, signal) => modelApproval(request, auxiliary, signal) : undefined,
    surroundings,
    buildSystemPrompt: (systemMessage = options.systemMessage) =>
      buildPrompt(options, { ...forPrompt, systemMessage, tools: catalogue.tools }),
    warmUp: ({ hasPrompt }) => warmUp(setup, hasPrompt ? undefined : () => rehearsePrompt(options, home, cwd)),
    spillFolder: (sessionId) => spillFolder(home, sessionId),
    onDefect,
  };
  return setup;
}

function projectFilesOf(
  { callbacks = {}, otherFolders = [], contextFiles: isRead = true }: AIAgentOptions,
  host: Host,
  { cwd, trusted, onDefect }: Pick<AgentSetup, "cwd" | "onDefect"> & { readonly trusted: () => boolean },
): ContextFiles {
  if (!isRead) return NO_FILES;
  const { status } = notifier(callbacks, onDefect);
  const report = (message: string): void => status({ severity: "warning", message });
  return contextFiles(host, { roots: [cwd, ...otherFolders], trusted, report });
}

/** `rehearse` compiles the code of the system prompt. */
async function warmUp(
  { catalogue, surroundings, extensions, policy }: AgentSetup,
  rehearse: (() => Promise<void>) | undefined,
): Promise<void> {
  randomUUID(); // Node loads its crypto code at the first use, and checkpoints hash with it
  warmUpScan();
  void catalogue.schemaText; // the tools build their schemas at the first use
  if (rehearse !== undefined) {
    surroundings?.begin();
    extensions.warmUp();
    await rehearse().catch(() => undefined); // the prompt fails too, and reports it
  }
  await policy.warmUp();
}

/** A sub-agent shares its parent's skills. Routing adds them only to messages of the user. */
function extensionsOf(
  { extensions = [], extensionsMs, inherited }: AIAgentOptions,
  { skills, agentPlaces }: Pick<AgentSetup, "skills" | "agentPlaces">,
  onDefect: (message: string) => void,
): Extensions {
  const own = skills === undefined || inherited !== undefined ? [] : [skills];
  const agents = agentPlaces === undefined ? [] : [customAgents(agentPlaces)];
  return new Extensions([...extensions, ...own, ...agents], onDefect, extensionsMs);
}

function agentPlacesOf(
  { inherited, otherFolders = [] }: AIAgentOptions,
  { cwd, catalogue, ...where }: Pick<AgentSetup, "cwd" | "catalogue"> & Pick<AgentPlaces, "home" | "trusted">,
): AgentPlaces | undefined {
  const canDelegate = inherited === undefined && catalogue.callable.some(({ toolset }) => toolset === "delegation");
  return canDelegate ? { ...where, roots: [cwd, ...otherFolders] } : undefined;
}

/** Their index in the prompt, `@name` at the beginning of a message, and `/agents`. */
function customAgents(places: AgentPlaces): Extension {
  const load = () => import("../skills/custom-agents.ts");
  const hasAny = (): boolean => agentFolders(places).length > 0;
  let items: readonly HermesExtensionItem[] = [];
  let changed: (() => void) | undefined;
  const read = async () => {
    const { agentItems, readAgents } = await load();
    const found = await readAgents(places);
    const before = JSON.stringify(items);
    items = agentItems(found);
    if (JSON.stringify(items) !== before) changed?.();
    return found;
  };
  return {
    name: "agents",
    warmUp: () => hasAny() && void read(),
    items: () => items,
    onChange: (listener) => {
      changed = listener;
    },
    promptText: async () => (hasAny() ? (await load()).agentIndex(await read()) : undefined),
    attach: async (message) =>
      /^\s*@/.test(message) && hasAny() ? (await load()).addressed(message, await read()) : undefined,
    commands: () => [
      {
        name: "agents",
        description: "List the custom agents of the workspace and the home",
        run: async () => (await load()).agentsText(await read(), places.roots),
      },
    ],
  };
}

function memoryOf({ memory }: AIAgentOptions, clock: Clock, home: string): Memory | undefined {
  if (memory === false) return undefined;
  return memory ?? new Memory({ folder: memoriesFolder(home), now: () => clock.now() });
}

/** Undefined when the skills or their tools are off. */
function skillsOf(
  options: AIAgentOptions,
  where: Pick<AgentSetup, "cwd" | "environment" | "clock" | "catalogue" | "onDefect"> & {
    readonly home: string;
    readonly trusted: () => boolean;
  },
): SessionSkills | undefined {
  const { home, cwd, trusted, environment, clock, catalogue, onDefect } = where;
  if (options.inherited !== undefined) return options.inherited.skills;
  if (!catalogue.callable.some(({ toolset }) => toolset === "skills")) return undefined;
  const { otherFolders = [] } = options;
  return new SessionSkills({
    externalFolders: [],
    disabled: [],
    ...(options.skills || {}),
    trusted,
    environment,
    onDefect,
    homeSkills: skillsFolder(home),
    roots: [cwd, ...otherFolders],
    pluginFolders: () => (options.extensions ?? []).flatMap((extension) => extension.skillFolders?.() ?? []),
    tools: () => ({
      toolsets: catalogue.callable.map(({ toolset }) => toolset),
      tools: catalogue.callable.map(({ name }) => name),
      requested: catalogue.tools.map(({ name }) => name),
    }),
    onUse: (use) => options.journal?.append({ type: "skill-use", ...use }),
    now: () => clock.now(),
  });
}

function policyOf(
  { otherFolders = [], approvalMode = () => "code", approvals, inherited }: AIAgentOptions,
  { terminals }: Host,
  where: Pick<PolicyOptions, "cwd" | "hermesHome" | "trusted" | "grants" | "secrets">,
): Policy {
  if (inherited !== undefined) return inherited.policy;
  return sessionPolicy({
    ...where,
    sandbox: () => terminals.sandboxes === true,
    sandboxProblem: async () => terminals.sandboxProblem?.(),
    ownPorts: async () => (await terminals.ownPorts?.()) ?? new Set(),
    language: terminals.language,
    roots: [where.cwd, ...otherFolders],
    home: homedir(),
    mode: approvalMode,
    asks: approvals !== "off",
  });
}

/** Delay of the workspace scan, so that the first request of a turn is sent before it. */
const SCAN_DELAY_MS = 50;

type SessionPorts = {
  /** Position of the next message. */
  readonly position: () => number;
  readonly journal: (entry: NewEntry) => void;
  readonly notifyUser: (problem: string) => void;
};

/** Undefined without a journal, because restores need its entries, and for a sub-agent, whose host logs its changes. */
export function sessionCheckpoints(
  { options, host, cwd, home: hermesHome, onDefect }: AgentSetup,
  ports: SessionPorts,
): Checkpoints | undefined {
  if (options.journal === undefined || options.inherited !== undefined) return undefined;
  const roots = [cwd, ...(options.otherFolders ?? [])];
  const { language } = host.terminals;
  const scope = { roots, home: homedir(), hermesHome, language, resolvePath };
  return new Checkpoints({
    ...ports,
    host,
    roots,
    objects: checkpointsFolder(hermesHome),
    lookDelayMs: SCAN_DELAY_MS,
    entries: options.stored?.records ?? [],
    trusted: options.trusted ?? (() => true),
    async onlyReads(command, folder) {
      const { judgeCommand } = await import("../approval/command-verdict.ts");
      return judgeCommand(command, { ...scope, cwd: folder }).readOnly;
    },
    onDefect,
  });
}

/** The reader of instructions, loaded with the first call that touches a file. */
function subfolderContext(cwd: string, files: ContextFiles): AgentSetup["subfolderContext"] {
  const load = () => import("../prompt/project-context.ts").then((room) => new room.SubfolderContext(cwd, files));
  let context: ReturnType<typeof load> | undefined;
  return async (paths) => {
    context ??= load();
    return (await context).of(paths);
  };
}
