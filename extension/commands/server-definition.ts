/** Definitions of MCP servers as other programs write them: the public registry, VS Code, Claude, Cline and Cursor. */
import * as z from "zod";
import { parseJsonc } from "../../agent-core/platform/jsonc.ts";
import type { HermesAddServer } from "../../agent-core/protocol/extensions.ts";

/** A variable of the program, or a header of the address, that the user fills in. */
export type ServerNeed = { readonly name: string; readonly about: string; readonly isSecret: boolean };

export type ServerDefinition = {
  readonly name: string;
  /** A program or an address, with values that need no question. */
  readonly section: HermesAddServer["section"];
  readonly needs: readonly ServerNeed[];
};

const values = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).default({});
const named = z.looseObject({
  command: z.string().optional(),
  args: z.array(z.string()).default([]),
  env: values,
  url: z.string().optional(),
  type: z.string().optional(),
  headers: values,
});
const table = z.record(z.string(), named);

const input = z.looseObject({
  name: z.string(),
  description: z.string().default(""),
  isSecret: z.boolean().default(false),
  isRequired: z.boolean().default(false),
  value: z.string().optional(),
  default: z.string().optional(),
});
const argument = z.looseObject({ name: z.string().optional(), value: z.string().optional() });
/** `server.json` of the registry (modelcontextprotocol/registry, its schema of 2025-12-11). */
const registered = z.looseObject({
  name: z.string(),
  packages: z
    .array(
      z.looseObject({
        registryType: z.string(),
        identifier: z.string(),
        version: z.string().optional(),
        packageArguments: z.array(argument).default([]),
        environmentVariables: z.array(input).default([]),
      }),
    )
    .default([]),
  remotes: z
    .array(z.looseObject({ type: z.string(), url: z.string(), headers: z.array(input).default([]) }))
    .default([]),
});

/** Servers in a JSON text of any of these forms; none in another text. */
export function definitionsIn(text: string): readonly ServerDefinition[] {
  const json = parseJsonc(text);
  if (typeof json !== "object" || json === null) return [];
  const { server = json, servers, mcpServers = servers }: Record<string, unknown> = { ...json };
  const known = table.safeParse(mcpServers).data;
  if (known !== undefined) return Object.entries(known).flatMap(([name, one]) => ofTable(name, one));
  const published = registered.safeParse(server).data;
  return published === undefined ? [] : ofRegistry(published);
}

function ofTable(name: string, { command, args, env, url, type, headers }: z.output<typeof named>): ServerDefinition[] {
  if (command !== undefined) return [{ name, section: { command, args, ...split(env) }, needs: needsOf(env) }];
  if (url === undefined) return [];
  const { env: given } = split(headers);
  return [{ name, section: { url, ...(type === "sse" && { type }), headers: given }, needs: needsOf(headers) }];
}

/** Values that stand for a question of VS Code, such as `${input:token}`, and empty ones are asked for. */
const OPEN = /^$|\$\{input:[^}]*\}|<[^>]+>|YOUR_/;

function split(all: Readonly<Record<string, string>>): { readonly env: Readonly<Record<string, string>> } {
  return { env: Object.fromEntries(Object.entries(all).filter(([, value]) => !OPEN.test(value))) };
}

function needsOf(all: Readonly<Record<string, string>>): readonly ServerNeed[] {
  const open = Object.entries(all).filter(([, value]) => OPEN.test(value));
  return open.map(([name]) => ({ name, about: "", isSecret: true }));
}

function ofRegistry({ name: full, packages, remotes }: z.output<typeof registered>): ServerDefinition[] {
  const name = full.split("/").at(-1) ?? full;
  const local = packages.flatMap((one): ServerDefinition[] => {
    const { environmentVariables: inputs, packageArguments, version } = one;
    const run = RUNNERS[one.registryType]?.(one.identifier, version, inputs);
    if (run === undefined) return [];
    const args = packageArguments.flatMap(({ name: option, value }) =>
      [option, value].filter((word) => word !== undefined),
    );
    const [command = "", ...first] = run;
    return [{ name, section: { command, args: [...first, ...args], env: given(inputs) }, needs: asked(inputs) }];
  });
  const remote = remotes.map(({ url, type, headers }): ServerDefinition => {
    return { name, section: { url, ...(type === "sse" && { type }), headers: given(headers) }, needs: asked(headers) };
  });
  return [...local, ...remote];
}

type Inputs = readonly z.output<typeof input>[];

/** Command lines of the registry's kinds of packages. */
const RUNNERS: Readonly<
  Record<string, (id: string, version: string | undefined, inputs: Inputs) => readonly string[]>
> = {
  npm: (id, version) => ["npx", "-y", version === undefined ? id : `${id}@${version}`],
  pypi: (id, version) => ["uvx", version === undefined ? id : `${id}@${version}`],
  oci: (id, version, inputs) => {
    const variables = inputs.flatMap(({ name }) => ["-e", name]);
    return ["docker", "run", "-i", "--rm", ...variables, version === undefined ? id : `${id}:${version}`];
  },
};

function given(inputs: Inputs): Readonly<Record<string, string>> {
  return Object.fromEntries(inputs.flatMap((one) => (one.value === undefined ? [] : [[one.name, one.value]])));
}

function asked(inputs: Inputs): readonly ServerNeed[] {
  const open = inputs.filter(({ value, isRequired, isSecret }) => value === undefined && (isRequired || isSecret));
  return open.map(({ name, description: about, isSecret }) => ({ name, about, isSecret }));
}
