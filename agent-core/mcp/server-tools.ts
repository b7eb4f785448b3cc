/** The tools of a server as tools of the agent, and tools of ours that read the server's resources and prompts. */
import * as z from "zod";
import { contentHash } from "../approval/consents.ts";
import type { PreparedCall, Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import { offersTool, type ServerConfig, serverHash } from "./server-config.ts";
import type { RequestHandlers, ServerCallOptions, ServerConnection } from "./server-connection.ts";
import type { CheckedTool } from "./server-listing.ts";
import { fitted, MAX_NAME_CHARS, modelSchema, withoutInvisible } from "./server-schema.ts";
import { callResult, dataResult, promptText, resourceResult } from "./tool-result.ts";

/** Length of a tool's description in the request. Characters. */
const MAX_DESCRIPTION_CHARS = 2_000;

/** Names such as `mcp__server__tool` that fit the providers' rules. Each tool of a session keeps its own. */
export class ToolNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  of(server: string, tool: string): string {
    const key = JSON.stringify([server, tool]);
    const name = this.#names.get(key) ?? this.#next(`mcp__${fitted(server)}__${fitted(tool)}`);
    this.#names.set(key, name);
    return name;
  }

  #next(wanted: string): string {
    let name = wanted.slice(0, MAX_NAME_CHARS);
    for (let count = 2; this.#taken.has(name); count += 1) {
      const end = `_${count}`;
      name = `${wanted.slice(0, MAX_NAME_CHARS - end.length)}${end}`;
    }
    this.#taken.add(name);
    return name;
  }
}

export function toolsetOf(server: string): string {
  return `mcp-${fitted(server)}`;
}

type ToolFacts = {
  /** Name for the model. */
  readonly name: string;
  /** The server's name of the tool, or of the wrapper. */
  readonly tool: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  /** Arguments of the model with the server's own keys. Default: the same. */
  readonly original?: (args: unknown) => unknown;
  readonly readOnly: boolean;
  /** Hash of what the server says about the tool. Default: the tool is one of ours. */
  readonly version?: string;
  /** Errors in the arguments; undefined for valid ones. */
  check(args: unknown): string | undefined;
  run(args: unknown, context: ToolContext): Promise<ToolResult>;
};

/** A tool that a server offers, or that reads from it. */
export function foreignTool(config: ServerConfig, facts: ToolFacts): Tool {
  const { name, tool, readOnly, version, original = (args) => args } = facts;
  const description = withoutInvisible(facts.description).slice(0, MAX_DESCRIPTION_CHARS).toWellFormed();
  const origin = [originOf(config), ...(version === undefined ? [] : [version])].join(":");
  const originName = `the MCP server ${config.name}`;
  const label = withoutInvisible(facts.title ?? tool)
    .replaceAll(/\s+/g, " ")
    .slice(0, 60);
  return {
    name,
    toolset: toolsetOf(config.name),
    kind: readOnly ? "read" : "other",
    readOnly,
    interactive: false,
    largeOutput: false,
    need: "foreign",
    schema: { name, description, parameters: facts.parameters },
    prepare(written) {
      const raw = original(written);
      const problem = facts.check(raw);
      const text = `${name}: the arguments do not fit its schema. ${problem}. Call it again with corrected arguments.`;
      if (problem !== undefined) return { ok: false, text };
      const effect = { kind: "foreign", origin, originName, tool, readOnly, args: raw } as const;
      const stage: PreparedCall["stage"] = async (context) => {
        return { ok: true, diffs: [], run: () => facts.run(raw, context) };
      };
      return { ok: true, call: { title: `${config.name}: ${label}`, locations: [], effect, stage } };
    },
  };
}

function originOf(config: ServerConfig): string {
  return `mcp:${config.source}:${config.name}:${serverHash(config)}`;
}

/** A server as one session configured it. The connection may have been opened for another session. */
export type SessionServer = {
  readonly config: ServerConfig;
  readonly connection: ServerConnection;
  /** Handlers of the session for the server's own requests. */
  handlersFor(ask: ToolContext["ask"]): RequestHandlers;
};

/** The tools of a server that its settings offer, without those in `off`. */
export function toolsOf(
  { config, connection, handlersFor }: SessionServer,
  names: ToolNames,
  off: ReadonlySet<string>,
): readonly Tool[] {
  return connection.listing.tools
    .filter((tool) => offersTool(config, tool.name) && !off.has(tool.name))
    .map((tool) => {
      const version = versionOf(tool);
      return foreignTool(config, {
        name: names.of(config.name, tool.name),
        version,
        tool: tool.name,
        title: tool.title ?? tool.annotations?.title,
        description: tool.description ?? "",
        ...modelSchema(tool),
        readOnly: isBelievedReadOnly(config, tool) && isAsFirstSeen(config, tool.name, version),
        check: tool.check,
        run: async (args, context) => {
          const origin = `${config.name}/${tool.name}`;
          const calling = connection.call(tool.name, args, {
            signal: context.signal,
            handlers: handlersFor(context.ask),
            onProgress: (line) => context.show({ type: "output", text: `${line}\n` }),
          });
          return calling.then(
            (answer) => callResult(answer, origin, context),
            (error: unknown) => refusalResult(error, origin, context),
          );
        },
      });
    });
}

/** Changes with everything that the server says about a tool: a lasting answer holds for the tool that the user saw. */
function versionOf({ name, title, description, inputSchema, annotations }: CheckedTool): string {
  return contentHash({ name, title, description, inputSchema, annotations }).slice(0, 16);
}

/** Versions of tools at their first listing in this process. */
const firstVersions = new Map<string, string>();

/** False for a tool that became another one since: then its hints do not count. */
function isAsFirstSeen(config: ServerConfig, tool: string, version: string): boolean {
  const key = JSON.stringify([originOf(config), tool]);
  const first = firstVersions.get(key) ?? version;
  firstVersions.set(key, first);
  return first === version;
}

/** The server's own error is foreign text as its results are. Rejects with all other errors. */
async function refusalResult(error: unknown, origin: string, context: ToolContext): Promise<ToolResult> {
  if (!(error instanceof Error) || error.name !== "ProtocolError") throw error;
  return { ...(await dataResult(error.message, origin, context)), ok: false };
}

/** A workspace's server may lie, so its hints do not count. */
function isBelievedReadOnly({ source }: ServerConfig, { annotations }: CheckedTool): boolean {
  if (source === "workspace") return false;
  return annotations?.readOnlyHint === true && annotations.destructiveHint !== true;
}

type Wrapper<Input extends z.ZodType> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  run(input: z.output<Input>, options: ServerCallOptions, context: ToolContext): Promise<ToolResult>;
};

/** Wrappers for those of resources and prompts that the server has. A tool of the server with the same name hides one. */
export function wrapperTools(server: SessionServer, names: ToolNames): readonly Tool[] {
  const { config, connection } = server;
  const { hasResources, prompts, tools } = connection.listing;
  const ofResources = [
    wrapper(server, names, {
      name: "list_resources",
      description: `List the resources of the MCP server ${config.name}, with their URIs.`,
      input: z.object({}),
      run: async (_input, options, context) => {
        const found = await connection.run(options, (client, each) => client.resources(each));
        const lines = found.map(({ uri, uriTemplate, name, description, mimeType }) =>
          lineOf([uri ?? uriTemplate, name, mimeType, description]),
        );
        const text = lines.length === 0 ? "The server has no resources." : lines.join("\n");
        return dataResult(text, `${config.name}/resources`, context);
      },
    }),
    wrapper(server, names, {
      name: "read_resource",
      description: `Read one resource of the MCP server ${config.name} by its URI.`,
      input: z.object({ uri: z.string().min(1) }),
      run: async ({ uri }, options, context) =>
        resourceResult(
          await connection.run(options, (client, each) => client.readResource(uri, each)),
          `${config.name}/${uri}`,
          context,
        ),
    }),
  ];
  const ofPrompts = [
    wrapper(server, names, {
      name: "list_prompts",
      description: `List the prompts of the MCP server ${config.name}, with their arguments.`,
      input: z.object({}),
      run: (_input, _options, context) => {
        const lines = connection.listing.prompts.map(({ name, description, arguments: all = [] }) => {
          const named = all.map((each) => (each.required ? each.name : `${each.name}?`)).join(", ");
          return lineOf([`${name}(${named})`, description]);
        });
        return dataResult(lines.join("\n"), `${config.name}/prompts`, context);
      },
    }),
    wrapper(server, names, {
      name: "get_prompt",
      description: `Get one prompt of the MCP server ${config.name} with its arguments filled in.`,
      input: z.object({ name: z.string().min(1), arguments: z.record(z.string(), z.string()).default({}) }),
      run: async ({ name, arguments: values }, options, context) =>
        dataResult(
          promptText(await connection.run(options, (client, each) => client.prompt(name, values, each))),
          `${config.name}/${name}`,
          context,
        ),
    }),
  ];
  return [
    ...(config.resources && hasResources ? ofResources : []),
    ...(config.prompts && prompts.length > 0 ? ofPrompts : []),
  ].filter(({ name }) => !tools.some((tool) => names.of(config.name, tool.name) === name));
}

function lineOf(facts: readonly (string | undefined)[]): string {
  return facts.filter((fact) => fact !== undefined).join(" · ");
}

function wrapper<Input extends z.ZodType>(
  { config, handlersFor }: SessionServer,
  names: ToolNames,
  { name, description, input, run }: Wrapper<Input>,
): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return foreignTool(config, {
    name: names.of(config.name, name),
    tool: name,
    title: undefined,
    description,
    parameters,
    readOnly: config.source !== "workspace",
    check: (args) =>
      input
        .safeParse(args)
        .error?.issues.map((issue) => lineOf([issue.path.join("."), issue.message]))
        .join("; "),
    run: (args, context) =>
      run(input.parse(args), { signal: context.signal, handlers: handlersFor(context.ask) }, context),
  });
}
