// npm run package: builds the extension and packs it into dist/hermes-vscode.vsix, and the agent alone into an npm package
// (dist/npm/*.tgz) with its entry for the ACP registry (dist/registry/hermes-vscode/).
// Fails if the extension exceeds its size limit, or if the packed agent does not run. Option: --extension (without the agent).

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { createVSIX } from "@vscode/vsce";
import { writeNotices } from "./notices.ts";
import { packageFile, projectFolder, resultsFolder } from "./project.ts";
import { runInTerminal, runLogged } from "./run-program.ts";

const MEGABYTE = 1_000_000;
const LIMIT_BYTES = 6 * MEGABYTE;
const LARGEST_SHOWN = 10;
const NOTICES = "THIRD-PARTY-NOTICES.txt";

/**
 * Builds the bundles and packs them; resolves with the path of the .vsix.
 * @throws when the build fails or the package is over 6 MB.
 */
export async function packageExtension(): Promise<string> {
  const build = await runInTerminal({ command: process.execPath, args: ["esbuild.mjs"], cwd: projectFolder });
  if (build !== 0) throw new Error(`node esbuild.mjs exited with code ${build}: nothing was packaged.`);
  mkdirSync(dirname(packageFile), { recursive: true });
  writeNotices(join(projectFolder, "dist", NOTICES));
  const { folder, files } = stageExtension();
  await createVSIX({
    cwd: folder,
    packagePath: packageFile,
    // Every dependency is inside the bundles.
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
  });
  reportSizes(files);
  return packageFile;
}

/** Programs that the extension starts. */
const EDITOR_PROGRAMS = ["dist/worker.js", "dist/acp.js", "dist/session-index.js", "dist/page-worker.js"];

type Outputs = Readonly<Record<string, { readonly imports: readonly { readonly path: string }[] }>>;

/**
 * Copies the files of the extension into a folder of their own: those that .vscodeignore lists, without the parts of the
 * command line, whose batches and chats have large libraries. To match each file of the repository takes vsce a minute.
 */
function stageExtension(): { readonly folder: string; readonly files: readonly string[] } {
  const folder = join(distFolder, "vsix");
  rmSync(folder, { recursive: true, force: true });
  const listed = readFileSync(".vscodeignore", "utf8").matchAll(/^!(.+)$/gm);
  const needed = new Set(partsOfEditor());
  const isPart = (file: string): boolean => !/^dist\/(?:chunks\/)?[^/]+\.js$/.test(file) || needed.has(file);
  const files = globSync([...listed].map(([, pattern = ""]) => pattern)).filter(
    (file) => isPart(file) && statSync(file).isFile(),
  );
  for (const file of files) copy(file, join(folder, file));
  return { folder, files };
}

/** Programs that the extension starts, with their chunks. */
function partsOfEditor(): readonly string[] {
  const { outputs }: { readonly outputs: Outputs } = JSON.parse(readFileSync("dist/meta/core.json", "utf8"));
  const needed = new Set<string>();
  for (const open = [...EDITOR_PROGRAMS]; open.length > 0; ) {
    const path = open.pop() ?? "";
    if (needed.has(path)) continue;
    needed.add(path);
    open.push(...(outputs[path]?.imports ?? []).map((imported) => imported.path));
  }
  return [...needed, "dist/chunks/core.js", "dist/plugin-process.js"];
}

function reportSizes(names: readonly string[]): void {
  const files = names
    .map((name) => ({ name, size: statSync(name).size }))
    .sort((left, right) => right.size - left.size);
  for (const { name, size } of files.slice(0, LARGEST_SHOWN)) console.log(`${kilobytes(size).padStart(12)}  ${name}`);
  const { size } = statSync(packageFile);
  const shownPath = relative(projectFolder, packageFile);
  console.log(`${kilobytes(size).padStart(12)}  ${shownPath} (${files.length} files, packed)`);
  if (size > LIMIT_BYTES) {
    throw new Error(`${shownPath} is over ${LIMIT_BYTES / MEGABYTE} MB: see dist/meta for what the bundles hold.`);
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** `npx NAME` runs the program with the name's last part. */
const PACKAGE_NAME = "@hermes-agent/hermes-acp";
const REGISTRY_ID = "hermes-vscode";

/** Files of dist/ that the agent needs outside VS Code. */
const FILES = [
  ...["acp.js", "cli.js", "session-index.js", "page-worker.js", "plugin-process.js"],
  ...[
    "gateway/*.js",
    "gateway/chunks/*.js",
    "chunks/*.{js,cjs}",
    "*.wasm",
    "grammars/*.wasm",
    "{skills,optional-skills}/*/SKILL.md",
    "script-files/*.py",
    "script-files/*.js",
  ],
  ...["playwright-core/*.*", "playwright-core/{LICENSE,NOTICE}", "playwright-core/lib/*"],
];

/** Time of `npx` for the first answer, on a busy machine. Milliseconds. */
const ANSWER_MS = 60_000;

type Manifest = {
  readonly version: string;
  readonly license: string;
  readonly repository: { readonly url: string };
};

/** English texts of package.json. */
type Texts = { readonly description: string };

const manifest: Manifest = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
const distFolder = join(projectFolder, "dist");

/** Packs the built agent, and runs it from the tarball without a network. Resolves with the tarball's path. */
export async function packageAgent(): Promise<string> {
  const folder = join(distFolder, "npm");
  rmSync(folder, { recursive: true, force: true });
  for (const file of globSync(FILES, { cwd: distFolder })) copy(join(distFolder, file), join(folder, file));
  copy(join(projectFolder, "LICENSE"), join(folder, "LICENSE"));
  writeNotices(join(folder, NOTICES));
  writeFileSync(join(folder, "README.md"), README);
  writeFileSync(join(folder, "package.json"), JSON.stringify(npmManifest(), undefined, 2));
  writeRegistryEntry();
  mkdirSync(resultsFolder, { recursive: true });
  const args = ["pack", "--silent", "--pack-destination", folder];
  const printed = await runLogged({ command: "npm", args, cwd: folder }, join(resultsFolder, "npm-pack.log"));
  const tarball = join(folder, printed.trim().split("\n").at(-1) ?? "");
  await checkTarball(tarball);
  console.log(`${(statSync(tarball).size / 1000).toFixed(1)} kB  ${tarball.slice(projectFolder.length + 1)}`);
  return tarball;
}

function npmManifest(): object {
  const { version, license, repository } = manifest;
  return {
    name: PACKAGE_NAME,
    version,
    description: "Hermes, a coding agent for every editor that speaks the Agent Client Protocol",
    ...{ license, repository, type: "module" },
    bin: { "hermes-acp": "acp.js", hermes: "cli.js" },
    engines: { node: ">=22" },
    files: [
      "**/*.js",
      "**/*.cjs",
      "**/*.wasm",
      "script-files",
      "skills",
      "optional-skills",
      "playwright-core",
      NOTICES,
    ],
  };
}

const README = `# Hermes over the Agent Client Protocol

\`npx ${PACKAGE_NAME}\` is the agent over standard input and output, for Zed, JetBrains, Neovim, Emacs and others. Add
\`--setup\` to choose a provider, a key and a model, and \`--check\` to see the model that would answer.
`;

/** Entry of the registry at agentclientprotocol.com: a manifest, and an icon of 16 pixels in the text's colour. */
function writeRegistryEntry(): void {
  const { version, license, repository } = manifest;
  const { description }: Texts = JSON.parse(readFileSync(join(projectFolder, "package.nls.json"), "utf8"));
  const entry = {
    ...{ id: REGISTRY_ID, name: "Hermes", version, description },
    repository: repository.url.replace(/\.git$/, ""),
    authors: ["Hermes"],
    license,
    distribution: { npx: { package: `${PACKAGE_NAME}@${version}` } },
  };
  const folder = join(distFolder, "registry", REGISTRY_ID);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "agent.json"), `${JSON.stringify(entry, undefined, 2)}\n`);
  const icon = readFileSync(join(projectFolder, "media", "hermes.svg"), "utf8");
  writeFileSync(join(folder, "icon.svg"), icon.replace('width="24" height="24"', 'width="16" height="16"'));
}

/** Throws when the packed agent does not answer `initialize`, or does not end with its input. */
async function checkTarball(tarball: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "hermes-npm-"));
  const env = { ...process.env, HERMES_HOME: home, npm_config_cache: join(home, "cache") };
  const agent = spawn("npx", ["--offline", "--yes", `file:${tarball}`], { cwd: home, env, timeout: ANSWER_MS });
  const [output, errors, closed] = [text(agent.stdout), text(agent.stderr), once(agent, "close")];
  agent.stdin.end(
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } })}\n`,
  );
  const [code] = await closed;
  const [answer] = (await output).split("\n");
  rmSync(home, { recursive: true, force: true });
  const { result } = code === 0 ? JSON.parse(answer ?? "{}") : {};
  if (result?.agentInfo?.version === manifest.version) return;
  throw new Error(`npx file:${tarball} ended with code ${code} and answered ${answer || (await errors)}`);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

if (import.meta.main) {
  await packageExtension();
  if (!process.argv.includes("--extension")) await packageAgent();
}
