/** Vitest's global setup: a run of its own, like `npm run test:unit`, gets what scripts/test.ts gives to its stages. */
import { isInRun, useRunFolder } from "../../scripts/run-folder.ts";
import { addDaemonsToPath, isCI, reportMissingPrograms } from "../../scripts/system-programs.ts";

export function setup(): () => Promise<void> {
  addDaemonsToPath();
  if (!isInRun() && !isCI) reportMissingPrograms();
  return useRunFolder();
}
