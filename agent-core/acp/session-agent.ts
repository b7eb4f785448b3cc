/** Builds the agent of a session with its host and its journal. */
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import type { AIAgentOptions } from "../agent/agent-options.ts";
import { AIAgent } from "../agent/ai-agent.ts";
import type { StatusEvent } from "../agent/callbacks.ts";
import type { ConfiguredAgent } from "../agent/configured-agent.ts";
import type { Extension } from "../agent/extensions.ts";
import type { ModelDirectory } from "../agent/model-directory.ts";
import type { ApprovalMode } from "../approval/decision.ts";
import { configFile, hasLearnt, sessionsFolder, spaceReserveFile } from "../config/home.ts";
import type { Hook } from "../hooks/hook.ts";
import { hooksExtension } from "../hooks/hooks-extension.ts";
import type { Host } from "../host/host.ts";
import type { LearntContext } from "../learning/learnt-context.ts";
import { memorySearch } from "../learning/memory-search.ts";
import { McpExtension } from "../mcp/mcp-extension.ts";
import { carriedServer, editorServers, mergeServers, serversFrom } from "../mcp/server-config.ts";
import { Plugins } from "../plugins/plugins.ts";
import type { EditorFiles } from "../prompt/surroundings.ts";
import { fileMethods } from "../protocol/files.ts";
import { call } from "../protocol/method.ts";
import { allowListMethod } from "../protocol/settings.ts";
import { settingsOf } from "../providers/model-choice.ts";
import { unsentSampling } from "../providers/model-info.ts";
import type { ResolvedModel } from "../providers/resolve-model.ts";
import type { Sampling } from "../providers/wire/wire.ts";
import { Journal } from "../sessions/journal.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { journalPath } from "../sessions/session-files.ts";
import { SpaceReserve } from "../sessions/write-fault.ts";
import { sessionHost, type TaskOptions } from "./acp-host.ts";
import { askPassword, askPermission, askQuestion, openPage, type UserClient } from "./ask-user.ts";
import type { CommandSession } from "./commands/command.ts";
import { reservedNames } from "./commands/slash-commands.ts";
import type { ConnectedClient } from "./connected-client.ts";
import { carryTo } from "./next-protocol.ts";
import type { StartingModel } from "./session-model.ts";
import type { SessionParams } from "./session-params.ts";
import type { StoredSessions } from "./stored-sessions.ts";

export type AcpSessionOptions = Pick<CommandSession, "readStored" | "learning"> & {
  readonly client: AgentContext;
  readonly identity: ConnectedClient;
  readonly params: SessionParams;
  readonly id: string;
  readonly stored: StoredSession | undefined;
  /** Journal of an earlier opening, with lines that could not be saved. */
  readonly journal: Journal | undefined;
  readonly configured: ConfiguredAgent;
  readonly directory: ModelDirectory;
  readonly model: StartingModel;
  readonly sessions: StoredSessions;
  /** Hermes' home folder. */
  readonly home: string;
  /** This machine. */
  readonly local: Host;
  readonly log: (line: string) => void;
  /** Planned jobs; undefined in the session of one, which cannot plan jobs. */
  readonly jobs: NonNullable<AIAgentOptions["cron"]> | undefined;
  /** Set in the session of a batch's task. */
  readonly task: TaskOptions | undefined;
  /** Warnings for the user, one line each. */
  readonly notes: readonly string[];
  /** Called after a change of the title. */
  readonly titled: () => void;
  /** Called before each turn; the returned function is called after it. */
  readonly beginTurn: () => () => void;
  /** Lines about what was learnt, each returned once. */
  readonly takeLearnt: () => readonly string[];
};

/** The session's changing state, and its callbacks that do not wait for the user. */
export type SessionState = {
  readonly trusted: () => boolean;
  readonly approvalMode: () => ApprovalMode;
  readonly callbacks: NonNullable<AIAgentOptions["callbacks"]>;
  /** Counts open questions to the user: 1 for a new one, -1 for its end. */
  readonly asking: (count: 1 | -1) => void;
  /** Shows a status of the journal. */
  readonly status: (event: StatusEvent) => void;
};

export type SessionAgent = {
  readonly agent: AIAgent;
  readonly journal: Journal;
  /** For the user. */
  readonly notes: readonly StatusEvent[];
};

/**
 * Wait for MCP servers on the command line and in planned jobs, which have no later turn. `npx` may have to download a
 * server. Milliseconds.
 */
const SINGLE_TURN_MS = 10_000;

export function sessionAgent(options: AcpSessionOptions, state: SessionState): SessionAgent {
  const { client, identity, params, id, stored, configured, directory, model, home, local, log, jobs, task } = options;
  const { capabilities, title, models, platform } = identity;
  const { skills } = configured.options;
  const { status, callbacks, asking, ...decisions } = state;
  const journal = sessionJournal(options, status);
  const user: UserClient = {
    client,
    sessionId: id,
    hasForms: capabilities.elicitation?.form != null,
    showsGrants: identity.ours.grants === true,
  };
  const host = sessionHost(configured, params, {
    client,
    identity,
    sessionId: id,
    local,
    home,
    task,
  });
  const asked = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    asking(1);
    return ask().finally(() => asking(-1));
  };
  const facts = { ...options, status, trusted: decisions.trusted, confine: host.terminals.confine };
  const agent = new AIAgent({
    ...configured.options,
    skills: skills && { ...skills, reservedNames },
    ...settingsOf(model.resolved),
    editorModels: models,
    editorFiles: identity.ours.openFiles === true ? () => openFiles(client) : undefined,
    modelFacts: (resolved) => directory.facts(resolved),
    onModelLimit: (resolved, limit) => directory.learn(resolved, limit),
    allowList: allowListOf(options),
    sessionId: id,
    cwd: params.cwd,
    otherFolders: params.otherFolders,
    onDefect: log,
    infersVerdicts: identity.ours.sessionIndex !== true,
    platform: title,
    stored,
    ...decisions,
    host,
    journal,
    sessionIndex: options.sessions.index,
    ...(task && { contextFiles: false, surroundings: false, systemMessage: task.systemMessage }),
    cron: jobs,
    extensionsMs: platform === "cli" || jobs === undefined ? SINGLE_TURN_MS : undefined,
    extensions: [
      ...extensionMakers.flatMap((make) => make(facts) ?? []),
      ...(jobs === undefined && task === undefined ? [jobNote] : []),
    ],
    callbacks: {
      ...callbacks,
      clarify: (question, signal) => asked(() => askQuestion(user, question, signal)),
      approval: (request, signal) => asked(() => askPermission(user, request, signal)),
      ...(identity.ours.passwords === true && {
        password: (question, signal) => asked(() => askPassword(user, question, signal)),
      }),
    },
  });
  return { agent, journal, notes: openingNotes(configured, model, agent) };
}

function openingNotes(configured: ConfiguredAgent, model: StartingModel, agent: AIAgent): StatusEvent[] {
  const warnings = [
    ...configured.warnings.map(shortened),
    ...model.warnings,
    ...samplingWarnings(configured, agent.setup.models.current),
    ...interruption(agent),
  ];
  return [
    ...configured.errors.map((message) => ({ severity: "error" as const, message })),
    ...warnings.map((message) => ({ severity: "warning" as const, message })),
  ];
}

/** Facts about a planned job, added to its prompt alone: a user who continues the session later can answer. */
const jobNote: Extension = {
  name: "planned job",
  attach: () =>
    Promise.resolve(
      "This is a planned job, and nobody reads along or can answer. A call that needs permission is denied. Put all that is worth knowing into your last message.",
    ),
};

const SAMPLING_SETTINGS: { readonly [Name in keyof Sampling]: string } = {
  temperature: "model.temperature",
  topP: "model.top_p",
  maxTokens: "model.max_tokens",
  stop: "model.stop",
};

function samplingWarnings({ options: { sampling = {} } }: ConfiguredAgent, { mode, model }: ResolvedModel) {
  const unsent = unsentSampling(mode, model).filter((name) => sampling[name] !== undefined);
  const settings = unsent.map((name) => SAMPLING_SETTINGS[name]);
  return settings.length === 0 ? [] : [`config.yaml: ${model} does not accept ${settings.join(", ")}.`];
}

/** Length of a warning about a configuration. A whole config.yaml of the original Hermes Agent would fill the panel. */
const WARNING_CHARS = 300;

function shortened(warning: string): string {
  if (warning.length <= WARNING_CHARS) return warning;
  const end = warning.lastIndexOf(",", WARNING_CHARS);
  return `${warning.slice(0, end > 0 ? end : WARNING_CHARS)} … \`hermes doctor\` shows the rest.`;
}

function allowListOf({ client, identity }: AcpSessionOptions): AIAgentOptions["allowList"] {
  if (identity.allowed === undefined) return undefined;
  const change = (row: string, isIn: boolean) => call(client, allowListMethod, { row, isIn });
  return { rows: () => identity.allowed ?? [], change };
}

async function openFiles(client: AgentContext): Promise<EditorFiles> {
  const { active, open } = await call(client, fileMethods.open, {});
  return { active: active ?? undefined, open };
}

type ExtensionFacts = AcpSessionOptions &
  Pick<SessionState, "trusted" | "status"> & { readonly confine: Host["terminals"]["confine"] };

/** Makers of extensions, in the order of the prompt. Each loads its code when something of its kind is configured. */
const extensionMakers: readonly ((facts: ExtensionFacts) => Extension | undefined)[] = [
  mcpServers,
  ({ configured: { config, variables, options }, params: { cwd }, home, trusted, confine, log }) =>
    hooksExtension({
      section: config.hooks,
      autoAccept: config.hooksAutoAccept,
      withheld: variables.withheld,
      cwd,
      home,
      trusted,
      confine,
      onDefect: log,
      environment: options.environment,
    }),
  ({ configured: { config, pluginEngine, variables, options }, home, log }) =>
    new Plugins({
      home,
      config: config.plugins,
      engineName: pluginEngine,
      reservedNames,
      variables,
      log,
      environment: options.environment,
    }),
  learnt,
  ({ params: { context } }) =>
    context === undefined ? undefined : { name: "client", promptText: async () => context },
];

/** Undefined where nothing that was learnt may reach a prompt. The code loads with the prompt of a new session. */
function learnt(facts: ExtensionFacts): Extension | undefined {
  const { configured, params, home, status, jobs, identity, id: sessionId } = facts;
  const { enabled, consolidation, distillation: usesSkills, use } = configured.config.learning;
  if (!enabled || !consolidation || !use || !hasLearnt(home)) return undefined;
  const { clock } = configured.options;
  const { disabled } = configured.config.skills;
  const roots = [params.cwd, ...params.otherFolders];
  let loading: Promise<LearntContext> | undefined;
  let loaded: LearntContext | undefined;
  const load = async (): Promise<LearntContext> => {
    const module = await import("../learning/learnt-context.ts");
    const notify = (message: string): void => status({ severity: "info", message });
    const onUse = (message: string, id: string): void => {
      if (!identity.notifyLearnt(message, [id], true)) notify(`${message} Wrong? \`/learning undo ${id}\``);
    };
    // Nobody reads a job's session.
    const told = jobs && { notify, onUse };
    loaded = new module.LearntContext({ home, sessionId, roots, clock, usesSkills, disabled, ...told });
    return loaded;
  };
  const loadOnce = (): Promise<LearntContext> => {
    loading ??= load();
    return loading;
  };
  const tools = [memorySearch(home, roots)];
  return {
    name: "learning",
    tools: () => tools,
    inheritsPrompt: true,
    warmUp: () =>
      void loadOnce().then(
        (context) => context.warmUp(),
        () => undefined,
      ), // the prompt reports it
    promptText: async () => (await loadOnce()).promptText(),
    attach: async (message) => (await loading)?.attach(message), // a session without a new prompt is not a new session
    hooks: () => loaded?.hooks() ?? NO_HOOKS,
  };
}

/** The same array each time, as `hooks` must give it. */
const NO_HOOKS: readonly Hook[] = [];

/** A server of the client replaces one of config.yaml with the same name. */
function mcpServers({
  configured,
  params,
  home,
  trusted,
  client,
  identity,
  id,
  confine,
  log,
}: ExtensionFacts): Extension {
  const { cwd, otherFolders } = params;
  const place = { source: "config", sourceName: "config.yaml", path: configFile(home) } as const;
  const own = serversFrom(configured.config.mcpServers, place);
  const editor = editorServers(params.mcpServers);
  const carried = params.acpServers.map(({ name, serverId }) => {
    return carriedServer(name, `${id}:${serverId}`, carryTo(client, id, serverId));
  });
  const servers = mergeServers(own.servers, editor.servers, carried);
  return new McpExtension({
    servers,
    problems: [...own.problems, ...editor.problems],
    cwd,
    otherFolders,
    trusted,
    home,
    confine,
    environment: configured.options.environment,
    openPage: (page) => openPage({ client, sessionId: id, identity }, page),
    isListed: identity.ours.extensions === true,
    isBrief: identity.platform === "cli",
    onDefect: log,
  });
}

function interruption({ checkpoints }: AIAgent): readonly string[] {
  if (checkpoints?.interrupted === undefined) return [];
  return [
    "A restore of files was interrupted. Restore to the same message again to finish it, or revert it with `/checkpoint undo`.",
  ];
}

function sessionJournal(
  { home, params: { cwd, otherFolders: folders }, id, stored, journal, configured, jobs }: AcpSessionOptions,
  show: (event: StatusEvent) => void,
): Journal {
  const listeners = {
    onFailure: (message: string) => show({ severity: "error", message }),
    onRecovery: (message: string) => show({ severity: "info", message }),
    onFullDisk: (message: string) => show({ severity: "warning", message }),
  };
  if (journal !== undefined) {
    setImmediate(() => journal.setListeners(listeners)); // after the current response, as all warnings
    return journal;
  }
  const { clock } = configured.options;
  const path = journalPath(sessionsFolder(home), id);
  if (path === undefined) throw new Error(`${id} is not the id of a session.`);
  return new Journal({
    path,
    sessionId: id,
    cwd,
    folders,
    now: () => clock.now(),
    ...(stored && { knownSize: stored.size }),
    ...(jobs === undefined && { origin: "cron" as const }),
    reserve: new SpaceReserve(spaceReserveFile(home)),
    ...listeners,
  });
}
