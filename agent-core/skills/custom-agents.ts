/**
 * Custom agents: Markdown files with a role, its tools and its model, as Copilot, Claude Code and Hermes keep them. Sub-agents
 * take such a role with `delegate_task`, or when a message begins with `@name`.
 */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import * as z from "zod";
import { type FileLimits, readByItself } from "../approval/workspace-file.ts";
import { nameList, readFrontMatter } from "../config/front-matter.ts";
import { coversTool } from "../hooks/foreign-calls.ts";
import { messageOf } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import { pathBelow } from "../platform/paths.ts";
import { visibleText } from "../platform/visible-text.ts";
import type { HermesExtensionItem } from "../protocol/extensions.ts";
import { type AgentFolder, type AgentPlaces, agentFolders } from "./agent-places.ts";
import { shortened } from "./skill-index.ts";

const MAX_BYTES = 100_000;
const MAX_AGENTS = 1_000;
/** Length of all their descriptions in a prompt, which every request repeats. Characters. */
const MAX_INDEX_CHARS = 4_000;
/** Agents in that list. */
const MAX_SHOWN = 50;
/** Part of a description in the prompt and in lists. Characters. */
const DESCRIPTION_CHARS = 200;

/** Sets of tools in VS Code's files (code.visualstudio.com/docs/copilot/customization/custom-agents), as ours. */
const TOOL_SETS: Readonly<Record<string, readonly string[]>> = {
  search: ["search_files", "read_file"],
  codebase: ["search_files", "read_file"],
  read: ["read_file", "search_files"],
  edit: ["patch", "write_file"],
  execute: ["terminal", "process"],
  runcommands: ["terminal", "process"],
  web: ["web_extract", "web_search"],
  fetch: ["web_extract"],
  problems: ["problems"],
  usages: ["references"],
  todos: ["todo"],
};

/** Models of Claude Code's files that mean no model of this provider. */
const CLAUDE_MODELS: ReadonlySet<string> = new Set(["inherit", "sonnet", "opus", "haiku"]);

export type CustomAgent = {
  /** Lower case, with hyphens. */
  readonly name: string;
  /** One line. */
  readonly description: string;
  readonly instructions: string;
  /** Names as the file has them; undefined: all tools. */
  readonly tools: readonly string[] | undefined;
  /** Names of tools that it does not get. */
  readonly without: readonly string[];
  /** Default: the model of sub-agents. */
  readonly model: string | undefined;
  readonly path: string;
};

export type CustomAgents = { readonly agents: readonly CustomAgent[]; readonly problems: readonly string[] };

const factsSchema = z.looseObject({
  name: z.string().nullish(),
  description: z.coerce.string().optional(),
  tools: nameList.nullish(),
  disallowedTools: nameList.nullish(),
  model: z
    .union([z.string(), z.array(z.string()).transform(([first]) => first)])
    .nullish()
    .transform((model) => model ?? undefined),
});

/** Reads the folders of agents. Never rejects: what cannot be read is a problem, in one line. */
export async function readAgents(places: AgentPlaces): Promise<CustomAgents> {
  const found = await Promise.all(agentFolders(places).map(agentsIn));
  const byName = new Map<string, CustomAgent>();
  for (const agent of found.flatMap(({ agents }) => agents)) if (!byName.has(agent.name)) byName.set(agent.name, agent);
  return { agents: [...byName.values()].slice(0, MAX_AGENTS), problems: found.flatMap(({ problems }) => problems) };
}

/** Part of the system prompt. Many agents have short descriptions in it, and the last of very many stand in no line. */
export function agentIndex({ agents }: CustomAgents): string | undefined {
  if (agents.length === 0) return undefined;
  const shown = agents.slice(0, MAX_SHOWN);
  const chars = Math.floor(MAX_INDEX_CHARS / shown.length);
  const index = shown.map(({ name, description }) => `- ${name}: ${shortened(description, chars)}`);
  const rest = agents.length - shown.length;
  const more = rest === 0 ? [] : [`${rest} more: an unknown name gets the names of all.`];
  return ["# Agents", "Roles for delegate_task (parameter agent):", ...index, ...more].join("\n");
}

/** Instruction for a message that begins with `@name`; undefined for any other message. */
export function addressed(message: string, { agents }: CustomAgents): string | undefined {
  const [, name] = /^\s*@([\w-]+)[:,]?(?=\s)/.exec(message) ?? [];
  const agent = name === undefined ? undefined : agentNamed(agents, name);
  if (agent === undefined) return undefined;
  return `The user addresses the agent ${agent.name}. Call delegate_task with agent "${agent.name}", the rest of the message as its goal and what it must know as its context. Then report its result.`;
}

/** Agents for the list of extensions, and files that are none. */
export function agentItems({ agents, problems }: CustomAgents): readonly HermesExtensionItem[] {
  const loaded = agents.map(({ name, description: detail, path }): HermesExtensionItem => {
    return { id: `agent:${name}`, kind: "agent", name, source: basename(path), state: "on", detail, path, actions: [] };
  });
  const failed = problems.map((error): HermesExtensionItem => {
    const path = error.split(": ", 1)[0] ?? "";
    const name = basename(path);
    return { id: `agent:${path}`, kind: "agent", name, source: name, state: "failed", detail: "", error, actions: [] };
  });
  return [...loaded, ...failed];
}

/** Answer to `/agents`. `roots`: workspace folders. */
export function agentsText({ agents, problems }: CustomAgents, roots: readonly string[]): string {
  const lines = agents.map(({ name, description, tools, model, path }) => {
    const limits = [tools && `tools: ${tools.join(", ")}`, model && `model: ${model}`].filter(Boolean);
    const [shown = path] = roots.flatMap((root) => pathBelow(root, path) ?? []);
    return [`- **@${name}**: ${description}`, ...limits, `\`${shown}\``].join(" · ");
  });
  const left = problems.map((problem) => `- Not loaded: ${problem}`);
  if (lines.length + left.length > 0) return [...lines, ...left].join("\n");
  return "There are no custom agents. Add one as `.hermes/agents/NAME.md`, `.github/agents/NAME.agent.md`, `.claude/agents/NAME.md`, or in `agents/` of the Hermes home.";
}

/** The agent of this name, in any spelling of case and blanks. */
function agentNamed(agents: readonly CustomAgent[], name: string): CustomAgent | undefined {
  return agents.find((agent) => agent.name === nameFrom(name));
}

/** Task of a sub-agent. */
type Task = {
  /** Name of its custom agent; default: none. */
  readonly agent?: string | undefined;
  readonly toolsets: readonly string[] | undefined;
  readonly model: string | undefined;
  /** Instructions of the agent. */
  readonly role?: string | undefined;
};

export type Cast<Each extends Task> =
  | { readonly ok: true; readonly tasks: readonly Each[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The tasks with the roles, tools and models of their agents. `tools`: those that a sub-agent can have. */
export async function castTasks<Each extends Task>(
  tasks: readonly Each[],
  places: AgentPlaces | undefined,
  tools: readonly { readonly name: string; readonly toolset: string }[],
): Promise<Cast<Each>> {
  const { agents } = places === undefined ? { agents: [] } : await readAgents(places);
  const known = agents.length === 0 ? "There are none." : `There are ${agents.map(({ name }) => name).join(", ")}.`;
  const problems: string[] = [];
  const cast = tasks.map((task): Each => {
    if (task.agent === undefined) return task;
    const agent = agentNamed(agents, task.agent);
    if (agent === undefined) {
      problems.push(`There is no agent ${JSON.stringify(task.agent)}. ${known}`);
      return task;
    }
    const own = tools.filter(({ name, toolset }) => mayUse(agent, name, toolset)).map(({ name }) => name);
    const isWhole = agent.tools === undefined && agent.without.length === 0;
    const toolsets = isWhole ? task.toolsets : own;
    return { ...task, toolsets, model: task.model ?? agent.model, role: agent.instructions };
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, tasks: cast };
}

function mayUse({ tools, without }: CustomAgent, tool: string, toolset: string): boolean {
  const isGiven = tools === undefined || tools.includes("*") || names(tools, tool, toolset);
  return isGiven && !names(without, tool, toolset);
}

/** True when a list in any product's words has the tool. */
function names(tools: readonly string[], tool: string, toolset: string): boolean {
  // `server/tool` and `mcp__server__tool` are a server's own names.
  const asked = new Set(tools.flatMap((name) => [name, name.split("/")[0] ?? name]).map((name) => name.toLowerCase()));
  if (asked.has(tool) || asked.has(toolset)) return true;
  if ([...asked].some((name) => TOOL_SETS[name]?.includes(tool))) return true;
  const [, server] = /^mcp__(.+?)__/.exec(tool) ?? [];
  if (server !== undefined) return asked.has(server.toLowerCase());
  return coversTool((name) => asked.has(name.toLowerCase()), tool);
}

async function agentsIn({ root, path, ending, isOwn }: AgentFolder): Promise<CustomAgents> {
  const names = await readdir(path).catch((): string[] => []);
  const limits: FileLimits = { isOwn, maxBytes: MAX_BYTES, ...(!isOwn && { within: [root] }) };
  const read = names
    .filter((name) => name.endsWith(ending) && name !== "README.md")
    .toSorted()
    .map((name) => readAgent(join(path, name), ending, limits));
  const agents = await Promise.all(read);
  return {
    agents: agents.filter((agent) => typeof agent === "object"),
    problems: agents.filter((agent) => typeof agent === "string"),
  };
}

/** The agent, or the problem in one line. */
async function readAgent(path: string, ending: string, limits: FileLimits): Promise<CustomAgent | string | undefined> {
  const file = readByItself(path, limits);
  if (!file.ok) return file.reason && `${path}: ${file.reason}`;
  const { fields, body: instructions } = await readFrontMatter(file.text);
  const name = nameFrom(basename(path).slice(0, -ending.length));
  if (instructions === "") return `${path}: it has no instructions`;
  // The role would have all tools, whatever the file says.
  if (/^---\s*\n[\w-]+:/.test(instructions)) return `${path}: its front matter has no end, a line of ---`;
  try {
    const facts = factsSchema.parse(fields);
    const described = facts.description ?? instructions.split("\n", 1)[0] ?? name;
    return {
      name: nameFrom(facts.name ?? "") || name,
      description: oneLine(visibleText(described.replace(/^#+\s*/, "")), DESCRIPTION_CHARS),
      instructions,
      tools: facts.tools ?? undefined,
      without: facts.disallowedTools ?? [],
      model: facts.model === undefined || CLAUDE_MODELS.has(facts.model.toLowerCase()) ? undefined : facts.model,
      path,
    };
  } catch (error) {
    return `${path}: its front matter cannot be read: ${oneLine(messageOf(error), DESCRIPTION_CHARS)}`;
  }
}

function nameFrom(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_]+/gu, "-")
    .replaceAll(/^-|-$/g, "");
}
