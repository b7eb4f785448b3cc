/** Where Hermes keeps what outlives a session. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** Environment variables as the process was given them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The home folder: `HERMES_HOME`, else `.hermes` in the user's home folder. Absolute; may not exist yet. */
export function homeFolder(environment: Environment): string {
  const chosen = environment["HERMES_HOME"];
  if (chosen === undefined || chosen === "") return join(homedir(), ".hermes");
  return isAbsolute(chosen) ? chosen : resolve(chosen);
}

/** Folder of the journals, one `<session id>.jsonl` each. */
export function sessionsFolder(home: string): string {
  return join(home, "vscode", "sessions");
}

/** Snapshot of the index over all sessions; deleting it costs nothing but building it again. */
export function sessionIndexFile(home: string): string {
  return join(home, "vscode", "index.sqlite");
}

/** File that keeps space for the journals on a full disk; deleting it costs nothing but that. */
export function spaceReserveFile(home: string): string {
  return join(home, "vscode", "kept-for-a-full-disk");
}

/** Folder for what a session's tools wrote aside: long outputs, whole results. */
export function spillFolder(home: string, sessionId: string): string {
  return join(home, "vscode", "sessions", `${sessionId}.files`);
}

/** Folder of what files held before the agent changed them, for all sessions. */
export function checkpointsFolder(home: string): string {
  return join(home, "vscode", "checkpoints");
}

/** Folder of what the agent remembers from session to session. */
export function memoriesFolder(home: string): string {
  return join(home, "memories");
}

/** File of the approvals that were given for always. */
export function grantsFile(home: string): string {
  return join(home, "vscode", "grants.json");
}

/** Folder of protected files that commands in the sandbox made, and that were taken from the workspace. */
export function withheldFolder(home: string): string {
  return join(home, "vscode", "withheld");
}

/** File of what endpoints have told about their models; deleting it costs nothing but asking again. */
export function modelsFile(home: string): string {
  return join(home, "vscode", "models.json");
}

/** Text of SOUL.md, who the user wants the agent to be; undefined when there is none that can be read. */
export async function readSoul(home: string): Promise<string | undefined> {
  return readFile(join(home, "SOUL.md"), "utf8").catch(() => undefined);
}
