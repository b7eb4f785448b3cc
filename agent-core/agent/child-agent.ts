/** Sub-agents of an agent: real sessions with its host, policy, hooks and tools, and a context and a journal of their own. */
import { join } from "node:path";
import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import { sessionsFolder } from "../config/home.ts";
import { sectionDefault } from "../config/section-defaults.ts";
import { type Delegated, Delegation } from "../orchestration/delegation.ts";
import { type EvaluationPorts, Evaluator, isEvaluated, type KnownScores } from "../orchestration/evaluation.ts";
import { type Ownership, ownedDecide, ownedHost } from "../orchestration/file-owners.ts";
import type { TaskSpec } from "../orchestration/task-graph.ts";
import { SUB_AGENT_ROLE } from "../orchestration/task-messages.ts";
import { TaskRecord, type TaskResult } from "../orchestration/task-result.ts";
import type { Child, ChildPorts, Evaluate } from "../orchestration/task-run.ts";
import { messageOf } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import { resolvePath } from "../platform/paths.ts";
import { parseChoice, settingsOf } from "../providers/model-choice.ts";
import type { ModelSettings, ResolvedModel } from "../providers/resolve-model.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { FileChange, JournalEntry } from "../sessions/entry.ts";
import { Journal } from "../sessions/journal.ts";
import { journalPath, newSessionId } from "../sessions/session-files.ts";
import type { AgentPlaces } from "../skills/agent-places.ts";
import type { Cast } from "../skills/custom-agents.ts";
import type { Tool } from "../tools/tool.ts";
import { isToolsetOn } from "../tools/toolsets.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import type { AgentParts, AgentSetup } from "./agent-setup.ts";
import type { AgentShell } from "./agent-shell.ts";
import { recordedQuestions } from "./approvals.ts";
import type { AgentCallbacks, ToolProgressEvent } from "./callbacks.ts";
import type { Extension } from "./extensions.ts";
import type { TurnRunner } from "./turn-runner.ts";

/** Tools that no sub-agent has: nobody answers it, and it keeps nothing for later sessions. */
const WITHHELD: ReadonlySet<string> = new Set(["clarify", "memory", "cronjob"]);
const DELEGATE = "delegate_task";

/** Limit of a check against a result's schema, which decides about the result. */
const SCHEMA_MS = 1_000;

/** The agent of a sub-agent, as its parent uses it. */
type ChildAgent = Pick<AgentParts, "setup"> & {
  readonly shell: AgentShell;
  readonly turns: TurnRunner;
  close(): Promise<void>;
};

type DelegatingAgent = Omit<AgentParts, "contextFor"> & {
  readonly checkpoints: Checkpoints | undefined;
  readonly turns: TurnRunner;
};

export class SubAgents {
  readonly delegation: Delegation;
  readonly #parent: DelegatingAgent;
  readonly #create: (options: AIAgentOptions) => ChildAgent;
  readonly #depth: number;
  readonly #scores: KnownScores = new Map();

  /** `create`: makes the agent of a sub-agent. */
  constructor(parent: DelegatingAgent, create: (options: AIAgentOptions) => ChildAgent) {
    const { delegation: settings = {}, inherited } = parent.setup.options;
    this.#parent = parent;
    this.#create = create;
    this.#depth = (inherited?.depth ?? 0) + 1;
    this.delegation =
      inherited?.delegation ??
      new Delegation({
        maxConcurrent: settings.maxConcurrentChildren ?? sectionDefault("delegation").maxConcurrentChildren,
        compileSchema: async (schema) => (await import("../tools/argument-check.ts")).argumentCheck(schema, SCHEMA_MS),
        now: () => parent.setup.clock.now(),
      });
  }

  /** Runs the tasks of the call `callId` of the parent. */
  async run(callId: string, asked: readonly TaskSpec[], signal: AbortSignal): Promise<Delegated> {
    const { notify, hooks, setup } = this.#parent;
    const cast = await castOf(asked, setup.agentPlaces, this.#available());
    if (!cast.ok) return cast;
    const { tasks } = cast;
    const { options } = setup;
    const { delegation: { childTimeoutSeconds } = {}, inherited } = options;
    const fullId = `${inherited?.callPrefix ?? ""}${callId}`;
    return this.delegation.run({
      callId: fullId,
      tasks: tasks.map((task) => ({ ...task, timeoutSeconds: task.timeoutSeconds ?? childTimeoutSeconds })),
      signal,
      problemOf: (task) => this.#problemOf(task),
      spawn: (task, ports) => this.#spawn(task, { callId, fullId, ports }),
      evaluate: this.#evaluate(callId, tasks),
      onProgress: (views) =>
        notify.toolProgress({ type: "activity", callId, activity: { type: "delegation", tasks: views } }),
      onEnd: (task, result) => hooks.observe("subagent_stop", { callId, extra: stopFacts(task, result) }),
      isNested: inherited !== undefined,
    });
  }

  get #checkpoints(): Checkpoints | undefined {
    return this.#parent.checkpoints ?? this.#parent.setup.options.inherited?.checkpoints;
  }

  /** Undefined when the results of these tasks are not evaluated. */
  #evaluate(callId: string, tasks: readonly TaskSpec[]): Evaluate | undefined {
    const { setup, session } = this.#parent;
    const isGraph = tasks.some(({ dependsOn }) => dependsOn.length > 0);
    if (!isEvaluated(setup.options.evaluation, isGraph)) return undefined;
    const ports: EvaluationPorts = {
      judge: (request, signal) => setup.auxiliary.judge(request, signal),
      lookup: { cwd: setup.cwd, exists: async (path) => (await setup.host.files.stat(path)) !== undefined },
      ask: recordedQuestions(setup.callbacks, callId, (given) => session.journal({ type: "answer", ...given })),
    };
    const evaluator = new Evaluator(ports, this.#scores);
    return evaluator.forTasks((verdict, child) => session.journal({ type: "evaluation", callId, child, ...verdict }));
  }

  /** Settles when the sub-agents of ended calls are closed. */
  async closed(): Promise<void> {
    if (this.#depth === 1) await this.delegation.closed();
  }

  #problemOf({ toolsets, model }: TaskSpec): string | undefined {
    const known = this.#available();
    const lacking = (toolsets ?? []).filter((name) => !WITHHELD.has(name) && !known.some((tool) => isIn(tool, name)));
    if (lacking.length > 0) {
      const sets = [...new Set(known.map(({ toolset }) => toolset))].join(", ");
      return `there is no toolset or tool ${lacking.join(", ")} to give to it; there are ${sets}.`;
    }
    try {
      if (model !== undefined) this.#parent.setup.resolve(this.#modelOf(model));
    } catch (error) {
      return `its model ${JSON.stringify(model)} cannot be used: ${messageOf(error)}`;
    }
    return undefined;
  }

  /** Tools of the parent that a sub-agent can have. */
  #available(): readonly Tool[] {
    const { setup } = this.#parent;
    const { options } = setup;
    const mayDelegate = this.#depth < (options.delegation?.maxDepth ?? sectionDefault("delegation").maxDepth);
    return setup.catalogue.callable.filter(({ name }) => !WITHHELD.has(name) && (mayDelegate || name !== DELEGATE));
  }

  #modelOf(name: string | undefined): ModelSettings {
    const { setup } = this.#parent;
    const inherited = settingsOf(setup.models.current);
    const configured = setup.options.delegation?.model;
    if (name === undefined) {
      const isNameAlone = configured?.provider === undefined && configured?.baseUrl === undefined;
      return isNameAlone && configured?.model !== undefined
        ? this.#modelOf(configured.model)
        : (configured ?? inherited);
    }
    const { apiMode: _, dialect: __, ...endpoint } = inherited;
    const choice = parseChoice(name);
    if (choice === undefined || choice.provider === inherited.provider) {
      return { ...endpoint, model: choice?.model ?? name };
    }
    return choice;
  }

  #spawn(task: TaskSpec, call: SpawnedCall): Promise<Child> {
    const { setup, sessionId } = this.#parent;
    const { options } = setup;
    const { delegation = {} } = options;
    const id = newSessionId(setup.clock.now());
    const record = new TaskRecord(setup.cwd);
    const journal = this.#journal(id, (entry) => {
      record.add(entry);
      call.ports.onChange();
    });
    const { goal, dependsOn } = task;
    this.#parent.session.journal({
      type: "delegation",
      callId: call.callId,
      task: task.id,
      goal,
      dependsOn,
      child: id,
    });
    const title = oneLine(goal, TITLE_CHARS);
    journal.append({ type: "title", title });
    const agent = this.#create({
      ...options,
      stored: undefined,
      ...this.#modelSettings(task),
      ...this.#shared(task, call, journal),
      sessionId: id,
      title,
      journal,
      memory: false,
      extensions: [inheritedFrom(setup)],
      sampling: setup.sampling,
      maxIterations: delegation.maxIterations ?? sectionDefault("delegation").maxIterations,
      parentBudget: delegation.shareBudget === true ? this.#parent.turns.budget : undefined,
    });
    const facts = { agent_type: task.agent, task_id: task.id, goal };
    const extra = { ...facts, child_session_id: id, parent_session_id: sessionId };
    this.#parent.hooks.observe("subagent_start", { callId: call.callId, extra });
    const logged = async (): Promise<void> => this.#checkpoints?.logged();
    return Promise.resolve(childOf(id, { agent, journal, record, logged }));
  }

  /** Replaces all model settings of the parent's options. */
  #modelSettings({ model }: TaskSpec): AIAgentOptions {
    const { provider, model: name, baseUrl, apiKey, apiMode, dialect, textCalls } = this.#modelOf(model);
    return { provider, model: name, baseUrl, apiKey, apiMode, dialect, textCalls } as AIAgentOptions; // resolving checks the mode
  }

  #shared(task: TaskSpec, { callId, fullId, ports }: SpawnedCall, journal: Journal): Partial<AIAgentOptions> {
    const { setup } = this.#parent;
    const { options } = setup;
    const ownership: Ownership = { owners: this.delegation.owners, task: { callId: fullId, taskId: task.id } };
    const roots = [setup.cwd, ...(options.otherFolders ?? [])];
    const outer = options.inherited?.unowned ?? setup;
    const { language } = outer.host.terminals;
    const onFileChange = (change: FileChange): void => {
      journal.append({ type: "file-change", ...change, position: 0 });
      options.inherited?.onFileChange(change);
    };
    const logged = this.#checkpoints?.hostFor(`${fullId}/${task.id}`, {
      onChange: onFileChange,
      owns: (path) => ownership.owners.isOwner(resolvePath(path), ownership.task),
    });
    const { policy } = outer;
    const unowned = { host: logged ?? outer.host, policy };
    const asked = task.toolsets;
    const tools = this.#available().filter((tool) => asked === undefined || asked.some((name) => isIn(tool, name)));
    return {
      host: ownedHost(unowned.host, ownership),
      hooks: setup.hooks,
      callbacks: this.#callbacks(task, { callId, fullId, ports }),
      inherited: {
        policy: {
          ...policy,
          decide: ownedDecide((effect) => policy.decide(effect), ownership, {
            hermesHome: setup.home,
            roots,
            language,
          }),
        },
        unowned,
        grants: setup.grants,
        surroundings: setup.surroundings,
        skills: setup.skills,
        toolNames: new Set(tools.map(({ name }) => name)),
        delegation: this.delegation,
        checkpoints: this.#checkpoints,
        onFileChange,
        depth: this.#depth,
        callPrefix: `${fullId}/${task.id}/`,
        addUsage: (usage, model) => addUsage(setup, usage, model),
      },
    };
  }

  #callbacks({ id, goal, model }: TaskSpec, { callId, ports }: SpawnedCall): AgentCallbacks {
    const { notify, setup } = this.#parent;
    const used = setup.resolve(this.#modelOf(model)); // its price counts
    const { approval, password } = setup.callbacks;
    const prefix = `${callId}/${id}/`;
    return {
      toolProgress: (event) => {
        if (event.type === "started") ports.onStep(event.title);
        notify.toolProgress(nested(event, { prefix, callId, taskId: id }));
      },
      step: ({ usage }) => usage && addUsage(setup, usage, used),
      status: ({ severity, message, wait }) => {
        if (wait !== undefined) ports.onStep(message);
        else if (severity !== "info") notify.status({ severity, message: `Task ${id}: ${message}` });
      },
      ...(password && { password }),
      ...(approval && {
        approval: async (request, signal) => {
          ports.onWaiting(true);
          try {
            const asked = {
              ...request,
              callId: prefix + request.callId,
              task: request.task ?? oneLine(goal, TITLE_CHARS),
            };
            return await approval.call(setup.callbacks, asked, signal);
          } finally {
            ports.onWaiting(false);
          }
        },
      }),
    };
  }

  /** A session without a journal keeps those of its sub-agents with its tools' files. */
  #journal(id: string, onEntry: (entry: JournalEntry) => void): Journal {
    const { setup, sessionId, notify } = this.#parent;
    const { otherFolders: folders = [], journal } = setup.options;
    const stored = journal && journalPath(sessionsFolder(setup.home), id);
    return new Journal({
      path: stored ?? join(setup.spillFolder(sessionId), `${id}.jsonl`),
      sessionId: id,
      cwd: setup.cwd,
      folders,
      origin: "delegation",
      parent: sessionId,
      onEntry,
      now: () => setup.clock.now(),
      onFailure: (message) => notify.status({ severity: "error", message }),
    });
  }
}

/** The tasks with the roles, tools and models of their custom agents. */
async function castOf(
  tasks: readonly TaskSpec[],
  places: AgentPlaces | undefined,
  tools: readonly Tool[],
): Promise<Cast<TaskSpec>> {
  if (tasks.every(({ agent }) => agent === undefined)) return { ok: true, tasks };
  return (await import("../skills/custom-agents.ts")).castTasks(tasks, places, tools);
}

/** Tools and shared prompt parts of the parent's extensions. A nested sub-agent passes them on. */
function inheritedFrom({ extensions }: AgentSetup): Extension {
  return {
    name: "inherited",
    inheritsPrompt: true,
    tools: () => extensions.tools(),
    promptText: () => extensions.inheritedText(),
  };
}

type SpawnedCall = {
  /** Id in the parent's conversation. */
  readonly callId: string;
  readonly fullId: string;
  readonly ports: ChildPorts;
};

function addUsage({ ledger, options }: AgentSetup, usage: Usage, model: ResolvedModel): void {
  ledger.addAuxiliary(usage, model);
  options.inherited?.addUsage(usage, model);
}

function isIn(tool: Tool, name: string): boolean {
  return tool.name === name || isToolsetOn(tool, { enabled: [name] });
}

function stopFacts({ goal, agent }: TaskSpec, { id, status, summary, session, duration }: TaskResult) {
  const ended = { child_status: status, child_summary: summary, duration_ms: Math.round(duration * 1_000) };
  return { agent_type: agent, task_id: id, goal, child_session_id: session, ...ended };
}

type CardPlace = { readonly prefix: string; readonly callId: string; readonly taskId: string };

/** The event of a sub-agent's call, below the card of the delegation. */
function nested(event: ToolProgressEvent, { prefix, callId, taskId }: CardPlace): ToolProgressEvent {
  const moved = { ...event, callId: prefix + event.callId };
  if (moved.type !== "started") return moved;
  const inner = moved.parentCallId;
  return inner === undefined ? { ...moved, parentCallId: callId, taskId } : { ...moved, parentCallId: prefix + inner };
}

/** Length of a session's title, or of a task in a request to the user. Characters. */
const TITLE_CHARS = 80;

type ChildParts = {
  readonly agent: ChildAgent;
  readonly journal: Journal;
  readonly record: TaskRecord;
  /** Settles when the changes of its ended commands are in its journal. */
  readonly logged: () => Promise<void>;
};

function childOf(sessionId: string, { agent, journal, record, logged }: ChildParts): Child {
  return {
    sessionId,
    async run(userMessage, signal) {
      const run = { userMessage, systemMessage: SUB_AGENT_ROLE, signal };
      const { stopReason, finalResponse, fault } = await agent.turns.run(run);
      await logged();
      return { stopReason, text: finalResponse, ...(fault && { error: fault.message }) };
    },
    steer: (text) => agent.turns.steer(text),
    facts() {
      const { inputTokens, outputTokens } = agent.setup.ledger.sum;
      return { ...record.facts, usage: { inputTokens, outputTokens } };
    },
    async close() {
      const states = await Promise.all(
        agent.shell.processes.list().map(async (one) => ({ one, state: await one.state() })),
      );
      const running = states.filter(({ state }) => state.kind !== "ended").map(({ one }) => one.command);
      await agent.shell.processes.dispose();
      await agent.close();
      await logged();
      journal.close();
      return running;
    },
  };
}
