/**
 * The user's MCP servers in VS Code's own configuration: `mcp.json` of the workspace's profile, and the older setting
 * `mcp.servers`. The agent gets them with each session. Servers of a workspace are not among them, because they need the
 * user's consent.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import type { McpServer } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import { hasCode, messageOf } from "../../agent-core/platform/errors.ts";
import { parseJsonc } from "../../agent-core/platform/jsonc.ts";
import { readText } from "../../agent-core/platform/text-file.ts";

/** Value of a variable or a header. */
const value = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const serverSchema = z.looseObject({
  type: z.enum(["stdio", "http", "sse"]).optional(),
  command: z.string().optional(),
  args: z.array(value).default([]),
  env: z.record(z.string(), value.nullable()).default({}),
  url: z.string().optional(),
  headers: z.record(z.string(), value).default({}),
});
type Server = z.output<typeof serverSchema>;

const table = z.record(z.string(), z.unknown());
const fileSchema = z.looseObject({ servers: table.default({}) });

/** Fields of VS Code that change the run of a program, and that an agent cannot be given. */
const UNSUPPORTED = ["cwd", "envFile"] as const;

export type ServerPlace = {
  /** The user's value of the setting `mcp.servers`. */
  readonly setting: unknown;
  /** First folder of the workspace. */
  readonly cwd: string;
  /** URI of the workspace: of its file, else of its folder. */
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export class EditorServers {
  /** VS Code's folder of the user's settings. */
  readonly #user: string;
  /** Problems that were taken already. */
  readonly #reported = new Set<string>();
  #problems: readonly string[] = [];

  /** `globalStorage`: the extension's folder for global files, which is in the folder of the default profile. */
  constructor(globalStorage: string) {
    this.#user = join(globalStorage, "..", "..");
  }

  /** A server of the file overrides one of the setting. Never rejects. */
  async read(place: ServerPlace): Promise<McpServer[]> {
    const file = await readServers(join(await profileFolder(this.#user, place.workspace), "mcp.json"));
    const servers: McpServer[] = [];
    const problems = [...file.problems];
    for (const [name, raw] of Object.entries({ ...table.safeParse(place.setting).data, ...file.servers })) {
      const server = serverOf(name, raw, place);
      if (typeof server === "object") servers.push(server);
      else problems.push(vscode.l10n.t("Hermes cannot use VS Code's MCP server {0}: {1}.", name, server));
    }
    this.#problems = problems;
    return servers;
  }

  /** One line for each server that cannot be passed on. Each line is given once. */
  takeProblems(): readonly string[] {
    const fresh = this.#problems.filter((problem) => !this.#reported.has(problem));
    for (const problem of fresh) this.#reported.add(problem);
    return fresh;
  }
}

/** The part of VS Code's state that names the profile of a workspace. An extension has no other way to learn it. */
const stateSchema = z.looseObject({
  profileAssociations: z.looseObject({ workspaces: z.record(z.string(), z.unknown()) }),
  userDataProfiles: z
    .array(z.looseObject({ location: z.unknown(), useDefaultFlags: z.looseObject({ mcp: z.boolean() }).optional() }))
    .catch([]),
});

/** Folder of the workspace's profile; the user's own folder for the default profile. */
async function profileFolder(user: string, workspace: string): Promise<string> {
  const text = await readText(join(user, "globalStorage", "storage.json")).catch(() => "");
  const state = stateSchema.safeParse(parseJsonc(text)).data;
  const id = state?.profileAssociations.workspaces[workspace];
  const profile = state?.userDataProfiles.find(({ location }) => location === id);
  if (typeof id !== "string" || profile === undefined || profile.useDefaultFlags?.mcp === true) return user;
  return join(user, "profiles", id);
}

async function readServers(path: string): Promise<{ readonly servers: object; readonly problems: readonly string[] }> {
  try {
    const text = await readText(path);
    const parsed = fileSchema.safeParse(text.trim() === "" ? {} : parseJsonc(text));
    if (parsed.success) return { servers: parsed.data.servers, problems: [] };
    return {
      servers: {},
      problems: [vscode.l10n.t("VS Code's MCP servers are not used: {0} is not a valid list of servers.", path)],
    };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { servers: {}, problems: [] };
    return { servers: {}, problems: [vscode.l10n.t("VS Code's MCP servers are not used: {0}", messageOf(error))] };
  }
}

/** The server as ACP has it, or the reason why it cannot be passed on. */
function serverOf(name: string, raw: unknown, place: ServerPlace): McpServer | string {
  const parsed = serverSchema.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}`;
  }
  const unknown: string[] = [];
  const filled = (text: string): string =>
    text.replaceAll(/\$\{([^}]*)\}/g, (whole, variable: string) => {
      const found = valueFor(variable, place);
      if (found === undefined) unknown.push(whole);
      return found ?? "";
    });
  const server = asAcp(name, parsed.data, filled);
  const [first] = unknown;
  return first === undefined
    ? server
    : vscode.l10n.t("only VS Code knows the value of {0}; use ${env:NAME} and set NAME", first);
}

function asAcp(name: string, server: Server, filled: (text: string) => string): McpServer | string {
  const { type, command, args, env, url, headers } = server;
  if (command !== undefined && type !== "http" && type !== "sse") {
    const field = UNSUPPORTED.find((key) => server[key] !== undefined);
    if (field !== undefined)
      return vscode.l10n.t("it sets {0}, which Hermes supports only in its own config.yaml", field);
    const variables = Object.entries(env).flatMap(([key, text]) =>
      text === null ? [] : [{ name: key, value: filled(text) }],
    );
    return { name, command: filled(command), args: args.map(filled), env: variables };
  }
  if (url === undefined) return vscode.l10n.t("it has neither a command nor a url");
  const values = Object.entries(headers).map(([key, text]) => ({ name: key, value: filled(text) }));
  return { type: type === "sse" ? "sse" : "http", name, url: filled(url), headers: values };
}

/** Undefined for a variable whose value only VS Code knows. */
function valueFor(variable: string, { cwd, environment }: ServerPlace): string | undefined {
  if (variable === "workspaceFolder") return cwd;
  if (variable === "userHome") return homedir();
  return variable.startsWith("env:") ? (environment[variable.slice("env:".length)] ?? "") : undefined;
}
