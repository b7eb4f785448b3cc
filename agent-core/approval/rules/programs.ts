/** Every known program by name. */
import type { Program } from "../command-effect.ts";
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
