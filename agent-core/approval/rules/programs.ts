/** Every known program by name. */
import type { Program } from "../command-effect.ts";
import { codePrograms } from "./code.ts";
import { filePrograms } from "./files.ts";
import { gits } from "./git-rules.ts";
import { readers } from "./looks.ts";
import { machinePrograms } from "./machine.ts";
import { packageManagers, projectTools } from "./project-tools.ts";
import { waysOut } from "./ways-out.ts";
import { wrappers } from "./wrappers.ts";

export const programs: ReadonlyMap<string, Program> = new Map(
  [
    readers,
    filePrograms,
    gits,
    codePrograms,
    projectTools,
    packageManagers,
    waysOut,
    machinePrograms,
    wrappers,
  ].flatMap((group): readonly (readonly [string, Program])[] => [...group]),
);

/** Readers that cannot run a program or write a file, and the shell's own words for small steps. */
export const textFilters: ReadonlySet<string> = new Set(
  "cat head tail grep wc cut tr uniq jq echo printf true cd pwd ls date sleep test [".split(" "),
);
