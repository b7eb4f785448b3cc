/** Plugins in the home's folder `plugins`, by their manifests. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import * as z from "zod";
import { extensionPlaces } from "../config/home.ts";
import { setPluginEnabled } from "../config/home-file.ts";
import { hasCode, messageOf, UsageError } from "../platform/errors.ts";
import { nearName } from "../platform/names.ts";
import { readText } from "../platform/text-file.ts";

export type InstalledPlugin = {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  readonly version: string | undefined;
  readonly description: string | undefined;
  /** Path of index.js. */
  readonly entry: string;
  /** Reason why it cannot run, in one sentence without a full stop; undefined when it can. */
  readonly problem: string | undefined;
};

/** Plugins of the original Hermes Agent have more keys, which concern Python. */
const manifestSchema = z.object({
  name: z
    .string()
    .regex(/^[a-zA-Z0-9][\w.-]{0,63}$/, "is not a name of letters, digits, dots and hyphens")
    .optional(),
  version: z.union([z.string(), z.number()]).optional(),
  description: z.string().optional(),
});

const MANIFESTS = ["plugin.yaml", "plugin.yml"];
const ENTRY = "index.js";
const PYTHON_ENTRY = "__init__.py";

/** In the order of their folders. A folder of folders is a category, as in the original. Never fails. */
export async function findPlugins(root: string): Promise<readonly InstalledPlugin[]> {
  const found: InstalledPlugin[] = [];
  for (const folder of await subfolders(root)) {
    if (isPlugin(folder)) found.push(await readPlugin(folder));
    else for (const inner of await subfolders(folder)) if (isPlugin(inner)) found.push(await readPlugin(inner));
  }
  return found.map((plugin) => {
    const first = found.find(({ name }) => name === plugin.name) ?? plugin;
    if (first === plugin) return plugin;
    // The path cannot be the name of another plugin.
    return { ...plugin, name: `./${relative(root, plugin.folder)}`, problem: `${first.folder} has the same name` };
  });
}

function isPlugin(folder: string): boolean {
  return [...MANIFESTS, ENTRY].some((file) => existsSync(join(folder, file)));
}

/** Absolute; with symbolic links to folders, and without hidden folders. */
async function subfolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // no folder, no plugins
  return entries
    .filter((entry) => !entry.name.startsWith(".") && entry.name !== "node_modules")
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => join(folder, name))
    .sort();
}

async function readPlugin(folder: string): Promise<InstalledPlugin> {
  const entry = join(folder, ENTRY);
  const plugin = { name: basename(folder), folder, entry, version: undefined, description: undefined };
  const manifest = await readManifest(folder);
  if (typeof manifest === "string") return { ...plugin, problem: manifest };
  const { name = plugin.name, version, description } = manifest;
  const read = { ...plugin, name, version: version === undefined ? undefined : String(version), description };
  return { ...read, problem: missingEntry(folder) };
}

function missingEntry(folder: string): string | undefined {
  if (existsSync(join(folder, ENTRY))) return undefined;
  return existsSync(join(folder, PYTHON_ENTRY))
    ? `it is written in Python (${PYTHON_ENTRY}). Only plugins with ${ENTRY} run here`
    : `${join(folder, ENTRY)} is missing`;
}

/** The manifest, or the reason why it cannot be used. */
async function readManifest(folder: string): Promise<z.output<typeof manifestSchema> | string> {
  for (const file of MANIFESTS) {
    const path = join(folder, file);
    try {
      const { parseYaml } = await import("../config/yaml.ts");
      const parsed = manifestSchema.safeParse(parseYaml(await readText(path)) ?? {});
      if (parsed.success) return parsed.data;
      const [issue] = parsed.error.issues;
      return `${path}: ${[...(issue?.path ?? []), issue?.message].join(" ")}`;
    } catch (error) {
      if (!hasCode(error, "ENOENT")) return `${path} could not be read: ${messageOf(error).split("\n", 1)[0]}`;
    }
  }
  return `${join(folder, "plugin.yaml")} is missing`;
}

/** One line per plugin, for a terminal. */
export async function listPlugins(home: string): Promise<readonly string[]> {
  const { loadConfig } = await import("../config/config.ts");
  const { plugins: settings } = (await loadConfig(home, {})).config;
  const { plugins: folder } = extensionPlaces(home);
  const plugins = await findPlugins(folder);
  if (plugins.length === 0) return [`There are no plugins in ${folder}.`];
  return plugins.map(({ name, version, description, problem }) => {
    const isOn = settings.enabled.includes(name) && !settings.disabled.includes(name);
    const title = [name, version].filter((part) => part !== undefined).join(" ");
    return `${isOn ? "on " : "off"}   ${title}  ${problem === undefined ? (description ?? "") : `cannot run: ${problem}`}`.trimEnd();
  });
}

/** Switches a plugin on or off in config.yaml. Resolves to a line for the user; rejects with an Error in one line. */
export async function switchPlugin(home: string, name: string, isOn: boolean): Promise<string> {
  const plugins = await findPlugins(extensionPlaces(home).plugins);
  const plugin = plugins.find((candidate) => candidate.name === name);
  // A name whose folder is gone can still be taken out of the list.
  if (plugin === undefined && (isOn || !(await isListed(home, name))))
    throw new UsageError(
      unknownPlugin(
        name,
        plugins.map((known) => known.name),
      ),
    );
  if (isOn && plugin?.problem !== undefined) throw new Error(`The plugin ${name} cannot run: ${plugin.problem}.`);
  await setPluginEnabled(home, name, isOn);
  return isOn
    ? `${name} is on in new sessions. It has your rights: ${plugin?.folder}`
    : `${name} is off in new sessions.`;
}

async function isListed(home: string, name: string): Promise<boolean> {
  const { loadConfig } = await import("../config/config.ts");
  return (await loadConfig(home, {})).config.plugins.enabled.includes(name);
}

/** Sentence about a name that no plugin has. */
export function unknownPlugin(name: string, known: readonly string[]): string {
  const near = nearName(name, known);
  return `There is no plugin "${name}".${near === undefined ? "" : ` Did you mean ${near}?`}`;
}
