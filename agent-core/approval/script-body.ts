/** The text behind `npm test` or `make check`: a grant for the name ends when the text changes. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";

const manifestSchema = z.object({ scripts: z.record(z.string(), z.string()).default({}) });
const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];
const OWN_SCRIPTS: ReadonlyMap<string, string> = new Map([
  ["t", "test"],
  ["tst", "test"],
  ["test", "test"],
  ["start", "start"],
  ["stop", "stop"],
  ["restart", "restart"],
]);
const RUNNERS = new Set(["run", "run-script", "rum", "urn"]);

/**
 * A hash of what a package script or a make target stands for when it is run in `cwd`; undefined when the command runs
 * neither. `words` are those of the simple command.
 */
export function scriptBody(words: readonly string[], cwd: string): string | undefined {
  const [program = ""] = words;
  if (program === "make" || program === "gmake") return hash(makefile(cwd));
  const script = scriptName(words);
  return script === undefined ? undefined : hash(packageScript(script, cwd));
}

/** Number of words that name a package script: 2 for `npm test`, 3 for `npm run lint`; 0 when there is none. */
export function scriptWords(words: readonly string[]): number {
  if (scriptName(words) === undefined) return 0;
  return RUNNERS.has(words[1] ?? "") ? 3 : 2;
}

function scriptName([program = "", verb = "", target]: readonly string[]): string | undefined {
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(program)) return undefined;
  if (RUNNERS.has(verb)) return target?.startsWith("-") ? undefined : target;
  const own = OWN_SCRIPTS.get(verb);
  if (own !== undefined) return own;
  // yarn and pnpm run a script by its bare name.
  return program === "npm" || !/^[a-z][\w:.-]*$/i.test(verb) ? undefined : verb;
}

function packageScript(script: string, cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const text = read(join(folder, "package.json"));
    if (text !== undefined) return bodies(text, script);
    if (dirname(folder) === folder) return "";
  }
}

/** The script with what runs before and after it; the whole file when it cannot be read as a manifest. */
function bodies(text: string, script: string): string {
  try {
    const { scripts } = manifestSchema.parse(JSON.parse(text));
    return [`pre${script}`, script, `post${script}`].map((name) => `${name}: ${scripts[name] ?? ""}`).join("\n");
  } catch {
    return text; // no manifest, or a broken one: any change of it counts
  }
}

function makefile(cwd: string): string {
  return MAKEFILES.map((name) => read(join(cwd, name))).find((text) => text !== undefined) ?? "";
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // missing or unreadable: there is no such script here
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
