/**
 * Writes into the user's own files of the home: only what is asked, everything else stays as they wrote it, or as
 * another process has written it meanwhile.
 */
import { mkdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { hasCode, messageOf } from "../platform/errors.ts";
import { withLock } from "../platform/locks/with-lock.ts";
import { replaceFile } from "./replace-file.ts";

/** Sets a variable in the home's `.env`, which only its owner may read. Rejects when it cannot be written. */
export async function setHomeVariable(home: string, name: string, value: string): Promise<void> {
  await changeFile(home, ".env", (text) => withVariable(text, name, `${name}=${quoted(value)}`));
}

/** `text` with this one line for the variable, where the first one of it stood, else at the end. */
function withVariable(text: string, name: string, line: string): string {
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const isOurs = (candidate: string): boolean => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(candidate);
  // The last assignment holds; earlier ones would be a trap for whoever reads the file.
  const kept = lines.filter((candidate) => !isOurs(candidate));
  const at = lines.findIndex(isOurs);
  const written = at < 0 ? [...kept, line] : kept.toSpliced(at, 0, line);
  return `${written.join("\n")}\n`;
}

/** Sets the model in config.yaml, its comments and order kept. Rejects when the file is no YAML or cannot be written. */
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
    throw new Error(`The model could not be written into ${join(home, "config.yaml")}: ${reason}`, { cause: error });
  }
}

/** As dotenv reads it: quotes where a bare word would be cut or changed. */
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
    // A link into somebody's repository of settings stays a link.
    const target = await realpath(path).catch(() => path);
    await replaceFile(target, change(await readOrEmpty(target)));
  });
}
