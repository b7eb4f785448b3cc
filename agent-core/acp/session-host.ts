/** The Host of a session as its configuration has it: where commands run, and in which sandbox. */
import { homedir } from "node:os";
import type { ConfiguredAgent } from "../agent/configured-agent.ts";
import { confine } from "../approval/confinement.ts";
import { resolvePath } from "../approval/resolve-path.ts";
import { withheldFolder } from "../config/home.ts";
import type { Host } from "../host/host.ts";
import { configuredBackend } from "../host/terminals/configured-backend.ts";
import { type AcpHostOptions, acpHost } from "./acp-host.ts";
import type { SessionPlace } from "./session-place.ts";

export type SessionHostOptions = Omit<AcpHostOptions, "roots" | "backend"> & {
  /** Our own home folder. */
  readonly home: string;
};

/** `problems`: why there is no sandbox though one was asked for, a sentence each. */
export function sessionHost(
  { terminal, variables }: Pick<ConfiguredAgent, "terminal" | "variables">,
  { cwd, otherFolders }: Pick<SessionPlace, "cwd" | "otherFolders">,
  { home, ...options }: SessionHostOptions,
): { readonly host: Host; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const roots = [cwd, ...otherFolders] as const;
  const scope = { cwd, roots, home: homedir(), hermesHome: home, resolvePath };
  const backend = configuredBackend(terminal, roots, variables, {
    confine: () => confine(scope, withheldFolder(home)),
    onProblem: (problem) => problems.push(problem),
  });
  return { host: acpHost({ ...options, roots, backend }), problems };
}
