/** Every known program by name. */
import type { Call, Program } from "../command-effect.ts";
import { archives } from "./archive-rules.ts";
import { awks } from "./awk-rules.ts";
import { buildTools } from "./build-rules.ts";
import { fileRemovers, fileWriters } from "./file-rules.ts";
import { finders } from "./find-rules.ts";
import { gits } from "./git-rules.ts";
import { interpreters, shells } from "./interpreter-rules.ts";
import { diskTools, processTools, windowsTools } from "./machine-rules.ts";
import { fetchers, networkTools } from "./network-rules.ts";
import { nodePackages, packageManagers } from "./package-rules.ts";
import { streamEditors } from "./sed-rules.ts";
import { containers, databases } from "./service-rules.ts";
import { readers, textTools } from "./text-rules.ts";
import { wrappers } from "./wrapper-rules.ts";

/** Programs that need the network, other processes or the system, which a sandbox does not provide. */
const NETWORKED = [
  networkTools,
  fetchers,
  packageManagers,
  containers,
  databases,
  processTools,
  diskTools,
  windowsTools,
];

/** Of two groups with the same name the later one wins. */
export const programs: ReadonlyMap<string, Program> = new Map(
  [
    windowsTools,
    readers,
    textTools,
    networkTools,
    fetchers,
    fileWriters,
    fileRemovers,
    finders,
    streamEditors,
    awks,
    archives,
    gits,
    interpreters,
    shells,
    buildTools,
    nodePackages,
    packageManagers,
    containers,
    databases,
    processTools,
    diskTools,
    wrappers,
  ].flatMap((group): readonly (readonly [string, Program])[] => [...group]),
);

/** Verbs of package managers that only run installed code. */
const LOCAL_VERBS = new Set(
  "run run-script rum urn t tst test start stop restart exec ls list bin root prefix why explain".split(" "),
);

/** True when a call needs what a sandbox does not provide. git may keep its files outside the workspace. */
export function needsNetwork({ name, args }: Call): boolean {
  if (gits.has(name)) return true;
  if (!nodePackages.has(name)) return NETWORKED.some((group) => group.has(name));
  const verb = args.find(({ text }) => !text.startsWith("-"))?.text ?? "";
  return !(/^(?:npm|pnpm|yarn|bun)$/.test(name) && LOCAL_VERBS.has(verb));
}
