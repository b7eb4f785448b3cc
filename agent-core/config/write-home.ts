/**
 * Sets single values in the user's files of the home. Everything else stays as the user or another process wrote it.
 */
import { mkdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { hasCode, messageOf } from "../platform/errors.ts";
import { withLock } from "../platform/locks/with-lock.ts";
import { replaceFile } from "./home-file.ts";

/** Sets a variable in the home's `.env`, which only its owner may read. Rejects when writing fails. */
export async function setHomeVariable(home: string, name: string, value: string): Promise<void> {
  await changeFile(home, ".env", (text) => withVariable(text, name, `${name}=${quoted(value)}`));
}

/** Replaces the first line of the variable, and removes its other lines; a new variable goes to the end. */
function withVariable(text: string, name: string, line: string): string {
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const isOurs = (candidate: string): boolean => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(candidate);
  // The last assignment would win; a reader could take an earlier one for the value.
  const kept = lines.filter((candidate) => !isOurs(candidate));
  const at = lines.findIndex(isOurs);
  const written = at < 0 ? [...kept, line] : kept.toSpliced(at, 0, line);
  return `${written.join("\n")}\n`;
}

/** Sets the model in config.yaml, and keeps comments and order. Rejects for invalid YAML, and when writing fails. */
export async function setHomeModel(
  home: string,
  model: { readonly provider: string; readonly model: string; readonly baseUrl: string | undefined },
): Promise<void> {
  const { withSection } = await import("./yaml.ts");
  const values = { provider: model.provider, default: model.model, base_url: model.baseUrl };
  try {
    await changeFile(home, "config.yaml", (text) => withSection(text, "model", values));
  } catch (error) {
    const [reason] = messageOf(error).split("\n", 1);
    throw new Error(`Could not write the model to ${join(home, "config.yaml")}: ${reason}`, { cause: error });
  }
}

/** Quotes a value that dotenv would cut or change as a bare word. */
function quoted(value: string): string {
  if (/^[\w.:/@+=-]+$/.test(value)) return value;
  return value.includes("'") ? `"${value}"` : `'${value}'`;
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  }
}

async function changeFile(home: string, name: string, change: (text: string) => string): Promise<void> {
  const path = join(home, name);
  await mkdir(home, { recursive: true, mode: 0o700 });
  await withLock(`${path}.lock`, async () => {
    // A symbolic link, such as one into a repository of settings, stays.
    const target = await realpath(path).catch(() => path);
    await replaceFile(target, change(await readOrEmpty(target)));
  });
}
