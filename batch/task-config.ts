/** Configuration of a task's own home: the user's, without memory and learning, with the settings of the run. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../agent-core/config/config.ts";
import { type Environment, homeFolder } from "../agent-core/config/home.ts";
import type { Task } from "./task.ts";

/** Sections of the user's config.yaml that tasks share. The others belong to a home that lasts. */
const SHARED = [
  "model",
  "providers",
  "fallback_providers",
  "auxiliary",
  "agent",
  "approvals",
  "terminal",
  "network",
  "web",
  "browser",
  "code_execution",
  "context",
  "compression",
  "delegation",
  "evaluation",
  "mcp_servers",
];

/** Efforts that have no name of their own in the configuration. OpenRouter reads them in the request. */
const BODY_EFFORTS = ["none", "off", "xhigh", "max", "ultra"];

/** Settings that the tasks of a process share, read once. */
export type TaskBase = {
  /** The user's home. */
  readonly home: string;
  readonly sections: Readonly<Record<string, unknown>>;
  /** Variables of the process and of the home's `.env`. It contains secrets. */
  readonly environment: Environment;
};

export async function readTaskBase(environment: Environment): Promise<TaskBase> {
  const home = homeFolder(environment);
  const loaded = await loadConfig(home, environment);
  const shared = Object.entries(loaded.raw).filter(([name]) => SHARED.includes(name));
  return { home, sections: Object.fromEntries(shared), environment: loaded.environment };
}

/** Name of the model that the base configures; undefined without one. */
export function configuredModel({ sections: { model }, environment }: TaskBase): string | undefined {
  const named = typeof model === "object" && model !== null ? Object.entries(model) : [["default", model]];
  const [, own] = named.find(([name]) => name === "default" || name === "name") ?? [];
  return environment["HERMES_MODEL"] || (typeof own === "string" && own !== "" ? own : undefined);
}

/** Writes the files of the home, and returns the agent's environment. */
export async function configureTask(home: string, task: Task, base: TaskBase): Promise<Environment> {
  const { settings } = task;
  // JSON is YAML.
  await writeFile(join(home, "config.yaml"), JSON.stringify(taskSections(task, base)), { mode: 0o600 });
  if (settings.prefill !== undefined) await writeFile(join(home, "prefill.json"), JSON.stringify(settings.prefill));
  return {
    ...base.environment,
    HERMES_HOME: home,
    HERMES_MAX_TURNS: undefined,
    HERMES_TOOLSETS: undefined,
    ...(settings.model !== undefined && { HERMES_MODEL: settings.model }),
    ...(settings.baseUrl !== undefined && { HERMES_BASE_URL: settings.baseUrl }),
  };
}

function taskSections({ settings, toolsets, image, cwd }: Task, { sections }: TaskBase): object {
  const agent = section(sections["agent"]);
  const model = typeof sections["model"] === "string" ? { default: sections["model"] } : section(sections["model"]);
  const { reasoning, maxTokens, maxTurns, prefill } = settings;
  const isNamed = reasoning !== undefined && !BODY_EFFORTS.includes(reasoning);
  const extra = extraBody(settings);
  return {
    ...sections,
    model: {
      ...(settings.appendOnly === true ? unsampled(model) : model),
      ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    },
    agent: {
      ...agent,
      max_turns: maxTurns,
      ...(isNamed && { reasoning_effort: reasoning }),
      ...(prefill !== undefined && { prefill_messages_file: "prefill.json" }),
      save_trajectories: false,
      ...(settings.appendOnly === true && { append_only: true }),
    },
    ...(settings.appendOnly === true && { compression: { enabled: false } }),
    ...(extra !== undefined && { providers: withBody(section(sections["providers"]), extra) }),
    ...(image !== undefined && {
      terminal: {
        ...section(sections["terminal"]),
        backend: "docker",
        docker_image: image,
        ...(cwd !== undefined && { cwd }),
      },
    }),
    toolsets: toolsets.includes("file") ? [...toolsets, "search"] : [...toolsets],
    memory: { memory_enabled: false, nudge_interval: 0 },
    learning: { enabled: false },
    cron: { enabled: false },
  };
}

/** A model section without sampling options. */
function unsampled({ temperature: _, top_p: __, ...model }: Readonly<Record<string, unknown>>): object {
  return model;
}

function extraBody({ reasoning = "", routing, tokens }: Task["settings"]): object | undefined {
  const isOff = reasoning === "none" || reasoning === "off";
  const effort = isOff ? { enabled: false } : { enabled: true, effort: reasoning };
  const body = {
    ...(BODY_EFFORTS.includes(reasoning) && { reasoning: effort }),
    ...(routing && { provider: routing }),
    ...(tokens === true && { return_token_ids: true, logprobs: true }),
  };
  return Object.keys(body).length > 0 ? body : undefined;
}

/** Providers that take fields of a run: all that the user names, and those that need no entry. */
function withBody(providers: Readonly<Record<string, unknown>>, body: object): object {
  const names = new Set([...Object.keys(providers), "openrouter", "custom", "openai"]);
  return Object.fromEntries(
    [...names].map((name) => {
      const own = section(providers[name]);
      return [name, { ...own, extra_body: { ...section(own["extra_body"]), ...body } }];
    }),
  );
}

function section(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
