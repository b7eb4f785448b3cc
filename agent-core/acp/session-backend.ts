/** Where the commands of a session run, and in which sandbox. */
import { homedir } from "node:os";
import type { ConfiguredAgent } from "../agent/configured-agent.ts";
import { confine } from "../approval/confinement.ts";
import { resolvePath } from "../approval/resolve-path.ts";
import { withheldFolder } from "../config/home.ts";
import type { Backend } from "../host/terminals/backend.ts";
import { configuredBackend } from "../host/terminals/configured-backend.ts";
import type { SessionPlace } from "./session-place.ts";

/** `problems`: why there is no sandbox though one was asked for, a sentence each. */
export function sessionBackend(
  { terminal, variables }: Pick<ConfiguredAgent, "terminal" | "variables">,
  { cwd, otherFolders }: Pick<SessionPlace, "cwd" | "otherFolders">,
  hermesHome: string,
): { readonly backend: Backend; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const scope = { cwd, roots: [cwd, ...otherFolders], home: homedir(), hermesHome, resolvePath };
  const backend = configuredBackend(terminal, [cwd, ...otherFolders], variables, {
    confine: () => confine(scope, withheldFolder(hermesHome)),
    onProblem: (problem) => problems.push(problem),
  });
  return { backend, problems };
}
