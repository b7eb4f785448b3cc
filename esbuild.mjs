// Builds the bundles into dist/: extension (CommonJS, for VS Code), core (worker, acp, cli; ES modules that share chunks),
// webview (the chat panel) and learning (a page of its own, which adds nothing to the chat's start). `--watch` rebuilds on change; metafiles go to dist/meta for the size check.
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import * as esbuild from "esbuild";
import { grammars } from "./agent-core/host/syntax/syntax-problems.ts";
import { lazyBuiltins } from "./scripts/lazy-builtins.ts";
import { lazySchemas } from "./scripts/lazy-schemas.ts";
import { mergeChunks } from "./scripts/merge-chunks.ts";
import { packedModels } from "./scripts/packed-models.ts";
import { readyMade } from "./scripts/ready-made.ts";

const watch = process.argv.includes("--watch");
const { version } = JSON.parse(readFileSync("package.json", "utf8"));

const shared = {
  bundle: true,
  minify: true,
  sourcemap: "linked",
  sourcesContent: false,
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
  loader: { ".ttf": "file" },
  define: { __VERSION__: JSON.stringify(version) },
};

// Some dependencies of the core are CommonJS and ask for Node's own modules by require. A chunk that uses none of these names
// does no work for them, and the merged chunk drops them: 170 calls of createRequire took 1 ms of each start.
const requireForCommonJs = [
  'const require = (id) => process.getBuiltinModule("node:module").createRequire(import.meta.url)(id);',
  "const __dirname = /* @__PURE__ */ (() => import.meta.dirname)();",
  "const __filename = /* @__PURE__ */ (() => import.meta.filename)();",
].join(" ");

// The other form of some packages asks for its own files in a way that a bundler does not see.
const mainFields = ["module", "main"];

// The page asks for the font of the icons beside the style sheet, by its plain name.
const plainFontNames = {
  name: "plain-font-names",
  setup(build) {
    const rest = /\?.*$/;
    build.onResolve({ filter: /\.ttf\?/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace(rest, "")),
    }));
  },
};

const webview = {
  ...shared,
  plugins: [plainFontNames],
  outdir: "dist/webview",
  platform: "browser",
  target: "es2022",
  format: "esm",
  assetNames: "[name]",
  jsx: "automatic",
  jsxImportSource: "preact",
  alias: { react: "preact/compat", "react-dom": "preact/compat", "react/jsx-runtime": "preact/jsx-runtime" },
};

const node = {
  ...shared,
  outdir: "dist",
  chunkNames: "chunks/[name]-[hash]",
  platform: "node",
  mainFields,
  target: "node22",
  format: "esm",
  splitting: true,
  banner: { js: requireForCommonJs },
};

// It reads its own files by their place in its package, so it stays a package: dist/playwright-core, seen from dist/chunks.
const playwright = {
  name: "playwright",
  setup(build) {
    build.onResolve({ filter: /^playwright-core$/ }, () => ({ path: "../playwright-core/index.mjs", external: true }));
  },
};

const bundles = {
  extension: {
    ...shared,
    entryPoints: { extension: "extension/extension.ts" },
    outdir: "dist",
    outExtension: { ".js": ".cjs" },
    platform: "node",
    mainFields,
    target: "node22",
    format: "cjs",
    external: ["vscode"],
    plugins: watch ? [] : [lazySchemas],
  },
  core: {
    entryPoints: {
      worker: "agent-core/entry/worker.ts",
      acp: "agent-core/entry/acp.ts",
      cli: "cli/main.ts",
      "session-index": "agent-core/sessions/index/index-worker.ts",
      "page-worker": "agent-core/web/page-worker.ts",
    },
    ...node,
    plugins: watch ? [playwright] : [playwright, readyMade, lazyBuiltins, lazySchemas, packedModels],
    // Seen from dist/chunks, where the lazily loaded index and the parsers are.
    define: {
      ...shared.define,
      __SQL_WASM__: '"../sql-wasm.wasm"',
      __GRAMMARS__: '"../grammars"',
      __INDEX_WORKER__: '"../session-index.js"',
      __PAGE_WORKER__: '"../page-worker.js"',
      __ADAPTER_PROCESS__: '"../gateway/adapter-process.js"',
      __PLUGIN_PROCESS__: '"../plugin-process.js"',
      __SKILLS__: '"../skills"',
      __OPTIONAL_SKILLS__: '"../optional-skills"',
      __SCRIPT_FILES__: '"../script-files"',
    },
  },
  // By itself, so that a plugin starts with one file: it runs in a process and a thread, and each of them loads every chunk.
  // In a folder of its own: the extension's package leaves it out.
  gateway: {
    ...node,
    outdir: "dist/gateway",
    keepNames: true, // grammY's fetch knows a signal by the name of its class
    entryPoints: { "adapter-process": "gateway/adapters/adapter-process.ts" },
  },
  plugin: { ...node, entryPoints: { "plugin-process": "agent-core/plugins/plugin-process.ts" } },
  webview: {
    ...webview,
    entryPoints: { main: "webview/main.tsx" },
    chunkNames: "chunks/[name]-[hash]",
    splitting: true,
  },
  learning: { ...webview, entryPoints: { learning: "webview/learning.tsx" } },
};

const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const chosen = Object.entries(bundles).filter(([name]) => only === undefined || only.split(",").includes(name));

if (only === undefined) rmSync("dist", { recursive: true, force: true });
mkdirSync("dist/meta", { recursive: true });
for (const [name, options] of chosen) {
  if (watch) {
    const context = await esbuild.context({ ...options, logLevel: "info" });
    await context.watch();
    continue;
  }
  const { metafile } = await esbuild.build(options);
  writeFileSync(`dist/meta/${name}.json`, JSON.stringify(metafile));
  if (name === "core") {
    const programOf = (file) =>
      Object.keys(metafile.outputs).find((path) => metafile.outputs[path].entryPoint === file);
    const programs = ["agent-core/entry/stdio.ts", "agent-core/entry/port.ts"].map(programOf);
    const parts = [
      ...["cli/run.ts", "cli/commands/chat.ts", "cli/chat/one-shot.ts", "agent-core/skills/bundled.gen.ts"],
      ...["agent-core/providers/wire/chat-completions.ts", "agent-core/providers/dialect/written-parts.ts"],
    ].map(programOf);
    const launchers = ["dist/acp.js", "dist/cli.js", "dist/worker.js", "dist/session-index.js"];
    await mergeChunks(metafile.outputs, { folder: "dist/chunks", programs, parts, launchers });
  }
  if (name === "core") copyWebAssembly();
  if (name === "core") await copyPlaywright();
  if (name === "core") cpSync("agent-core/skills/bundled", "dist/skills", { recursive: true });
  if (name === "core") cpSync("agent-core/skills/optional", "dist/optional-skills", { recursive: true });
  if (name === "core") cpSync("agent-core/execute-code/script-files", "dist/script-files", { recursive: true });
  if (name === "core") for (const file of ["dist/acp.js", "dist/cli.js"]) chmodSync(file, 0o755);
}

function copyWebAssembly() {
  copyFileSync("node_modules/sql.js/dist/sql-wasm.wasm", "dist/sql-wasm.wasm");
  const parsers = "node_modules/@vscode/tree-sitter-wasm/wasm";
  mkdirSync("dist/grammars", { recursive: true });
  for (const file of [
    "tree-sitter",
    ...new Set([...Object.values(grammars), "powershell"].map((grammar) => `tree-sitter-${grammar}`)),
  ]) {
    copyFileSync(`${parsers}/${file}.wasm`, `dist/grammars/${file}.wasm`);
  }
}

/** The parts of the package that run a browser, minified. A build that finds them does nothing. */
async function copyPlaywright() {
  const [from, to] = ["node_modules/playwright-core", "dist/playwright-core"];
  const manifest = readFileSync(`${from}/package.json`, "utf8");
  if (existsSync(`${to}/package.json`) && readFileSync(`${to}/package.json`, "utf8") === manifest) return;
  mkdirSync(`${to}/lib`, { recursive: true });
  for (const file of ["browsers.json", "index.js", "index.mjs", "LICENSE", "NOTICE", "ThirdPartyNotices.txt"]) {
    copyFileSync(`${from}/${file}`, `${to}/${file}`);
  }
  for (const file of ["bootstrap", "coreBundle", "package", "serverRegistry", "utilsBundle"]) {
    const { code } = await esbuild.transform(readFileSync(`${from}/lib/${file}.js`, "utf8"), { minify: true });
    writeFileSync(`${to}/lib/${file}.js`, code);
  }
  writeFileSync(`${to}/package.json`, manifest);
}
