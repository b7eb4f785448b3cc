// npm run package: builds the extension and packs it into dist/hermes-vscode.vsix, and the agent alone into an npm package.
// Fails if the extension exceeds its size limit, or if the packed agent does not run.
import { mkdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createVSIX, listFiles, PackageManager } from "@vscode/vsce";
import { packageAgent } from "./npm-package.ts";
import { packageFile, projectFolder } from "./project.ts";
import { runInTerminal } from "./run-program.ts";

const MEGABYTE = 1_000_000;
const LIMIT_BYTES = 6 * MEGABYTE;
const LARGEST_SHOWN = 10;

if (import.meta.main) {
  await packageExtension();
  await packageAgent();
}

/**
 * Builds the bundles and packs them; resolves with the path of the .vsix.
 * @throws when the build fails or the package is over 6 MB.
 */
export async function packageExtension(): Promise<string> {
  const build = await runInTerminal({ command: process.execPath, args: ["esbuild.mjs"], cwd: projectFolder });
  if (build !== 0) throw new Error(`node esbuild.mjs exited with code ${build}: nothing was packaged.`);
  mkdirSync(dirname(packageFile), { recursive: true });
  await createVSIX({
    cwd: projectFolder,
    packagePath: packageFile,
    // Every dependency is inside the bundles.
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
  });
  await report();
  return packageFile;
}

async function report(): Promise<void> {
  const names = await listFiles({ cwd: projectFolder, packageManager: PackageManager.None });
  const files = names
    .map((name) => ({ name, size: statSync(join(projectFolder, name)).size }))
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
