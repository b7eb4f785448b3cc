/**
 * MCP servers that a workspace brings along, in `.mcp.json` and files of other agents. Each starts only after the user has
 * allowed exactly its program, arguments and environment, or its address and headers.
 */
import { homedir } from "node:os";
import { basename, relative, resolve, sep } from "node:path";
import { parseEnv } from "node:util";
import * as z from "zod";
import { contentHash, namedScripts } from "../approval/consents.ts";
import { readByItself } from "../approval/workspace-file.ts";
import type { Environment } from "../config/home.ts";
import { fileVersion } from "../config/home-file.ts";
import { mcpServerSection } from "../config/sections.ts";
import { messageOf } from "../platform/errors.ts";
import { isRecord } from "../platform/json.ts";
import { parseJsonc } from "../platform/jsonc.ts";
import { visibleText } from "../platform/visible-text.ts";
import { quoted, type ServerConfig, type ServerFile, serverFiles, serversFrom } from "./server-config.ts";

export type WorkspaceServer = {
  readonly config: ServerConfig;
  /** Hash of the content that needs the user's consent. */
  readonly hash: string;
  /** That content in one line, as the file has it. */
  readonly description: string;
  /** Scripts of the workspace that its command line names, absolute. The agent may edit them, so the hash covers them. */
  readonly scripts: readonly string[];
};

export type WorkspaceServerList = {
  readonly servers: readonly WorkspaceServer[];
  /** One line for each server or file that cannot be used. */
  readonly problems: readonly string[];
};

/** An entry of a file by its name, or a whole file that cannot be used. */
type Listed = WorkspaceServerList & { readonly name: string };

/** Reads the files of workspace folders again after each change. */
export class WorkspaceServers {
  readonly #folders: readonly string[];
  readonly #environment: Environment;
  #version = "";
  #list: WorkspaceServerList = { servers: [], problems: [] };

  /** `folders`: absolute. `environment`: values for `${NAME}` in the files. */
  constructor(folders: readonly string[], environment: Environment) {
    this.#folders = folders;
    this.#environment = environment;
  }

  /** The same object as long as no file changed. */
  read(): WorkspaceServerList {
    const files = serverFiles(this.#folders);
    const versionWith = ({ servers: listed }: WorkspaceServerList): string =>
      [...files.map(({ path }) => path), ...listed.flatMap(({ scripts }) => scripts)]
        .map((path) => fileVersion(path) ?? "-")
        .join(" ");
    if (versionWith(this.#list) === this.#version) return this.#list;
    const lists = files.flatMap((file) => serversIn(file, this.#environment));
    const servers = new Map<string, WorkspaceServer>();
    for (const server of lists.flatMap((list) => list.servers)) {
      if (!servers.has(server.config.name)) servers.set(server.config.name, server);
    }
    // A name in several files needs one entry that can be used. Else the first is reported.
    const unused = lists.filter(({ name, problems }) => problems.length > 0 && !servers.has(name)).toReversed();
    const problems = [...new Map(unused.map((list) => [list.name, list.problems])).values()].toReversed().flat();
    this.#list = { servers: [...servers.values()], problems };
    this.#version = versionWith(this.#list);
    return this.#list;
  }
}

const serverTable = z.record(z.string(), z.unknown());

function serversIn(file: ServerFile, environment: Environment): readonly Listed[] {
  const { key, name, path, folder } = file;
  const read = readByItself(path, { within: [folder] });
  if (!read.ok && read.reason === undefined) return [];
  try {
    if (!read.ok) throw new Error(read.reason);
    // Variables of Gemini CLI need no braces.
    const text = name.startsWith(".gemini/") ? read.text.replaceAll(/\$([A-Za-z_]\w*)/g, "${$1}") : read.text;
    const parsed = text.trim() === "" ? {} : parseJsonc(text);
    if (parsed === undefined) throw new Error("the file is not valid JSON");
    const table = z.looseObject({ [key]: serverTable.optional() }).safeParse(parsed).data;
    if (table === undefined) throw new Error(`\`${key}\` is not an object of servers`);
    const entries = Object.entries(serverTable.parse(table[key] ?? {}));
    return entries.map(([server, raw]) => ({ name: server, ...serverOf(server, raw, file, environment) }));
  } catch (error) {
    return [{ name: path, ...problem(`The MCP servers of ${name} are not used: ${messageOf(error)}.`) }];
  }
}

function serverOf(name: string, foreign: unknown, { folder, name: file, path }: ServerFile, environment: Environment) {
  const raw = ownEntry(foreign);
  const unusable = (reason: string): WorkspaceServerList =>
    problem(`${file}: the MCP server ${visibleText(name)} ${reason}. It is not used.`);
  const problems: string[] = [];
  const values = withVariables(raw, (variable) => {
    const value = replacementOf(variable, folder, environment);
    if (typeof value === "string") return value;
    problems.push(value.problem);
    return "";
  });
  const envFile = Object(values).envFile === undefined ? undefined : resolve(folder, String(Object(values).envFile));
  const envText = envFile === undefined ? undefined : readByItself(envFile, { isOwn: true, within: [folder] });
  if (envText?.ok === false) problems.push(`cannot read its \`envFile\`: ${envText.reason ?? "there is no such file"}`);
  const [first] = problems;
  if (first !== undefined) return unusable(first);
  const written = mcpServerSection.safeParse(raw);
  const section = mcpServerSection.safeParse(values);
  if (!written.success || !section.success) {
    const [issue] = (written.error ?? section.error)?.issues ?? [];
    return unusable(`has a wrong value: ${issue?.path.join(".")}: ${issue?.message}`);
  }
  // The server runs in the folder of its file, which may differ from the session's first folder.
  const env = Object.assign({}, envText?.ok ? parseEnv(envText.text) : {}, section.data.env);
  const inFolder = { ...section.data, env, cwd: resolve(folder, section.data.cwd ?? ".") };
  const { servers, problems: others } = serversFrom(
    { [name]: inFolder },
    { source: "workspace", sourceName: file, path },
  );
  const { command, args, env: shown, cwd, url, headers } = written.data;
  const scriptsOf = namedScripts([section.data.command ?? "", ...section.data.args], inFolder.cwd, folder);
  const named = { ...scriptsOf, ...(envText?.ok && { [envText.path]: envText.text }) };
  const [scripts, texts] = [Object.keys(named), Object.values(named)];
  const content = { command, args, env: shown, cwd, url, headers, folder, ...(texts.length > 0 && { scripts: texts }) };
  return {
    servers: servers.map((config) => ({
      config,
      hash: contentHash(content),
      description: `${described(content)}${envFile === undefined ? "" : ` (variables of ${relative(folder, envFile)})`}`,
      scripts,
    })),
    problems: others,
  };
}

/** Keys of other agents, by ours: Windsurf, Gemini CLI, opencode and Codex. */
const KEYS: Readonly<Record<string, string>> = {
  serverUrl: "url",
  httpUrl: "url",
  environment: "env",
  includeTools: "include",
  enabled_tools: "include",
  excludeTools: "exclude",
  disabledTools: "exclude",
  disabled_tools: "exclude",
};
/** Longer timeouts are in milliseconds. Seconds. */
const LONGEST_SECONDS = 3_600;

/** The entry of a server as other agents write it, with our keys and types. Null is left out. */
function ownEntry(foreign: unknown): unknown {
  const read = serverTable.safeParse(foreign).data;
  if (read === undefined) return foreign;
  const { disabled = false, ...given } = withoutNull(read);
  const switched = String(disabled) === "true" ? { ...given, enabled: false } : given;
  const named = Object.entries(switched)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => [KEYS[key] ?? key, value] as const);
  const own = named.map(([key, value]) => [key, Object.hasOwn(VALUES, key) ? VALUES[key]?.(value) : value] as const);
  const { args, command, include, exclude, ...others } = Object.fromEntries(own);
  const [program, ...first] = [command].flat();
  const tools = { ...(include !== undefined && { include }), ...(exclude !== undefined && { exclude }) };
  return withoutNull({
    tools,
    ...others,
    command: program ?? null,
    args: [...first, ...[args ?? []].flat()],
  });
}

/** Values of these keys in our form; null: left out. */
const VALUES: Readonly<Record<string, (value: unknown) => unknown>> = {
  args: (value) => (typeof value === "string" ? value.split(/\s+/) : value),
  env: (value) => (isRecord(value) ? withoutNull(value) : value),
  type: (value) => String(value).toLowerCase(),
  auth: (value) => (value === "oauth" ? value : null),
  // Copilot lists the tools.
  tools: (value) => (Array.isArray(value) ? { ...(!value.includes("*") && { include: value }) } : value),
  enabled: (value) => String(value) !== "false",
  timeout: (value) => (Number(value) > LONGEST_SECONDS ? Number(value) / 1_000 : Number(value)),
};

function withoutNull(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
}

type Content = Pick<z.output<typeof mcpServerSection>, "command" | "args" | "env" | "cwd" | "url" | "headers">;

/** Everything that the user allows, in one line without hidden characters. */
function described({ command, args, env, cwd, url, headers }: Content): string {
  const variables = Object.entries(env).map(([key, value]) => `${key}=${quoted(value)}`);
  const place = cwd === undefined ? [] : [`(in ${cwd})`];
  const words =
    command === undefined
      ? [url ?? "", ...Object.entries(headers).map(([key, value]) => `[${key}: ${value}]`)]
      : [...variables, ...[command, ...args].map(quoted), ...place];
  return visibleText(words.join(" ")).replaceAll(/\s+/g, " ");
}

function problem(line: string): WorkspaceServerList {
  return { servers: [], problems: [line] };
}

/** `${NAME}`, and opencode's `{env:NAME}`. */
const VARIABLE = /\$\{([^}]*)\}|\{(env:\w+)\}/g;

/** Replaces variables in all texts of a value. */
function withVariables(value: unknown, valueFor: (variable: string) => string): unknown {
  if (typeof value === "string")
    return value.replaceAll(VARIABLE, (_, inner: string | undefined, ofOpencode = "") => valueFor(inner ?? ofOpencode));
  if (Array.isArray(value)) return value.map((item) => withVariables(item, valueFor));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withVariables(item, valueFor)]));
}

/** `problem` ends a sentence about the server. */
function replacementOf(
  variable: string,
  folder: string,
  environment: Environment,
): string | { readonly problem: string } {
  const places = { workspaceFolder: folder, workspaceFolderBasename: basename(folder), userHome: homedir() };
  const place = Object.entries({ ...places, pathSeparator: sep, "/": sep }).find(([name]) => name === variable);
  if (place !== undefined) return place[1];
  if (variable.startsWith("input:")) {
    return {
      problem: `needs the input \`${variable}\`, which Hermes does not support: use \`\${env:NAME}\` and set NAME`,
    };
  }
  const [, name = "", otherwise] = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/.exec(variable) ?? [];
  if (name === "") return { problem: `uses \`\${${visibleText(variable)}}\`, which Hermes does not know` };
  return environment[name] ?? otherwise ?? { problem: `refers to the variable ${name}, which is not set` };
}
