/**
 * The module `hermes_tools`, for Python and for Node, and the program that runs Python scripts. Each tool of the session is
 * a function that takes the tool's parameters by name, or in the order of its schema, and returns the text that the model
 * would get.
 */
import { readFileSync } from "node:fs";
import * as z from "zod";
import type { ToolSchema } from "../providers/wire/wire.ts";

export type ScriptLanguage = "python" | "node";

/** Way to the agent, for one script. */
export type Channel = {
  /** Absolute path of the Unix socket. */
  readonly socket: string;
  /** Accepted from one connection only. */
  readonly token: string;
};

/** File of a script's folder, by its path in it. */
export type ScriptFile = { readonly path: string; readonly text: string };

/** Functions of the module with their parameters in order, by the tool's name. */
export function toolFunctions(tools: readonly ToolSchema[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(tools.map((tool) => [tool.name, parameterNames(tool)]));
}

/** Files of a Python process. It gets each script by a line of its input, and prints `scriptEnd` after it. */
export function pythonFiles(): readonly ScriptFile[] {
  return ["hermes_tools.py", "interpreter.py"].map((path) => ({ path, text: programText(path) }));
}

/** Files of a Node process, which runs one script. `tools`: schemas of the tools that the script may call. */
export function nodeFiles(tools: readonly ToolSchema[], channel: Channel): readonly ScriptFile[] {
  const head = [
    'import { toolMaker } from "./tools.js";',
    'export { ToolCallError } from "./tools.js";',
    `const tool = toolMaker(${JSON.stringify(channel)});`,
  ];
  const functions = Object.entries(toolFunctions(tools)).map(
    ([name, parameters]) =>
      // Names of MCP tools may have hyphens.
      `export const ${name.replaceAll("-", "_")} = tool(${JSON.stringify(name)}, ${JSON.stringify(parameters)});`,
  );
  return [
    { path: "node_modules/hermes_tools/package.json", text: '{ "type": "module", "exports": "./index.js" }\n' },
    { path: "node_modules/hermes_tools/tools.js", text: programText("tools.js") },
    { path: "node_modules/hermes_tools/index.js", text: [...head, ...functions, ""].join("\n") },
  ];
}

/** Printed by a Python process that waits for its first script. An escape sequence: readers of the output leave it out. */
export const READY = "\u001b]hermes;ready\u0007";

/** Exit code in the text that a Python process prints after the script with this token. */
export function scriptEnd(printed: string, token: string): number | undefined {
  const [, rest = ""] = printed.split(`\u001b]hermes;${token};`);
  return rest.includes("\u0007") ? Number.parseInt(rest, 10) : undefined;
}

const objectSchema = z.object({ properties: z.record(z.string(), z.unknown()) });

function parameterNames({ parameters }: ToolSchema): readonly string[] {
  return Object.keys(objectSchema.safeParse(parameters).data?.properties ?? {});
}

/** Folder of the programs in other languages; set by esbuild. */
declare const __SCRIPT_FILES__: unknown;

function programText(name: string): string {
  const folder = typeof __SCRIPT_FILES__ === "string" ? __SCRIPT_FILES__ : "./script-files";
  return readFileSync(new URL(`${folder}/${name}`, import.meta.url), "utf8");
}
