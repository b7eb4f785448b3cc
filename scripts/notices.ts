// Third-party notices: the licences of all packages that the bundles hold, from the lock file. `--check` only checks that each
// licence is one that a package under MIT may carry.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "./project.ts";

/** Licences without a duty beyond a notice. PSF: argparse; CC-BY: icons; MPL: chosen as Apache. */
const ALLOWED = new Set([
  ...["MIT", "ISC", "0BSD", "Unlicense", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "PSF-2.0", "CC-BY-4.0"],
  "(MPL-2.0 OR Apache-2.0)",
]);

type Locked = {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
};

const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(join(projectFolder, "package-lock.json"), "utf8"),
);

/** Packages of the product, by their folder. Optional ones are binaries of some platforms, which no bundle holds. */
const packages = Object.entries(lock.packages)
  .filter(([folder, { dev, optional }]) => folder !== "" && dev !== true && optional !== true)
  .toSorted(([one], [other]) => (one < other ? -1 : 1));

/** One line for each package whose licence is missing, or not known to be allowed. */
function licenceProblems(): readonly string[] {
  return packages
    .filter(([, { license = "" }]) => !ALLOWED.has(license))
    .map(
      ([folder, { license }]) =>
        `${folder} has the licence ${license ?? "(none)"}: scripts/notices.ts does not know it.`,
    );
}

/** Writes the notices to `path`. Throws when a licence is not allowed. */
export function writeNotices(path: string): void {
  const problems = licenceProblems();
  if (problems.length > 0) throw new Error(problems.join("\n"));
  writeFileSync(path, [INTRODUCTION, ...packages.map(noticeOf), ""].join(`\n\n${"-".repeat(80)}\n\n`));
}

const INTRODUCTION = "Hermes contains the following packages. Each keeps its own licence.";

function noticeOf([folder, { version = "", license = "" }]: readonly [string, Locked]): string {
  const place = join(projectFolder, folder);
  const name = folder.split("node_modules/").at(-1) ?? folder;
  const files = existsSync(place)
    ? readdirSync(place).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    : [];
  const texts = files.map((file) => readFileSync(join(place, file), "utf8").trim());
  return [`${name} ${version}, ${license}`, ...texts].join("\n\n");
}

if (import.meta.main) {
  const problems = licenceProblems();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else if (!process.argv.includes("--check")) writeNotices(join(projectFolder, "dist", "THIRD-PARTY-NOTICES.txt"));
}
