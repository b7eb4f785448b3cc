// npm run release -- VERSION: puts the unreleased changes under VERSION in CHANGELOG.md, sets the version of package.json and
// its lock file, builds both packages, and copies them with notes and checksums to dist/release. Needs no network. It publishes
// nothing: the last lines name the commands that do.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { changelogProblems, releasedChangelog, releaseNotes } from "./changelog.ts";
import { projectFolder } from "./project.ts";

const CHANGELOG = join(projectFolder, "CHANGELOG.md");
const releaseFolder = join(projectFolder, "dist", "release");

if (import.meta.main) {
  try {
    await release(process.argv[2] ?? "");
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

async function release(version: string): Promise<void> {
  requireNewer(version);
  if (git("status", "--porcelain") !== "") throw new Error("Commit or stash your changes first.");
  try {
    writeVersion(version);
    // Reads the version when it is loaded.
    const { packageAgent, packageExtension } = await import("./package.ts");
    collect(version, [await packageExtension(), await packageAgent()]);
  } catch (error) {
    git("checkout", "--", "CHANGELOG.md", "package.json", "package-lock.json");
    throw error;
  }
  printNextSteps(version);
}

/** @throws when `version` is not of the form 1.2.3, or not above the current one. */
function requireNewer(version: string): void {
  const { version: current }: { readonly version: string } = JSON.parse(
    readFileSync(join(projectFolder, "package.json"), "utf8"),
  );
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(`"${version}" is no version: npm run release -- 1.2.3. The current one is ${current}.`);
  }
  if (version.localeCompare(current, "en", { numeric: true }) <= 0) {
    throw new Error(`${version} is not above the current version, ${current}.`);
  }
}

function writeVersion(version: string): void {
  const changelog = readFileSync(CHANGELOG, "utf8");
  const problems = changelogProblems(changelog);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const [today = ""] = new Date().toISOString().split("T");
  writeFileSync(CHANGELOG, releasedChangelog(changelog, version, today));
  execFileSync("npm", ["version", version, "--no-git-tag-version", "--ignore-scripts", "--offline"], {
    cwd: projectFolder,
  });
}

function collect(version: string, files: readonly string[]): void {
  rmSync(releaseFolder, { recursive: true, force: true });
  mkdirSync(releaseFolder, { recursive: true });
  const sums = files.map((file) => {
    copyFileSync(file, join(releaseFolder, basename(file)));
    return `${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${basename(file)}\n`;
  });
  writeFileSync(join(releaseFolder, "SHA256SUMS"), sums.join(""));
  writeFileSync(join(releaseFolder, "NOTES.md"), `${releaseNotes(readFileSync(CHANGELOG, "utf8"), version)}\n`);
}

function printNextSteps(version: string): void {
  const folder = relative(process.cwd(), releaseFolder);
  console.log(`\n${version} is in ${folder}, with NOTES.md and SHA256SUMS. To publish it:`);
  console.log(`  git commit -am "Release ${version}" && git tag v${version} && git push --follow-tags`);
  console.log(`  npx vsce publish --packagePath ${join(folder, "hermes-vscode.vsix")}`);
  console.log(`  npm publish ${join(folder, "*.tgz")}`);
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: projectFolder, encoding: "utf8" }).trim();
}
