// The extension-host suite of test/vscode: bundles it, and runs it in VS Code's server through a browser.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format } from "node:util";
import { createVSIX } from "@vscode/vsce";
import * as esbuild from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { lazySchemas } from "./lazy-schemas.ts";
import { projectFolder, resultsFolder } from "./project.ts";
import { readyMade } from "./ready-made.ts";
import { chromiumArguments, ensureChromium } from "./system-programs.ts";
import { installExtension, startVSCodeServer, type VSCodeServer } from "./vscode-server.ts";

/** First characters of every line of the report, as test/vscode/index.ts writes it. */
const LINE_MARK = "[suite] ";

const SUITE_LIMIT_MS = 15 * 60_000;

/** Limit for loading the window: a busy machine of two cores may take ten times as long as a quiet one. */
const LOAD_LIMIT_MS = 120_000;

const suiteSources = join(projectFolder, "test", "vscode");

/** Numbers of tests that ran. */
export type SuiteCounts = { readonly passed: number; readonly failed: number };

/**
 * Bundles test/vscode for an extension host, which loads CommonJS; of the suites only the named ones, if any are.
 * Resolves with the path of the runner's bundle. @throws when a name is that of no suite.
 */
export async function buildSuite(only: readonly string[] = []): Promise<string> {
  const outdir = join(projectFolder, "dist", "test");
  rmSync(outdir, { recursive: true, force: true });
  const all = readdirSync(join(suiteSources, "suites")).filter((file) => file.endsWith(".test.ts"));
  const suites = only.length === 0 ? all : only.map((name) => `${name}.test.ts`);
  const unknown = suites.find((file) => !all.includes(file));
  if (unknown !== undefined) throw new Error(`There is no suite ${unknown} in test/vscode/suites.`);
  await esbuild.build({
    bundle: true,
    entryPoints: {
      "vscode-suite": join(suiteSources, "index.ts"),
      ...Object.fromEntries(
        suites.map((file) => [`suites/${file.slice(0, -".ts".length)}`, join(suiteSources, "suites", file)]),
      ),
    },
    outdir,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    // The agent's code reads files beside itself, and this format has no import.meta.
    define: { "import.meta.url": "__moduleUrl" },
    banner: { js: 'const __moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
    platform: "node",
    target: "node22",
    mainFields: ["module", "main"],
    external: ["vscode", "mocha"],
    plugins: [readyMade, lazySchemas], // as in the bundles
    sourcemap: "inline",
    logLevel: "warning",
  });
  return join(outdir, "vscode-suite.cjs");
}

/** Temporary home, workspace and user data for one run of the suite, and the environment that points to them. */
export function suiteFolders() {
  const root = mkdtempSync(join(tmpdir(), "hermes-vscode-suite-"));
  const workspace = join(root, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(workspace, "a.txt"), "one\ntwo\nthree\n");
  mkdirSync(resultsFolder, { recursive: true });
  const resultsFile = join(resultsFolder, "vscode-suite.json");
  rmSync(resultsFile, { force: true });
  return {
    root,
    workspace,
    resultsFile,
    userDataFolder: join(root, "user-data"),
    extensionsFolder: join(root, "extensions"),
    env: { HERMES_HOME: join(root, "home"), HERMES_PROVIDER: "offline", HERMES_TEST_RESULTS: resultsFile },
  };
}

/** Packages the extension that offers VS Code a language model for the suite; resolves with the package's path. */
export async function packageModelProvider(folder: string): Promise<string> {
  const packagePath = join(folder, "model-provider.vsix");
  await createVSIX({
    cwd: join(suiteSources, "model-provider"),
    packagePath,
    dependencies: false,
    allowMissingRepository: true,
    skipLicense: true,
  });
  return packagePath;
}

/** Counts from the `resultsFile` of the suite; a run without that file counts as one failure. */
export function readCounts(resultsFile: string): SuiteCounts {
  if (!existsSync(resultsFile)) return { passed: 0, failed: 1 };
  const { passed, failed }: SuiteCounts = JSON.parse(readFileSync(resultsFile, "utf8"));
  return { passed, failed };
}

/** Runs the suites, or `only` some, against the built extension in this folder. Their reports go to the terminal. */
export async function runSuite(only: readonly string[] = []): Promise<SuiteCounts> {
  const suite = await buildSuite(only);
  const executablePath = await ensureChromium();
  const { root, workspace, resultsFile, ...folders } = suiteFolders();
  const logFile = join(resultsFolder, "vscode-suite-server.log");
  await installExtension(await packageModelProvider(root), folders);
  const server = await startVSCodeServer({ ...folders, automation: true, logFile });
  let browser: Browser | undefined;
  try {
    browser = await chromium.launch({ executablePath, args: [...chromiumArguments] });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const code = await runInWindow(page, server, { suite, workspace });
    const counts = readCounts(resultsFile);
    if (code === 0 || counts.failed > 0) return counts;
    console.log(`The extension host ended with code ${code}.`);
    return { ...counts, failed: 1 };
  } finally {
    await browser?.close();
    await server.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Resolves with the exit code that the extension host's test runner reports to its window. */
async function runInWindow(
  page: Page,
  server: VSCodeServer,
  { suite, workspace }: { suite: string; workspace: string },
) {
  const { promise: exit, resolve, reject } = Promise.withResolvers<number>();
  await page.exposeFunction("codeAutomationLog", windowLog());
  await page.exposeFunction("codeAutomationExit", resolve);
  page.once("crash", () => reject(new Error("The browser's page crashed while the suite ran.")));
  void server.ended.then(() => reject(new Error(`VS Code's server ended while the suite ran: ${server.logFile}`)));
  const remote = `vscode-remote://${server.authority}`;
  await page.goto(
    server.windowUrl(workspace, [
      ["extensionDevelopmentPath", `${remote}${projectFolder}`],
      ["extensionTestsPath", `${remote}${suite}`],
    ]),
    { timeout: LOAD_LIMIT_MS },
  );
  const limit = setTimeout(() => {
    reject(new Error(`The suite in the extension host did not end within ${SUITE_LIMIT_MS / 60_000} minutes.`));
  }, SUITE_LIMIT_MS);
  return exit.finally(() => clearTimeout(limit));
}

/** Prints the lines of the report. Everything else that the window logs goes to a file next to the results. */
function windowLog(): (type: string, args: readonly unknown[]) => void {
  const file = join(resultsFolder, "vscode-suite-window.log");
  writeFileSync(file, "");
  return (type, args) => {
    const text = format(...args);
    const report = text.split("\n").filter((line) => line.startsWith(LINE_MARK));
    for (const line of report) console.log(line.slice(LINE_MARK.length));
    if (report.length === 0) appendFileSync(file, `${type}: ${text}\n`);
  };
}
