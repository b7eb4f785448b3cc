/** Options of an agent. All are optional: the defaults make an offline agent on this machine. */
import type { ApprovalMode } from "../approval/decision.ts";
import type { ClientRows, Grants } from "../approval/grants.ts";
import type { BrowserSettings } from "../browser/find-browser.ts";
import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import type { Environment } from "../config/home.ts";
import type { Config } from "../config/sections.ts";
import type { ContextEngine } from "../context/context-engine.ts";
import type { CronAccess } from "../cron/cron-requests.ts";
import type { ScriptLimits } from "../execute-code/script.ts";
import type { Hook } from "../hooks/hook.ts";
import type { Host } from "../host/host.ts";
import type { Memory } from "../memory/memory.ts";
import type { Message } from "../messages/message.ts";
import type { Delegation } from "../orchestration/delegation.ts";
import type { Clock } from "../platform/clock.ts";
import type { EditorFiles, Surroundings } from "../prompt/surroundings.ts";
import type { ModelFacts } from "../providers/model-info.ts";
import type { ModelSettings, ResolvedModel } from "../providers/resolve-model.ts";
import type { ApiMode, EditorModels, Sampling, Usage } from "../providers/wire/wire.ts";
import type { FileChange } from "../sessions/entry.ts";
import type { SessionIndex } from "../sessions/index/session-index.ts";
import type { Journal } from "../sessions/journal.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import type { SessionSkills } from "../skills/session-skills.ts";
import type { SkillLibraryOptions } from "../skills/skill-library.ts";
import type { WebAccess } from "../web/web-access.ts";
import type { Policy } from "./approvals.ts";
import type { AuxiliaryOptions } from "./auxiliary-models.ts";
import type { AgentCallbacks } from "./callbacks.ts";
import type { Extension } from "./extensions.ts";
import type { IterationBudget } from "./iteration-budget.ts";

/** Settings of sub-agents. `model`: default the conversation's. */
export type DelegationSettings = Partial<Omit<Config["delegation"], "model">> & {
  readonly model?: ModelSettings | undefined;
};

/** Parts of an agent that its sub-agents share. */
export type InheritedParts = {
  readonly policy: Policy;
  /** Host and policy that know nothing of the files of its task, for its own sub-agents. */
  readonly unowned: { readonly host: Host; readonly policy: Policy };
  readonly grants: Grants;
  readonly surroundings: Surroundings | undefined;
  readonly skills: SessionSkills | undefined;
  /** Tools that it may have, by name. */
  readonly toolNames: ReadonlySet<string>;
  /** Delegation of the session, for a sub-agent that may delegate. */
  readonly delegation: Delegation | undefined;
  /** Log of the session's file changes. */
  readonly checkpoints: Checkpoints | undefined;
  /** Records a change by one of its own sub-agents. */
  readonly onFileChange: (change: FileChange) => void;
  /** Its distance from the session's own agent. */
  readonly depth: number;
  /** Start of the ids of its calls on the cards of the session. */
  readonly callPrefix: string;
  /** Adds a model call of one of its own sub-agents. */
  addUsage(usage: Usage, model: ResolvedModel): void;
};

export type SkillSettings = Pick<
  SkillLibraryOptions,
  "externalFolders" | "disabled" | "hubSources" | "reservedNames" | "useLearnt"
>;

/** Model settings: default from the environment, else the built-in offline model. */
export type AIAgentOptions = ModelSettings & {
  readonly apiMode?: ApiMode | undefined;
  /** Default 90. */
  readonly maxIterations?: number | undefined;
  /** Timeout of a command in seconds when its call gives none. Default 180. */
  readonly commandSeconds?: number | undefined;
  /** Limits of the scripts of `execute_code`. Default: 300 seconds, 50 tool calls. */
  readonly scriptLimits?: ScriptLimits | undefined;
  /** Default: public pages, and no search. */
  readonly web?: Pick<WebAccess, "allowsPrivate" | "search"> | undefined;
  /** Budget of the turn that started this agent, if iterations count there too. Default: none. */
  readonly parentBudget?: IterationBudget | undefined;
  readonly delegation?: DelegationSettings | undefined;
  /** True evaluates the results of all delegated tasks, false of none. Default: those of graphs. */
  readonly evaluation?: boolean | undefined;
  /** For a sub-agent. Default: nothing is shared. */
  readonly inherited?: InheritedParts | undefined;
  /** Default: all toolsets. */
  readonly enabledToolsets?: readonly string[] | undefined;
  readonly disabledToolsets?: readonly string[] | undefined;
  /** Default: this machine (NodeHost). */
  readonly host?: Host | undefined;
  /** Default `HERMES_HOME`, else `~/.hermes`. */
  readonly home?: string | undefined;
  readonly callbacks?: AgentCallbacks | undefined;
  readonly sampling?: Sampling | undefined;
  /** Messages that precede the conversation in every request. They are never stored. Default: none. */
  readonly prefillMessages?: readonly Message[] | undefined;
  /** Models to fall back to, in order. Default: none. */
  readonly fallbacks?: readonly ModelSettings[] | undefined;
  /** Models of auxiliary tasks. Default: the conversation's model. */
  readonly auxiliary?: AuxiliaryOptions["tasks"] | undefined;
  /** Title of a new session. Default: the model or the first words give one. */
  readonly title?: string | undefined;
  /** Reads the environment again after a refused key. Default: it never changes. */
  readonly refreshEnvironment?: (() => Promise<Environment>) | undefined;
  /** Idle timeout of a model's stream by provider, in milliseconds. Default 60,000. */
  readonly silenceMs?: ((provider: string) => number | undefined) | undefined;
  /** Further fields in the body of a provider's chat completions requests. Default: none. */
  readonly extraBody?: ((provider: string) => Readonly<Record<string, unknown>> | undefined) | undefined;
  /** Longest time without progress of a model call, with all retries. Milliseconds; default: 5 minutes; 0: no retry. */
  readonly retryMs?: number | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
  /** The editor's models, for the mode `editor_model`. Default: none. */
  readonly editorModels?: EditorModels | undefined;
  /** Facts from the endpoints about their models. Default: facts by name. */
  readonly modelFacts?: ((model: ResolvedModel) => ModelFacts) | undefined;
  /** Gets a limit that a provider named in a refusal. Default: none. */
  readonly onModelLimit?: ((model: ResolvedModel, limit: ModelFacts) => void) | undefined;
  /** Working folder, absolute; default the process's. */
  readonly cwd?: string | undefined;
  /** Further workspace folders, absolute. */
  readonly otherFolders?: readonly string[] | undefined;
  /** Default the process's. */
  readonly environment?: Environment | undefined;
  /** Read before each call, so it may change during a turn. Default `code`. */
  readonly approvalMode?: (() => ApprovalMode) | undefined;
  /** `smart`: a model may allow harmless commands. `off`: nothing asks; blocked commands stay blocked. Default `manual`. */
  readonly approvals?: "manual" | "smart" | "off" | undefined;
  /** List of what is allowed in the settings of the client, besides that of config.yaml. Default: none. */
  readonly allowList?: ClientRows | undefined;
  /** False until the user trusts the workspace; until then the agent only reads. Default: always true. */
  readonly trusted?: (() => boolean) | undefined;
  /** Hooks of the session; those of a sub-agent are its parent's. Default: the hooks of `extensions`. */
  readonly hooks?: (() => readonly Hook[]) | undefined;
  /** False leaves the state of the workspace (git, layout, open files) out of the prompt. Default true. */
  readonly surroundings?: boolean | undefined;
  /** True leaves notes out that only one request would have. */
  readonly appendOnly?: boolean | undefined;
  /** False leaves the project's files of instructions out of the prompt. Default true. */
  readonly contextFiles?: boolean | undefined;
  /** Added to the system prompt of a new session. Default: none. */
  readonly systemMessage?: string | undefined;
  /** Files that the user has open in the editor. Default: none. */
  readonly editorFiles?: (() => Promise<EditorFiles>) | undefined;
  /** Name of the user's editor or program. */
  readonly platform?: string | undefined;
  /** Default: a new id. */
  readonly sessionId?: string | undefined;
  /** Storage of the conversation. Default: none. */
  readonly journal?: Journal | undefined;
  /** Index for the tool `session_search`. Default: none, and no such tool. */
  readonly sessionIndex?: SessionIndex | undefined;
  /** Planned jobs, for the tool `cronjob`. Default: none, and no such tool. */
  readonly cron?: CronAccess | undefined;
  /** Session that the agent resumes, as `journal` already has it. Default: a new one. */
  readonly stored?: StoredSession | undefined;
  /** Memory across sessions; false: none. Default: the folder `memories` of the home. */
  readonly memory?: Memory | false | undefined;
  /** True for a client that reports no verdicts on edits: they are inferred from the files at the next turn. */
  readonly infersVerdicts?: boolean | undefined;
  /** The conversation's model writes the title after the first turn. Default: a title is the first words. */
  readonly titlesByModel?: boolean | undefined;
  /** User messages between two background reviews of the memory; 0: none. Default 0. */
  readonly memoryReviewTurns?: number | undefined;
  /** Skills; false: none. Default: those of the home, of a trusted workspace and of the package. */
  readonly skills?: SkillSettings | false | undefined;
  /** Browser of the browser tools. Default: the user's, without a window. */
  readonly browser?: BrowserSettings | undefined;
  /** Decides when and how to compress the conversation. Default: the built-in engine. */
  readonly contextEngine?: ContextEngine | undefined;
  /** Abilities beyond the built-in ones. The agent disposes of them when it closes. Default: none. */
  readonly extensions?: readonly Extension[] | undefined;
  /** Longest wait of the first turn for them. Milliseconds; default: 1,500. */
  readonly extensionsMs?: number | undefined;
  /** True writes each event but deltas to the log (`onDefect`). Default false. */
  readonly verboseLogging?: boolean | undefined;
  /** True emits warnings and errors alone as `status`. Default false. */
  readonly quietMode?: boolean | undefined;
  /** Receives a line for the log about each defect that was handled. */
  readonly onDefect?: ((message: string) => void) | undefined;
};
