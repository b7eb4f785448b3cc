/** Vitest's global setup: a run of its own, like `npm run test:unit`, gets its own temporary folder. */
import { useRunFolder } from "../../scripts/run-folder.ts";

export function setup(): () => Promise<void> {
  return useRunFolder();
}
