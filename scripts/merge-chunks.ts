/**
 * Merges the chunks that every start of the agent and most first prompts load into one function, whose compiled code is kept
 * from start to start (scripts/compiled-core.ts). Splitting makes a chunk for each set of programs and lazily loaded parts
 * that share code. Node takes half a millisecond to find and link each chunk.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

type Output = {
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
  readonly exports: readonly string[];
};
type Outputs = Readonly<Record<string, Output>>;

/** Module with the exports of the merged chunks. */
const MERGED = "core.js";
/** The code of that module. */
const CODE = "core.cjs";
const RUNTIME = fileURLToPath(import.meta.resolve("./compiled-core.ts"));

/** Opens the function that the code is. `$chunk` has the length of `import`, which it replaces: the source map stays true. */
const BANNER = '"use strict"; (function ({ require, $chunk, location, __KEEP_COMPILED_CODE__, provide }) {';

const common = { bundle: true, minify: true, sourcesContent: false, platform: "node", target: "node22" } as const;
const quiet = { legalComments: "none", logLevel: "error" } as const;

/**
 * `programs`: outputs whose static imports are merged, apart from those of `launchers`, which stay small. `parts`: outputs that
 * are merged as a whole; a small file stays in place of each. Replaces the files in `folder`, the folder of the chunks.
 */
export async function mergeChunks(
  outputs: Outputs,
  {
    folder,
    programs,
    parts,
    launchers,
  }: { readonly folder: string } & Readonly<Record<"programs" | "parts" | "launchers", readonly string[]>>,
): Promise<void> {
  const left = new Set([...importedBy(outputs, launchers), ...programs]);
  const merged = [...importedBy(outputs, [...programs, ...parts])].filter((path) => !left.has(path));
  const fileOf = (path: string): string => path.slice(folder.length + 1);
  const names = new Map(merged.map((path, index) => [fileOf(path), `m${index}`]));
  const exported = merged.flatMap((path) =>
    (outputs[path]?.exports ?? []).map((name) => ({
      file: fileOf(path),
      name,
      as: `${names.get(fileOf(path))}_${name}`,
    })),
  );
  const imports = exported.map(({ file, name, as }) => `import { ${name} as ${as} } from "./${file}";`);
  const list = exported.map(({ as }) => as).join(", ");
  await esbuild.build({
    stdin: { contents: `${imports.join("\n")}provide([${list}]);`, resolveDir: folder },
    outfile: join(folder, CODE),
    ...{ ...common, ...quiet, format: "cjs", sourcemap: "linked", plugins: [keepOthers(names)] },
    define: { "import.meta.url": "location" },
    ...{ banner: { js: BANNER }, footer: { js: "})" } },
  });
  const code = asScript(readFileSync(join(folder, CODE), "utf8"));
  writeFileSync(join(folder, CODE), code);
  const hash = createHash("sha256").update(code).digest("hex").slice(0, 16);
  const needed = [...new Set([...code.matchAll(/\brequire\("(\.[^"]*)"\)/g)].map(([, id = ""]) => id))];
  const module = [
    `import { runCompiled } from ${JSON.stringify(RUNTIME)};`,
    ...needed.map((id, index) => `import * as needed${index} from "${id}";`),
    `const modules = { ${needed.map((id, index) => `"${id}": needed${index}`).join(", ")} };`,
    `const parts = { ${parts.map((path) => partOf(fileOf(path), exported)).join(", ")} };`,
    `const place = { url: new URL("./${CODE}", import.meta.url).href, hash: "${hash}" };`,
    `export const [${list}] = runCompiled(place, modules, (id) => parts[id]?.() ?? import(id));`,
  ];
  await esbuild.build({
    stdin: { contents: module.join("\n"), resolveDir: folder },
    outfile: join(folder, MERGED),
    ...{ ...common, ...quiet, format: "esm", plugins: [keepOthers(new Map())] },
  });
  for (const path of merged) for (const file of [path, `${path}.map`]) rmSync(file, { force: true });
  for (const path of parts) {
    const own = exported.filter(({ file }) => file === fileOf(path)).map(({ name, as }) => `${as} as ${name}`);
    writeFileSync(path, `export{${own.join(",")}}from"./${MERGED}";`);
  }
  for (const file of readdirSync(folder)) {
    if (!file.endsWith(".js") || file === MERGED) continue;
    const path = join(folder, file);
    writeFileSync(path, withMergedImports(readFileSync(path, "utf8"), names));
  }
}

type Exported = { readonly file: string; readonly name: string; readonly as: string };

/** Member of an object with the functions that stand for an `import` of a merged file: Node takes half a millisecond for one. */
function partOf(part: string, exported: readonly Exported[]): string {
  const own = exported.filter(({ file }) => file === part).map(({ name, as }) => `${name}: ${as}`);
  return `"./${part}": async () => ({ ${own.join(", ")} })`;
}

/**
 * The text of a bundle as a script, which has no `import`, in ASCII: V8 needs twice the time and memory for a text with other
 * letters, and esbuild leaves those of regular expressions.
 */
function asScript(text: string): string {
  return text
    .replaceAll(/(?<![.\w$])import(?=\(")/g, "$$chunk")
    .replaceAll(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Files that these load at once. */
function importedBy(outputs: Outputs, roots: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...roots];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    open.push(
      ...(outputs[path]?.imports ?? [])
        .filter(({ kind, path: to }) => kind === "import-statement" && to in outputs)
        .map(({ path: to }) => to),
    );
  }
  return found;
}

function keepOthers(names: ReadonlyMap<string, string>): esbuild.Plugin {
  return {
    name: "keep-others",
    setup(build) {
      build.onResolve({ filter: /^\.\// }, ({ path, kind }) =>
        kind !== "dynamic-import" && names.has(path.slice(2)) ? undefined : { path, external: true },
      );
    },
  };
}

/** The text of an output with its imports from merged chunks. esbuild writes all of them in this form. */
export function withMergedImports(text: string, names: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /import(?:\{([^}]*)\}from)?"\.\/([\w-]+\.js)"/g,
    (all, list: string | undefined, file: string) => {
      const prefix = names.get(file);
      if (prefix === undefined) return all;
      if (list === undefined) return `import"./${MERGED}"`;
      return `import{${list
        .split(",")
        .map((name) => `${prefix}_${name.trim().replace(/^([\w$]+)$/, "$1 as $1")}`)
        .join(",")}}from"./${MERGED}"`;
    },
  );
}
