/** Writes into the user's own files of the home: only what is asked, everything else stays as they wrote it. */
import { chmod, mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Sets a variable in the home's `.env`, which only its owner may read. Rejects when it cannot be written. */
export async function setHomeVariable(home: string, name: string, value: string): Promise<void> {
  const path = join(home, ".env");
  const text = await readOrEmpty(path);
  const line = `${name}=${quoted(value)}`;
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const isOurs = (candidate: string): boolean => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(candidate);
  // The last assignment holds; earlier ones would be a trap for whoever reads the file.
  const kept = lines.filter((candidate) => !isOurs(candidate));
  const at = lines.findIndex(isOurs);
  const written = at < 0 ? [...kept, line] : kept.toSpliced(at, 0, line);
  await writePrivate(home, path, `${written.join("\n")}\n`);
}

/** Sets the model in config.yaml, its comments and order kept. Rejects when the file is no YAML or cannot be written. */
export async function setHomeModel(
  home: string,
  model: { readonly provider: string; readonly model: string; readonly baseUrl: string | undefined },
): Promise<void> {
  const { withSection } = await import("./yaml.ts");
  const path = join(home, "config.yaml");
  const values = { provider: model.provider, default: model.model, base_url: model.baseUrl };
  try {
    await writePrivate(home, path, withSection(await readOrEmpty(path), "model", values));
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    throw new Error(`The model could not be written into ${path}: ${reason}`, { cause: error });
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
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

async function writePrivate(home: string, name: string, text: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  // A link into somebody's repository of settings stays a link.
  const path = await realpath(name).catch(() => name);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
