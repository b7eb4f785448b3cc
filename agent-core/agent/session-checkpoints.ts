/** The checkpoints of one session, for an agent whose conversation is stored. */
import { homedir } from "node:os";
import { judgeCommand } from "../approval/command-verdict.ts";
import { resolvePath } from "../approval/resolve-path.ts";
import { Checkpoints } from "../checkpoints/checkpoints.ts";
import { checkpointsFolder, homeFolder } from "../config/home.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { AgentSetup, AIAgentOptions } from "./agent-setup.ts";

/** The first request of a turn is on its way by then, and the look costs the turn no time. */
const LOOK_DELAY_MS = 50;

export type SessionPorts = {
  /** Position that the next message will have. */
  readonly position: () => number;
  readonly journal: (entry: NewEntry) => void;
  /** A line for people. */
  readonly tell: (problem: string) => void;
};

/** Undefined where nothing is stored: then there would be nothing to tell what was changed. */
export function sessionCheckpoints(
  options: AIAgentOptions,
  { host, cwd, journal, onDefect }: AgentSetup,
  ports: SessionPorts,
): Checkpoints | undefined {
  if (journal === undefined) return undefined;
  const hermesHome = options.home ?? homeFolder(options.environment ?? process.env);
  const roots = [cwd, ...(options.otherFolders ?? [])];
  const scope = { roots, home: homedir(), hermesHome, resolvePath };
  return new Checkpoints({
    ...ports,
    host,
    roots,
    objects: checkpointsFolder(hermesHome),
    lookDelayMs: LOOK_DELAY_MS,
    entries: options.entries ?? [],
    trusted: options.trusted ?? (() => true),
    onlyReads: (command, folder) => judgeCommand(command, { ...scope, cwd: folder }).readOnly,
    onDefect,
  });
}
