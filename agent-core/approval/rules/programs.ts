/** Every program that is known, by name: one line a group. A later line wins over an earlier one. */
import type { Program } from "../command-effect.ts";
import { archives } from "./archive-rules.ts";
import { awks } from "./awk.ts";
import { buildTools } from "./build-rules.ts";
import { containers } from "./containers.ts";
import { databases } from "./databases.ts";
import { fileRemovers, fileWriters } from "./file-rules.ts";
import { finders } from "./find.ts";
import { gits } from "./git-rules.ts";
import { interpreters } from "./interpreters.ts";
import { diskTools, processTools, windowsTools } from "./machine-rules.ts";
import { fetchers, networkTools } from "./network-rules.ts";
import { nodePackages, packageManagers } from "./package-rules.ts";
import { editors } from "./sed.ts";
import { shells } from "./shells.ts";
import { readers, textTools } from "./text-rules.ts";
import { wrappers } from "./wrapper-rules.ts";

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
    editors,
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
