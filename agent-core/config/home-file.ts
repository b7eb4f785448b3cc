/**
 * Small files of the home: replaced as a whole, or changed in single values. Everything else in a file of the user stays as
 * the user or another process wrote it.
 */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { open, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type * as z from "zod";
import { attempt, hasCode, messageOf } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { readText } from "../platform/text-file.ts";
import type { HermesAddServer } from "../protocol/extensions.ts";

/**
 * Writes a temporary file and renames it, so that a reader or a power cut finds the old text or the new. Only the owner may
 * read the file; its folder must exist. Rejects when writing fails, and leaves no temporary file.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Value of a JSON file; undefined for a missing or damaged file. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(path));
  } catch {
    return undefined; // a damaged cache counts as empty
  }
}

/**
 * Values of a file with one JSON value a line, oldest first; none for a missing file. A line of another shape, such as one
 * that a killed process left incomplete, is left out. Rejects when reading fails.
 */
export async function readJsonLines<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): Promise<z.output<Schema>[]> {
  const text = await readOrEmpty(path);
  return text.split("\n").flatMap((line) => {
    const parsed = schema.safeParse(parseJson(line));
    return parsed.success ? [parsed.data] : [];
  });
}

/** Replaces a JSON file, and creates its folder. Rejects when writing fails. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  makeFolder(dirname(path), 0o700);
  await replaceFile(path, JSON.stringify(value));
}

/**
 * Appends whole lines to a file as one block, under its lock, and creates its folder. A line that a killed process left
 * incomplete ends before the first one. Rejects when writing fails.
 */
export async function appendLines(path: string, lines: string): Promise<void> {
  makeFolder(dirname(path), 0o700);
  await withLock(`${path}.lock`, async () => {
    const file = await open(path, "a+", 0o600);
    try {
      const { size } = await file.stat();
      const last = size === 0 ? undefined : (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer;
      const isIncomplete = last !== undefined && last.toString() !== "\n";
      await file.appendFile(isIncomplete ? `\n${lines}` : lines);
    } finally {
      await file.close();
    }
  });
}

/** Sets a variable in the home's `.env`, which only its owner may read; undefined removes it. Rejects when writing fails. */
export async function setHomeVariable(home: string, name: string, value: string | undefined): Promise<void> {
  const written = value === undefined ? [] : [`${name}=${quoted(value)}`];
  await changeFile(home, ".env", (text) => withVariable(text, name, written));
}

/** Replaces the first line of the variable, and removes its other lines; a new variable goes to the end. */
function withVariable(text: string, name: string, written: readonly string[]): string {
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const isOurs = (candidate: string): boolean => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(candidate);
  // The last assignment would win; a reader could take an earlier one for the value.
  const kept = lines.filter((candidate) => !isOurs(candidate));
  const at = lines.findIndex(isOurs);
  const changed = at < 0 ? [...kept, ...written] : kept.toSpliced(at, 0, ...written);
  return changed.length === 0 ? "" : `${changed.join("\n")}\n`;
}

/** Sets the model in config.yaml, and keeps comments and order. Rejects for invalid YAML, and when writing fails. */
export async function setHomeModel(
  home: string,
  model: { readonly provider: string; readonly model: string; readonly baseUrl: string | undefined },
): Promise<void> {
  const { withSection } = await import("./yaml.ts");
  const values = { provider: model.provider, default: model.model, base_url: model.baseUrl };
  await changeConfig(home, "the model", (text) => withSection(text, "model", values));
}

/** Adds a plugin to `plugins.enabled` in config.yaml, or removes it, as `setHomeModel`. */
export async function setPluginEnabled(home: string, name: string, isEnabled: boolean): Promise<void> {
  const { withListed } = await import("./yaml.ts");
  await changeConfig(home, `the plugin ${name}`, (text) => {
    const enabled = withListed(text, ["plugins", "enabled"], name, isEnabled);
    return isEnabled ? withListed(enabled, ["plugins", "disabled"], name, false) : enabled;
  });
}

/** Sets a switch of the section `learning` in config.yaml, as `setHomeModel`. */
export async function setLearningSwitch(home: string, name: string, isOn: boolean): Promise<void> {
  const { withSection } = await import("./yaml.ts");
  await changeConfig(home, `the switch learning.${name}`, (text) => withSection(text, "learning", { [name]: isOn }));
}

/**
 * Adds an MCP server to config.yaml. Values that only the user knows go to `.env`, under names that begin with the server's.
 * Rejects for a name that is taken, and as `setHomeModel`.
 */
export async function addHomeServer(home: string, { name, section, variables }: HermesAddServer): Promise<void> {
  const { parseYaml, withSetting } = await import("./yaml.ts");
  const stored = Object.entries(variables).map(([key, value]) => {
    return { key, value, variable: `MCP_${name}_${key}`.toUpperCase().replaceAll(/\W/g, "_") };
  });
  const filled = Object.fromEntries(stored.map(({ key, variable }) => [key, `\${${variable}}`]));
  const values =
    "url" in section
      ? { ...section, headers: { ...section.headers, ...filled } }
      : { ...section, env: { ...section.env, ...filled } };
  await changeConfig(home, `the server ${name}`, (text) => {
    const servers: unknown = Object(parseYaml(text))["mcp_servers"];
    if (Object.hasOwn(Object(servers), name)) throw new Error(`there is a server ${name} already`);
    return withSetting(text, ["mcp_servers", name], JSON.stringify(values));
  });
  for (const { variable, value } of stored) await setHomeVariable(home, variable, value);
}

/** Removes an MCP server from config.yaml. Rejects for an unknown name, and as `setHomeModel`. */
export async function removeHomeServer(home: string, name: string): Promise<void> {
  const { parseYaml, withSetting } = await import("./yaml.ts");
  await changeConfig(home, `the removal of ${name}`, (text) => {
    const servers: unknown = Object(parseYaml(text))["mcp_servers"];
    if (!Object.hasOwn(Object(servers), name)) throw new Error(`there is no server ${name}`);
    const path = Object.keys(Object(servers)).length === 1 ? ["mcp_servers"] : ["mcp_servers", name];
    return withSetting(text, path, undefined).replace(/^\{\}\n$/, "");
  });
}

/** Changes config.yaml by its text. `subject`: the value for the error. Rejects, too, when `change` throws. */
export async function changeConfig(home: string, subject: string, change: (text: string) => string): Promise<void> {
  try {
    await changeFile(home, "config.yaml", change);
  } catch (error) {
    const [reason] = messageOf(error).split("\n", 1);
    throw new Error(`Could not write ${subject} to ${join(home, "config.yaml")}: ${reason}`, { cause: error });
  }
}

/** Quotes a value that dotenv would cut or change as a bare word. */
function quoted(value: string): string {
  if (/^[\w.:/@+=-]+$/.test(value)) return value;
  return value.includes("'") ? `"${value}"` : `'${value}'`;
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  }
}

async function changeFile(home: string, name: string, change: (text: string) => string): Promise<void> {
  const path = join(home, name);
  makeFolder(home, 0o700);
  await withLock(`${path}.lock`, async () => {
    // A symbolic link, such as one into a repository of settings, stays.
    const target = await realpath(path).catch(() => path);
    await replaceFile(target, change(await readOrEmpty(target)));
  });
}

/** Undefined when no file can be reached. Each write makes another inode, and a time alone is too coarse. */
export function fileVersion(path: string): string | undefined {
  // An error takes ten times as long. One is left: a folder that this user may not enter.
  const stat = attempt(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return stat?.isFile() ? `${stat.ino}:${stat.mtimeNs}:${stat.size}` : undefined;
}
