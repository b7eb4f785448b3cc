/**
 * Settings of config.yaml, each written once: name (of the original Hermes Agent), type, default, meaning and example.
 * docs/config.md and config.schema.json come from this table (`npm run tables`).
 */
import * as z from "zod";
import { attempt } from "../platform/errors.ts";
import { auxiliary, fallbackProviders, modelSection, names, providers, seconds, text } from "./model-sections.ts";
import { type CamelCased, group, setting } from "./setting.ts";
import { terminalSection } from "./terminal-section.ts";

/** Iterations of one turn; long tasks need dozens, and a runaway turn must end. */
const DEFAULT_MAX_TURNS = 90;

/** Newest messages that a compression keeps, as in the original. */
const DEFAULT_PROTECTED = 20;

/** Longest timeout of a plugin's hook, as in the original. Seconds. */
const MAX_HOOK_SECONDS = 600;

const count = z.number().int().nonnegative();
const positive = z.number().int().positive();
const share = z.number().min(0.05).max(1);

/** Truth value; `on` and `off` are texts in YAML 1.2. */
const onOff = z.union([z.boolean(), z.enum(["on", "off"]).transform((word) => word === "on")]);

/** Text of a setting that YAML may read as a number or a truth value. */
const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** An MCP server: a program (`command`) or an address (`url`). Its names are those of `.mcp.json` of other agents. */
export const mcpServerSection = z.object({
  transport: setting("`sse`: a `url` without streamable HTTP.", z.string().optional()),
  type: setting("The same as `transport`, as other files name it.", z.string().optional()),
  command: setting("Program of a local server.", text.optional(), "npx"),
  args: setting("Arguments of the program.", z.array(scalar).default([]), [
    "-y",
    "@modelcontextprotocol/server-everything",
  ]),
  env: setting("Variables of the program.", z.record(z.string(), scalar).default({})),
  cwd: setting("Folder of the program. Default: the session's.", text.optional()),
  url: setting("Address of a server elsewhere.", text.optional()),
  headers: setting("Headers of each request to it.", z.record(z.string(), scalar).default({})),
  auth: setting("`oauth`: sign in by browser.", z.enum(["oauth"]).optional()),
  oauth: setting(
    "For an issuer that does not register programs by itself.",
    z
      .object({
        client_id: setting("Id of this program at the issuer.", text.optional()),
        client_secret: setting("Its secret.", text.optional()),
        scope: setting("Scopes to ask for.", text.optional()),
        redirect_port: setting(
          "Port of this machine that the issuer redirects to; 0: any.",
          count.max(65_535).default(0),
        ),
      })
      .optional(),
  ),
  timeout: setting("Idle timeout of a call in seconds. Default: 120.", seconds.optional()),
  connect_timeout: setting("Seconds to connect. Default: 60.", seconds.optional()),
  tools: setting(
    "Tools of the server.",
    z
      .object({
        include: setting("Names of the only tools to offer; `*` matches any characters.", names.optional()),
        exclude: setting("Names of tools that are left out.", names.default([])),
        resources: setting("Offers tools for the server's resources.", z.boolean().default(true)),
        prompts: setting("Offers the server's prompts as commands.", z.boolean().default(true)),
      })
      .prefault({}),
  ),
  enabled: setting("`false` switches the server off.", z.boolean().default(true)),
});

export type McpServerSection = z.output<typeof mcpServerSection>;

/** Ids of people and chats, which YAML may read as numbers. */
const ids = z.union([z.array(scalar), scalar.transform((id) => [id])]);

const chatSettings = z.object({
  model: setting("Model of the chat.", text.optional()),
  provider: setting("Provider of that model.", text.optional()),
  system_prompt: setting("Text that is added to the system prompt.", text.optional()),
});

/** A chat platform of the gateway. Its names stay as in the file, because further settings are those of its adapter. */
const platformSection = z.looseObject({
  enabled: setting("`false` wins over a token. Default: on when there is a token.", z.boolean().optional()),
  token: setting("Token of the bot. Default: the platform's variable, such as `TELEGRAM_BOT_TOKEN`.", text.optional()),
  adapter: setting("Module of an adapter of yours; relative to `gateway/adapters` in the home.", text.optional()),
  allowed_users: setting("Ids of those who may write, beside `X_ALLOWED_USERS` and paired ones.", ids.optional(), [
    "123456",
  ]),
  allow_admin_from: setting("Ids of admins. Default: everyone who may write.", ids.optional()),
  user_allowed_commands: setting("Commands of those who are no admins. Default: all.", names.optional()),
  home_channel: setting("Chat for messages that name none.", scalar.optional(), "123456"),
  require_mention: setting(
    "`false`: in groups each message counts, not only those that name the bot.",
    z.boolean().default(true),
  ),
  channel_overrides: setting("Settings of single chats by their ids.", z.record(z.string(), chatSettings).optional(), {
    "123456": { model: "a-cheap-one" },
  }),
});

const resetSection = group({
  mode: setting("Event that ends a chat's session.", z.enum(["none", "idle", "daily", "both"]).default("none")),
  idle_minutes: setting("Minutes without a message.", z.number().positive().default(1_440)),
  at_hour: setting("Hour of the machine's time zone.", count.max(23).default(4)),
});

const displaySection = group({
  busy_input_mode: setting(
    "Use of a message that comes while a turn runs.",
    z.enum(["queue", "steer", "interrupt"]).default("queue"),
  ),
  tool_progress: setting(
    "Tool calls that chats show: none, the last one, all, or all with every part.",
    z.enum(["off", "new", "all", "verbose"]).default("all"),
  ),
  spinner: setting("Spinner of the terminal: with faces, or plain.", z.enum(["kawaii", "plain"]).default("kawaii")),
  theme: setting(
    "Colours of the terminal.",
    z.enum(["hermes", "ocean", "forest", "rose", "sky", "mono"]).default("hermes"),
  ),
});

const agentSection = group({
  max_turns: setting("Iterations of one turn.", positive.default(DEFAULT_MAX_TURNS)),
  disabled_toolsets: setting("Toolsets that are off.", names.default([]), ["browser", "code_execution"]),
  prefill_messages_file: setting(
    "JSON file with messages that precede every conversation; relative to the home.",
    text.optional(),
    "prefill.json",
  ),
  retry_seconds: setting(
    "Longest time without progress of a model call, with all retries, in seconds. Default: 300.",
    z.number().nonnegative().optional(),
  ),
  reasoning_effort: setting(
    "Reasoning effort of models that have one.",
    z.enum(["minimal", "low", "medium", "high"]).optional(),
  ),
  save_trajectories: setting(
    "Appends each turn's conversation to trajectory files in the session's folder.",
    onOff.default(false),
  ),
  append_only: setting(
    "Never changes or shortens what a model call has sent, for trainers that compare the requests of a session.",
    onOff.default(false),
  ),
  coding_context: setting(
    "`off` leaves the state of the workspace out of the prompt; the other values mean the same here.",
    z.enum(["auto", "focus", "on", "off"]).default("auto"),
  ),
});

const compressionSection = group({
  enabled: setting("`false`: compression only by hand, or after a refused request.", z.boolean().default(true)),
  threshold: setting("Share of the window at which a new turn compresses.", share.default(0.5)),
  soft_limit: setting("Share of the window from which the context counts as nearly full.", share.default(0.7)),
  hard_limit: setting("Share of the window that no request exceeds.", share.default(0.85)),
  target: setting("Share of the window after a compression. Default: 60% of the threshold.", share.optional()),
  protect_last_n: setting("Newest messages that stay.", count.default(DEFAULT_PROTECTED)),
  strategy: setting("Choice of what goes.", z.enum(["summary", "recency", "importance", "hybrid"]).default("summary")),
});

const pluginsSection = group({
  enabled: setting("Plugins that run.", names.default([]), ["my-plugin"]),
  disabled: setting("Plugins that are off even if `enabled` names them.", names.default([])),
  hook_callback_timeout: setting(
    "Timeout of plugins' hooks in seconds; 0 means the longest, 600. Default: 10.",
    z
      .number()
      .nonnegative()
      .transform((given) => (given === 0 ? MAX_HOOK_SECONDS : Math.min(given, MAX_HOOK_SECONDS)))
      .optional(),
  ),
  entries: setting(
    "Settings of each plugin, which it gets as `ctx.config`.",
    z.record(z.string(), z.unknown()).default({}),
  ),
});

const memorySection = group({
  memory_enabled: setting("`false`: no memory across sessions.", z.boolean().default(true)),
  memory_char_limit: setting("Limit of MEMORY.md in characters; every prompt has it.", positive.default(2_200)),
  user_char_limit: setting("Limit of USER.md in characters; every prompt has it.", positive.default(1_375)),
  nudge_interval: setting("User messages between two background reviews; 0: none.", count.default(10)),
});

const learningSection = group({
  enabled: setting("`off`: nothing is learnt, and nothing that was learnt reaches a prompt.", onOff.default(true)),
  consolidation: setting("Facts, preferences and episodes from ended sessions.", onOff.default(true)),
  distillation: setting("Skills from repeated tasks, daily. It needs `consolidation`.", onOff.default(true)),
  report: setting("Report on the agent's work, daily.", onOff.default(true)),
  use: setting("`off`: the loops write, and nothing that was learnt reaches a prompt.", onOff.default(true)),
  daily_tokens: setting("Limit of the tokens that learning uses in a day.", count.default(200_000)),
  daily_usd: setting("Limit of the US dollars that learning costs in a day.", z.number().nonnegative().default(0.5)),
  idle_seconds: setting(
    "Work begins when no turn has run for this long, in seconds.",
    z.number().nonnegative().default(60),
  ),
  session_idle_minutes: setting(
    "A session without activity for this long counts as ended, in minutes.",
    z.number().nonnegative().default(10),
  ),
});

const cronSection = group({
  enabled: setting("`off`: no planned job runs.", onOff.default(true)),
  timezone: setting(
    "IANA name of the time zone. Default: the machine's.",
    text.refine(isTimeZone, "expected an IANA time zone, such as Europe/Berlin").optional(),
    "Europe/Berlin",
  ),
  run_missed: setting(
    "`once`: a job whose time passed while nothing ran runs once, late.",
    z.enum(["once", "skip"]).default("once"),
  ),
});

const skillsSection = group({
  external_dirs: setting("Folders of skills besides the known ones.", z.array(text).default([]), ["~/team/skills"]),
  disabled: setting("Names of skills that are off.", z.array(text).default([])),
  write_approval: setting(
    "`on` or `ask`: a skill that was learnt, and each change of one, waits for your consent.",
    z.preprocess((value) => (value === "ask" ? true : value), onOff.default(false)),
  ),
  hub_sources: setting("Sources that `skills search` looks through.", z.array(text).optional(), ["anthropics/skills"]),
});

const browserSection = group({
  executable: setting("Path or name of Chrome, Chromium or Edge. Default: the installed one.", text.optional()),
  headless: setting("`false` shows the window.", z.boolean().default(true)),
  allow_private_urls: setting(
    "Opens pages of this machine and of private networks. Default: `web.allow_private_urls`.",
    z.boolean().optional(),
  ),
  inactivity_timeout: setting("Seconds until an unused browser ends.", seconds.default(600)),
});

const networkSection = group({
  proxy: setting(
    "`http(s)://user:password@host:port`, or `off` for direct connections. Default: `HTTPS_PROXY` and `HTTP_PROXY`.",
    text.optional(),
    "http://proxy.example:3128",
  ),
  no_proxy: setting(
    "Hosts without proxy. Default: `NO_PROXY`.",
    z.union([text, z.array(text).transform((hosts) => hosts.join(","))]).optional(),
    ["localhost", ".example.com"],
  ),
  ca_file: setting("PEM file of further certificate authorities.", text.optional()),
  strict_ssl: setting("`false` accepts every certificate.", z.boolean().default(true)),
});

const delegationSection = group({
  model: setting("Model of sub-agents. Default: the conversation's.", text.optional()),
  provider: setting("Provider of that model.", text.optional()),
  base_url: setting("Address of its endpoint.", text.optional()),
  api_key: setting("Key of its endpoint.", text.optional()),
  max_iterations: setting("Iterations of a sub-agent.", positive.default(50)),
  max_concurrent_children: setting(
    "Maximum number of sub-agents of a session that work at the same time.",
    positive.max(16).default(3),
  ),
  max_depth: setting("2: sub-agents may delegate, too.", z.number().int().min(1).max(2).default(1)),
  share_budget: setting(
    "Counts iterations of sub-agents against the turn that started them.",
    z.boolean().default(false),
  ),
  child_timeout_seconds: setting(
    "Timeout of a task whose call has none, in seconds. Default: none.",
    seconds.optional(),
  ),
});

const webSection = group({
  backend: setting(
    "Search service. Default: the first one whose environment variable is set.",
    text.optional(),
    "duckduckgo-html",
  ),
  search_backend: setting("The same for searches alone, as the original names it.", text.optional()),
  base_url: setting("Address of the service in place of its public one.", text.optional()),
  allow_private_urls: setting("Reads pages of this machine and of private networks too.", z.boolean().default(false)),
});

export const sections = {
  _config_version: setting("Version of the file's format in the original Hermes Agent.", count.optional()),
  model: setting("Model of the conversation; its name alone, or a group.", modelSection),
  providers: setting("Endpoints of yours, and settings of known providers, by name.", providers),
  fallback_providers: setting("Models that follow when the conversation's fails, in order.", fallbackProviders),
  auxiliary: setting("Models of tasks outside the conversation. Default: the conversation's.", auxiliary),
  agent: setting("Turns of the agent.", agentSection.prefault({})),
  prefill_messages_file: setting("The same as `agent.prefill_messages_file`, as newer files have it.", text.optional()),
  approvals: setting(
    "Permissions.",
    group({
      mode: setting(
        "`smart`: a model may allow harmless commands; `off`: nothing asks, and blocked commands stay blocked.",
        z.enum(["manual", "smart", "off"]).default("manual"),
      ),
      allow: setting(
        "What runs without a question, one row each: a command, with a star for further words, and the place. `/grants` lists them.",
        names.default([]),
        ["npm run build * in ~/project"],
      ),
    }).prefault({}),
  ),
  terminal: setting("Place and limits of commands.", terminalSection),
  toolsets: setting("The only toolsets to offer. Default: all.", names.optional(), ["file", "terminal"]),
  platform_toolsets: setting(
    "The same for one kind of client: `acp` or `cli`.",
    z.record(z.string(), names).default({}),
    {
      cli: ["file"],
    },
  ),
  context: setting(
    "Engine that keeps the conversation within the model's window.",
    group({
      engine: setting(
        "`default`, `none` or the name of a plugin's; `compressor` is the original's name for `default`.",
        text.default("default"),
      ),
    }).prefault({}),
  ),
  compression: setting("Limits of the conversation, as shares of the model's window.", compressionSection.prefault({})),
  memory: setting("Memory across sessions.", memorySection.prefault({})),
  learning: setting("Learning from earlier sessions, in the background.", learningSection.prefault({})),
  skills: setting("Skills.", skillsSection.prefault({})),
  delegation: setting("Sub-agents of `delegate_task`.", delegationSection.prefault({})),
  evaluation: setting(
    "Evaluation of delegated tasks.",
    group({
      enabled: setting("Evaluates all tasks, or none. Default: those of graphs.", z.boolean().optional()),
    }).prefault({}),
  ),
  code_execution: setting(
    "Scripts of `execute_code`.",
    group({
      timeout: setting("Timeout of a script in seconds.", seconds.default(300)),
      max_tool_calls: setting("Maximum number of tool calls in a script.", positive.default(50)),
    }).prefault({}),
  ),
  web: setting("Tools that read the web.", webSection.prefault({})),
  browser: setting("The browser tools.", browserSection.prefault({})),
  network: setting(
    "Way to the models, for terminals and other editors; in VS Code its settings `http.*` override it.",
    networkSection.prefault({}),
  ),
  mcp_servers: setting("MCP servers by name.", z.record(z.string(), mcpServerSection).default({})),
  plugins: setting("Plugins of the home.", pluginsSection.prefault({})),
  // hooks/home-hooks.ts reads the entries one by one, so that a wrong one does not affect the others.
  hooks: setting("Hooks by event; see docs/hooks.md.", z.record(z.string(), z.unknown()).default({})),
  hooks_auto_accept: setting("Runs hooks of this file without a consent.", z.boolean().default(false)),
  platforms: setting(
    "Chat platforms by name: telegram, discord, slack, whatsapp, or one with an adapter of yours.",
    z.record(z.string(), platformSection).default({}),
  ),
  gateway: setting(
    "The gateway to chats.",
    group({
      folder: setting("Folder that chats work in, absolute. `hermes gateway setup` names it.", text.optional()),
      group_sessions_per_user: setting("In groups each person has a session.", z.boolean().default(true)),
    }).prefault({}),
  ),
  worktree: setting(
    "Starts each new session of VS Code and of a terminal in a git worktree of its own.",
    z.boolean().default(false),
  ),
  worktrees: setting(
    "New worktrees of sessions.",
    group({
      copy: setting("Files that git ignores, as globs from the top of the repository.", names.default([]), [".env*"]),
      setup: setting("Commands to run in it. One that fails ends them.", names.default([]), ["npm ci"]),
    }).prefault({}),
  ),
  session_reset: setting("Time at which a chat's session ends by itself.", resetSection.prefault({})),
  display: setting("Messages and tool calls in chats and in the terminal.", displaySection.prefault({})),
  cron: setting("Jobs that run at planned times.", cronSection.prefault({})),
};

function isTimeZone(name: string): boolean {
  return attempt(() => new Intl.DateTimeFormat("en", { timeZone: name })) !== undefined;
}

export type SectionName = keyof typeof sections;

/** The configuration as the code has it: every section, in camelCase. */
export type Config = CamelCased<{ readonly [Name in SectionName]: z.output<(typeof sections)[Name]> }>;
