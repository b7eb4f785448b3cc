/** Schemas of the sections of config.yaml, with the names of the original Hermes Agent. */
import * as z from "zod";
import { TASK_TYPES } from "../messages/task-type.ts";
import { terminalSection, UNUSABLE_TERMINAL } from "./terminal-section.ts";

/** Iterations of one turn; long tasks need dozens, and a runaway turn must end. */
const DEFAULT_MAX_TURNS = 90;

/** Newest messages that a compression keeps, as in the original. */
const DEFAULT_PROTECTED = 20;

const seconds = z.number().positive();
const text = z.string().min(1);
const share = z.number().min(0.05).max(1);

/** Truth value; `on` and `off` are texts in YAML 1.2. */
const onOff = z.union([z.boolean(), z.enum(["on", "off"]).transform((word) => word === "on")]);

/** A single name stands for a list with that name. */
const names = z.union([z.array(text), text.transform((name) => [name])]);

/** Settings of the conversation's model. The section may also be the model's name alone. */
const modelSection = z.object({
  /** The provider's name of the model. */
  default: z.string().optional(),
  name: z.string().optional(),
  provider: z.string().optional(),
  base_url: z.string().optional(),
  api_mode: z.string().optional(),
  dialect: z.string().optional(),
  api_key: z.string().optional(),
  /** Tokens of the model's context, for an endpoint that does not list them. */
  context_length: z.number().int().min(1_024).optional(),
  /** True for a model that accepts pictures. */
  supports_vision: z.boolean().optional(),
  /** Sampling options; each wire sends those that its API has. */
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().positive().max(1).optional(),
  /** Maximum number of output tokens of an answer. */
  max_tokens: z.number().int().positive().optional(),
  /** Texts that end an answer. */
  stop: names.optional(),
});

/** Endpoint of the user, or settings of a known provider. */
const providerSection = z.object({
  base_url: text.optional(),
  api_key: text.optional(),
  /** Name of the environment variable with the key. */
  key_env: text.optional(),
  api_mode: text.optional(),
  /** Service behind a proxy's address: `deepseek`, `kimi`, `gemini`, `cohere` or `mistral`. */
  dialect: text.optional(),
  /** `off`: tool calls and thoughts that a model writes as text stay text. */
  text_calls: z.enum(["on", "off"]).optional(),
  /** Idle timeout of a stream, before its first event too. Default: 120 and 300, on a private network 300 and 1,800. */
  stale_timeout_seconds: seconds.optional(),
  /** Further fields in the body of chat completions requests. */
  extra_body: z.record(z.string(), z.unknown()).optional(),
});

const modelEntry = z.object({
  provider: text.optional(),
  model: text.optional(),
  base_url: text.optional(),
  api_key: text.optional(),
  key_env: text.optional(),
  api_mode: text.optional(),
  dialect: text.optional(),
});

/** Model for a task outside the conversation: titles, compression, approvals. */
const auxiliarySection = modelEntry.extend({
  /** Timeout of the task; default 30. */
  timeout: seconds.optional(),
  fallback_chain: z.array(modelEntry).default([]),
});

/** Tasks that may have a model of their own (agent/auxiliary.ts). */
const auxiliaryTasks = {
  compression: auxiliarySection,
  title_generation: auxiliarySection,
  approval: auxiliarySection,
  flush_memories: auxiliarySection,
  background_review: auxiliarySection,
  mcp: auxiliarySection,
  evaluation: auxiliarySection,
  commit_message: auxiliarySection,
  web_extract: auxiliarySection,
  vision: auxiliarySection,
  consolidation: auxiliarySection,
  distillation: auxiliarySection,
};

export type AuxiliaryTask = keyof typeof auxiliaryTasks;

/** Text of a setting that YAML may read as a number or a truth value. */
const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
/** An MCP server: a program (`command`) or an address (`url`). */
export const mcpServerSection = z.object({
  /** `sse`: a `url` without streamable HTTP. Other files name it `type`. */
  transport: z.string().optional(),
  type: z.string().optional(),
  command: text.optional(),
  args: z.array(scalar).default([]),
  env: z.record(z.string(), scalar).default({}),
  /** Default: the session's folder. */
  cwd: text.optional(),
  url: text.optional(),
  headers: z.record(z.string(), scalar).default({}),
  auth: z.enum(["oauth"]).optional(),
  /** For an issuer that does not register programs by itself. */
  oauth: z
    .object({
      client_id: text.optional(),
      client_secret: text.optional(),
      scope: text.optional(),
      /** Port of this machine that the issuer redirects to; 0: any. */
      redirect_port: z.number().int().nonnegative().max(65_535).default(0),
    })
    .optional(),
  /** Idle timeout of a call; default 120. */
  timeout: seconds.optional(),
  /** Default 60. */
  connect_timeout: seconds.optional(),
  /** Names of tools; `*` matches any characters. */
  tools: z
    .object({
      include: names.optional(),
      exclude: names.default([]),
      resources: z.boolean().default(true),
      prompts: z.boolean().default(true),
    })
    .prefault({}),
  enabled: z.boolean().default(true),
});

export type McpServerSection = z.output<typeof mcpServerSection>;

/** Ids of people and chats, which YAML may read as numbers. */
const ids = z.union([z.array(scalar), scalar.transform((id) => [id])]);

/** A chat platform of the gateway. Further settings are those of its adapter. */
const platformSection = z.looseObject({
  /** False wins over a token. Default: on when there is a token. */
  enabled: z.boolean().optional(),
  /** Default: the platform's variable, such as TELEGRAM_BOT_TOKEN. */
  token: text.optional(),
  /** Module of an adapter of the user's own; relative to `gateway/adapters` in the home. */
  adapter: text.optional(),
  /** Ids of those who may write, beside X_ALLOWED_USERS and paired ones. */
  allowed_users: ids.optional(),
  /** Ids of admins. Default: everyone who may write. */
  allow_admin_from: ids.optional(),
  /** Commands of those who are no admins. Default: all. */
  user_allowed_commands: names.optional(),
  /** Chat for messages that name none. */
  home_channel: scalar.optional(),
  /** False: in groups each message counts, not only those that name the bot. */
  require_mention: z.boolean().default(true),
  /** Settings of single chats by their ids. */
  channel_overrides: z
    .record(z.string(), z.object({ model: text.optional(), provider: text.optional(), system_prompt: text.optional() }))
    .optional(),
});

/** Longest timeout of a plugin's hook, as in the original. */
const MAX_HOOK_SECONDS = 600;

export const sections = {
  /** Version of the file's format in the original Hermes Agent. */
  _config_version: z.number().int().nonnegative().optional(),
  model: z.preprocess((raw) => (typeof raw === "string" ? { name: raw } : raw), modelSection.optional()),
  agent: z
    .object({
      max_turns: z.number().int().positive().default(DEFAULT_MAX_TURNS),
      disabled_toolsets: names.default([]),
      /** JSON file with messages that precede every conversation; relative to the home. */
      prefill_messages_file: text.optional(),
      /** Longest time without progress of a model call, with all retries; default 300. */
      retry_seconds: z.number().nonnegative().optional(),
      reasoning_effort: z.enum(["minimal", "low", "medium", "high"]).optional(),
      /** `off` leaves the state of the workspace out of the prompt; the other values of the original mean the same here. */
      coding_context: z.enum(["auto", "focus", "on", "off"]).default("auto"),
    })
    .prefault({}),
  /** Place of `agent.prefill_messages_file` in newer files of the original. */
  prefill_messages_file: text.optional(),
  /**
   * Engine that keeps the conversation within its window: `default`, `none` or that of a plugin. `compressor` is the
   * original's name for `default`.
   */
  context: z.object({ engine: text.default("default") }).prefault({}),
  /** Limits are shares of the model's window (context/context-engine.ts). */
  compression: z
    .object({
      enabled: z.boolean().default(true),
      threshold: share.default(0.5),
      soft_limit: share.default(0.7),
      hard_limit: share.default(0.85),
      /** Default: 60 % of the threshold. */
      target: share.optional(),
      /** Newest messages that stay. */
      protect_last_n: z.number().int().nonnegative().default(DEFAULT_PROTECTED),
      strategy: z.enum(["summary", "recency", "importance", "hybrid"]).default("summary"),
      /** Limits by type of task, which the first message of a session decides (messages/task-type.ts). */
      by_task: z
        .partialRecord(
          z.enum(TASK_TYPES),
          z.object({ threshold: share.exactOptional(), hard_limit: share.exactOptional() }),
        )
        .optional(),
    })
    .prefault({}),
  /** Plugins of the home by name; one in `disabled` is off even if `enabled` names it. */
  plugins: z
    .object({
      enabled: names.default([]),
      disabled: names.default([]),
      /** Timeout of plugins' hooks in seconds; default 10. The original's 0 means no timeout; the longest is 600 here. */
      hook_callback_timeout: z
        .number()
        .nonnegative()
        .transform((given) => (given === 0 ? MAX_HOOK_SECONDS : Math.min(given, MAX_HOOK_SECONDS)))
        .optional(),
      /** Settings of each plugin, which it gets as `ctx.config`. */
      entries: z.record(z.string(), z.unknown()).default({}),
    })
    .prefault({}),
  /** Memory across sessions; limits in characters. */
  memory: z
    .object({
      memory_enabled: z.boolean().default(true),
      /** Both together take about 800 tokens of every prompt. */
      memory_char_limit: z.number().int().positive().default(2_200),
      user_char_limit: z.number().int().positive().default(1_375),
      /** User messages between two background reviews; 0: none. */
      nudge_interval: z.number().int().nonnegative().default(10),
    })
    .prefault({}),
  /**
   * Learning from earlier sessions, in the background. Each loop has its switch; without `enabled` nothing is learnt, and
   * nothing that was learnt reaches a prompt.
   */
  learning: z
    .object({
      enabled: onOff.default(true),
      /** Facts, preferences and episodes from ended sessions. */
      consolidation: onOff.default(true),
      /** Skills from repeated tasks, daily. */
      distillation: onOff.default(true),
      /** Report on the agent's work, daily. */
      report: onOff.default(true),
      /** Off: the loops write, and nothing that was learnt reaches a prompt. */
      use: onOff.default(true),
      /** Limits of the daily cost of learning, in tokens and in US dollars. */
      daily_tokens: z.number().int().nonnegative().default(200_000),
      daily_usd: z.number().nonnegative().default(0.5),
      /** Work begins when no turn has run for this long. Seconds. */
      idle_seconds: z.number().nonnegative().default(60),
      /** A session without activity for this long counts as ended. Minutes. */
      session_idle_minutes: z.number().nonnegative().default(10),
    })
    .prefault({}),
  /** Jobs that run at planned times. */
  cron: z
    .object({
      enabled: onOff.default(true),
      /** IANA name; default: the machine's time zone. */
      timezone: text.refine(isTimeZone, "expected an IANA time zone, such as Europe/Berlin").optional(),
      /** `once`: a job whose time passed while nothing ran runs once, late. */
      run_missed: z.enum(["once", "skip"]).default("once"),
    })
    .prefault({}),
  /** Folders of skills besides the known ones, and names of skills that are off. */
  skills: z
    .object({
      external_dirs: z.array(text).default([]),
      disabled: z.array(text).default([]),
      /** On: a skill that was learnt, and each change of one, waits for the user's consent. */
      write_approval: z.preprocess((value) => (value === "ask" ? true : value), onOff.default(false)),
      /** Sources that `skills search` looks through. */
      hub_sources: z.array(text).optional(),
    })
    .prefault({}),
  /** The browser tools. */
  browser: z
    .object({
      /** Path or name of Chrome, Chromium or Edge. Default: the installed one. */
      executable: text.optional(),
      /** False shows the window. */
      headless: z.boolean().default(true),
      /** Default: `web.allow_private_urls`. */
      allow_private_urls: z.boolean().optional(),
      /** Seconds until an unused browser ends. */
      inactivity_timeout: seconds.default(600),
    })
    .prefault({}),
  approvals: z.object({ mode: z.enum(["manual", "smart", "off"]).default("manual") }).default({ mode: "manual" }),
  terminal: terminalSection,
  /** Way to the models, for terminals and foreign editors; in VS Code its settings `http.*` override it. */
  network: z
    .object({
      /** `http(s)://user:password@host:port`, or `off` for direct connections. Default: HTTPS_PROXY and HTTP_PROXY. */
      proxy: text.optional(),
      /** Hosts without proxy. Default: NO_PROXY. */
      no_proxy: z.union([text, z.array(text).transform((hosts) => hosts.join(","))]).optional(),
      /** PEM file of further certificate authorities. */
      ca_file: text.optional(),
      /** False accepts every certificate. */
      strict_ssl: z.boolean().default(true),
    })
    .prefault({}),
  /** Entries by event; hooks/home-hooks.ts reads them one by one, so that a wrong one does not affect the others. */
  hooks: z.record(z.string(), z.unknown()).default({}),
  /** True runs hooks of this file without a consent. */
  hooks_auto_accept: z.boolean().default(false),
  mcp_servers: z.record(z.string(), mcpServerSection).default({}),
  /** Evaluation of delegated tasks. Default: on for graphs, off for single tasks. */
  evaluation: z.object({ enabled: z.boolean().optional() }).prefault({}),
  /** Sub-agents of `delegate_task`. */
  delegation: z
    .object({
      /** Model of sub-agents; default: the conversation's. */
      model: text.optional(),
      provider: text.optional(),
      base_url: text.optional(),
      api_key: text.optional(),
      /** Iterations of a sub-agent. */
      max_iterations: z.number().int().positive().default(50),
      /** Maximum number of sub-agents of a session that work at the same time. */
      max_concurrent_children: z.number().int().positive().max(16).default(3),
      /** 2: sub-agents may delegate, too. */
      max_depth: z.number().int().min(1).max(2).default(1),
      /** True counts iterations of sub-agents against the turn that started them. */
      share_budget: z.boolean().default(false),
      /** Timeout of a task whose call has none; default: none. */
      child_timeout_seconds: seconds.optional(),
    })
    .prefault({}),
  /** Scripts of `execute_code`: seconds of a script, and calls of tools in it. */
  code_execution: z
    .object({ timeout: seconds.default(300), max_tool_calls: z.number().int().positive().default(50) })
    .prefault({}),
  /** Tools that read the web. */
  web: z
    .object({
      /** Search service; default: the first one whose environment variable is set. */
      backend: text.optional(),
      /** The same for searches alone, as the original names it. */
      search_backend: text.optional(),
      /** Address of the service in place of its public one. */
      base_url: text.optional(),
      /** True reads pages of this machine and of private networks too. */
      allow_private_urls: z.boolean().default(false),
    })
    .prefault({}),
  /** Chat platforms by name: telegram, discord, slack, whatsapp, or one with an adapter of the user's own. */
  platforms: z.record(z.string(), platformSection).default({}),
  gateway: z
    .object({
      /** Folder that chats work in, absolute. `hermes gateway setup` names it. */
      folder: text.optional(),
      /** In groups each person has a session. */
      group_sessions_per_user: z.boolean().default(true),
    })
    .prefault({}),
  /** Time at which a chat's session ends by itself. */
  session_reset: z
    .object({
      mode: z.enum(["none", "idle", "daily", "both"]).default("none"),
      idle_minutes: z.number().positive().default(1_440),
      /** Hour of the machine's time zone. */
      at_hour: z.number().int().min(0).max(23).default(4),
    })
    .prefault({}),
  display: z
    .object({
      /** Use of a message that comes while a turn runs. */
      busy_input_mode: z.enum(["queue", "steer", "interrupt"]).default("queue"),
      /** Tool calls that chats show: none, the last one, all, or all with every part. */
      tool_progress: z.enum(["off", "new", "all", "verbose"]).default("all"),
    })
    .prefault({}),
  toolsets: names.optional(),
  platform_toolsets: z.record(z.string(), names).default({}),
  providers: z.record(z.string(), providerSection).default({}),
  fallback_providers: z.array(modelEntry).default([]),
  auxiliary: z.object(auxiliaryTasks).partial().default({}),
};

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false; // a RangeError
  }
}

export type SectionName = keyof typeof sections;

export type Config = { readonly [Name in SectionName]: z.output<(typeof sections)[Name]> };

/** Model in `fallback_providers`, `auxiliary` and their chains. */
export type ModelEntry = z.output<typeof modelEntry>;

/** Replacements for invalid sections whose default would be wrong. */
export const fallbacks: { readonly [Name in SectionName]?: Config[Name] } = { terminal: UNUSABLE_TERMINAL };
