/** Which programs need what a sandbox without network, with processes of its own, does not give. */
import type { Call } from "../command-effect.ts";
import { containers } from "./containers.ts";
import { databases } from "./databases.ts";
import { gits } from "./git-rules.ts";
import { diskTools, processTools, windowsTools } from "./machine-rules.ts";
import { fetchers, networkTools } from "./network-rules.ts";
import { nodePackages, packageManagers } from "./package-rules.ts";

const OUTWARD = [networkTools, fetchers, packageManagers, containers, databases, processTools, diskTools, windowsTools];
/** Verbs of package managers that only run what is there. */
const RUNS_LOCALLY =
  /^(?:run|run-script|rum|urn|t|tst|test|start|stop|restart|exec|ls|list|bin|root|prefix|why|explain)$/;

/** git may keep its files outside the workspace (worktrees, submodules), and its rules say all that it does. */
export function isOutward({ name, args }: Call): boolean {
  if (gits.has(name)) return true;
  if (nodePackages.has(name))
    return !isLocalScript(
      name,
      args.map(({ text }) => text),
    );
  return OUTWARD.some((group) => group.has(name));
}

function isLocalScript(name: string, words: readonly string[]): boolean {
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(name)) return false;
  const verb = words.find((word) => !word.startsWith("-"));
  return verb !== undefined && RUNS_LOCALLY.test(verb);
}
