/** Tools of ours for the resources and prompts of a server. */
import * as z from "zod";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import { foreignTool, type SessionServer, type ToolNames } from "./mcp-tool.ts";
import type { ServerCallOptions } from "./server-connection.ts";
import { dataResult, promptText, resourceResult } from "./tool-result.ts";

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
  return [
    ...(config.resources && hasResources ? resourceWrappers(server, names) : []),
    ...(config.prompts && prompts.length > 0 ? promptWrappers(server, names) : []),
  ].filter(({ name }) => !tools.some((tool) => names.of(config.name, tool.name) === name));
}

function resourceWrappers(server: SessionServer, names: ToolNames): readonly Tool[] {
  const { config, connection } = server;
  return [
    wrapper(server, names, {
      name: "list_resources",
      description: `List the resources of the MCP server ${config.name}, with their URIs.`,
      input: z.object({}),
      run: async (_input, options, context) => {
        const found = await connection.resources(options);
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
        resourceResult(await connection.readResource(uri, options), `${config.name}/${uri}`, context),
    }),
  ];
}

function promptWrappers(server: SessionServer, names: ToolNames): readonly Tool[] {
  const { config, connection } = server;
  return [
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
        dataResult(promptText(await connection.prompt(name, values, options)), `${config.name}/${name}`, context),
    }),
  ];
}

function lineOf(facts: readonly (string | undefined)[]): string {
  return facts.filter((fact) => fact !== undefined).join(" · ");
}

function wrapper<Input extends z.ZodType>(
  { config, userOf }: SessionServer,
  names: ToolNames,
  { name, description, input, run }: Wrapper<Input>,
): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return foreignTool(config, {
    ...{ name: names.of(config.name, name), tool: name, title: undefined, description, parameters },
    readOnly: config.source !== "workspace",
    check: (args) =>
      input
        .safeParse(args)
        .error?.issues.map((issue) => lineOf([issue.path.join("."), issue.message]))
        .join("; "),
    run: (args, context) => run(input.parse(args), { signal: context.signal, user: userOf(context.ask) }, context),
  });
}
