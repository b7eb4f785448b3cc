/** Places of custom agents: those of the workspace, for Copilot, Claude Code and Hermes, and those of the home. */
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Folders in a workspace folder, and the end of the files' names; the first agent of a name counts. */
const PLACES = [
  { folder: ".hermes/agents", ending: ".md" },
  { folder: ".github/agents", ending: ".agent.md" },
  { folder: ".github/chatmodes", ending: ".chatmode.md" },
  { folder: ".claude/agents", ending: ".md" },
] as const;

export type AgentPlaces = {
  /** Hermes home, absolute. */
  readonly home: string;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** False for a workspace whose files do not count. */
  readonly trusted: () => boolean;
};

/** `isOwn`: true for the user's own folder. */
export type AgentFolder = ReturnType<typeof agentFolders>[number];

/** Folders that exist. */
export function agentFolders({ home, roots, trusted }: AgentPlaces) {
  const ofWorkspace = roots.flatMap((root) =>
    PLACES.map(({ folder, ending }) => ({ root, path: join(root, folder), ending, isOwn: false })),
  );
  const own = { root: home, path: join(home, "agents"), ending: ".md", isOwn: true };
  return [...(trusted() ? ofWorkspace : []), own].filter(({ path }) => existsSync(path));
}
