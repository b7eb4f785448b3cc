import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Output = {
  readonly entryPoint?: string;
  readonly bytes: number;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
  readonly inputs: Readonly<Record<string, unknown>>;
};

/** Libraries that every start may load. */
const LIBRARIES = ["@zed-industries/agent-client-protocol", "ignore", "jsonrepair", "zod"];
/** Rooms of single tools, which the tools load with their first call. */
const ROOMS = /^agent-core\/(?:browser|execute-code|orchestration|web)\//;
/** Parts of these rooms that find out what a session offers. */
const SMALL_PARTS = [
  ...["browser/find-browser", "browser/page-address", "browser/session-browser"],
  ...["execute-code/session-scripts", "web/web-access"],
].map((name) => `agent-core/${name}.ts`);
/** Size of the code of a start. Node takes 20 ms for 770 kB. */
const MAX_BYTES = 860_000;

const { outputs }: { readonly outputs: Readonly<Record<string, Output>> } = JSON.parse(
  readFileSync("dist/meta/core.json", "utf8"),
);

/** Bundled files that a program loads before anything is imported dynamically, and their size. */
function startOf(program: string) {
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === program);
  const found = new Set<string>();
  const open = entry === undefined ? [] : [entry];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    const imports = outputs[path]?.imports ?? [];
    open.push(
      ...imports.filter(({ kind, path: to }) => kind === "import-statement" && to in outputs).map((to) => to.path),
    );
  }
  return {
    files: [...found].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {})),
    bytes: [...found].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0),
  };
}

test.each(["agent-core/entry/stdio", "cli/chat/one-shot", "agent-core/entry/port"])(
  "%s starts without the code of tools that a session may never call",
  (name) => {
    const { files, bytes } = startOf(`${name}.ts`);
    const libraries = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
    expect([...new Set(libraries)].sort()).toEqual(LIBRARIES);
    expect(files.filter((file) => ROOMS.test(file)).sort()).toEqual(SMALL_PARTS);
    expect(bytes).toBeLessThan(MAX_BYTES);
  },
);

test("No file of a start exports a variable that changes: the merged chunk hands its exports over once", () => {
  const files = startOf("agent-core/entry/stdio.ts").files.filter((file) => existsSync(file));
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => /^export let /m.test(readFileSync(file, "utf8")))).toEqual([]);
});
