/**
 * Merges the chunks that every start of the agent and most first prompts load into one file. Splitting makes a chunk for
 * each set of programs and lazily loaded parts that share code. Node takes half a millisecond to find and link each chunk.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";

type Output = {
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
  readonly exports: readonly string[];
};
type Outputs = Readonly<Record<string, Output>>;

const MERGED = "core.js";

/**
 * `programs`: outputs whose static imports are merged, apart from those of `launchers`, which stay small. Replaces the
 * files in `folder`, the folder of the chunks.
 */
export async function mergeChunks(
  outputs: Outputs,
  {
    folder,
    programs,
    launchers,
  }: { readonly folder: string; readonly programs: readonly string[]; readonly launchers: readonly string[] },
): Promise<void> {
  const early = importedBy(outputs, launchers);
  const merged = [...importedBy(outputs, programs)].filter((path) => !early.has(path) && !programs.includes(path));
  const names = new Map(merged.map((path, index) => [path.slice(folder.length + 1), `m${index}`]));
  const contents = merged.map((path) => {
    const file = path.slice(folder.length + 1);
    const list = outputs[path]?.exports.map((name) => `${name} as ${names.get(file)}_${name}`) ?? [];
    return `export { ${list.join(", ")} } from "./${file}";`;
  });
  await esbuild.build({
    stdin: { contents: contents.join("\n"), resolveDir: folder },
    outfile: join(folder, MERGED),
    ...{ bundle: true, minify: true, sourcemap: "linked", sourcesContent: false, platform: "node", target: "node22" },
    ...{ format: "esm", legalComments: "none", logLevel: "error", plugins: [keepOthers(names)] },
  });
  for (const path of merged) for (const file of [path, `${path}.map`]) rmSync(file, { force: true });
  for (const file of readdirSync(folder)) {
    if (!file.endsWith(".js") || file === MERGED) continue;
    const path = join(folder, file);
    writeFileSync(path, withMergedImports(readFileSync(path, "utf8"), names));
  }
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
