/** Files and folders of the Hermes home. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { readText } from "../platform/text-file.ts";

/** Environment variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The home folder: `HERMES_HOME`, else `.hermes` in the user's home folder. Absolute; may not exist yet. */
export function homeFolder(environment: Environment): string {
  const chosen = environment["HERMES_HOME"];
  if (chosen === undefined || chosen === "") return join(homedir(), ".hermes");
  // Only a shell expands "~". The settings of an editor and a quoted value have it as it was written.
  if (/^~(?=[/\\]|$)/.test(chosen)) return join(homedir(), chosen.slice(1));
  return isAbsolute(chosen) ? chosen : resolve(chosen);
}

/** File of the user's keys, for display. */
export function keyFile(environment: Environment): string {
  return environment["HERMES_HOME"] ? join(homeFolder(environment), ".env") : "~/.hermes/.env";
}

/** File of the sign-ins at providers. */
export function accountFile(home: string): string {
  return join(home, "auth.json");
}

/** Prefix of a key that stands for the account in the home that follows: the token itself changes every hour. */
export const ACCOUNT = "account:";

/** File of the user's settings. */
export function configFile(home: string): string {
  return join(home, "config.yaml");
}

/** Folder of the journals, one `<session id>.jsonl` each. */
export function sessionsFolder(home: string): string {
  return join(home, "vscode", "sessions");
}

/** Snapshot of the index over all sessions; safe to delete, because it is built again. */
export function sessionIndexFile(home: string): string {
  return join(home, "vscode", "index.sqlite");
}

/** File that reserves space for the journals on a full disk; safe to delete. */
export function spaceReserveFile(home: string): string {
  return join(home, "vscode", "kept-for-a-full-disk");
}

/** Folder of long outputs and whole results of a session's tools. */
export function spillFolder(home: string, sessionId: string): string {
  return join(home, "vscode", "sessions", `${sessionId}.files`);
}

/** Folder of the contents of files before the agent changed them, for all sessions. */
export function checkpointsFolder(home: string): string {
  return join(home, "vscode", "checkpoints");
}

/** Places where users put extensions. */
export function extensionPlaces(home: string): Readonly<Record<"config" | "skills" | "plugins", string>> {
  return { config: join(home, "config.yaml"), skills: skillsFolder(home), plugins: join(home, "plugins") };
}

/** Folder of the agent's memory. */
export function memoriesFolder(home: string): string {
  return join(home, "memories");
}

/** Folder of everything that the agent learnt from its sessions, except skills. */
export function learningFolder(home: string): string {
  return join(home, "learning");
}

/** False for a home whose sessions have taught nothing yet. */
export function hasLearnt(home: string): boolean {
  return existsSync(join(learningFolder(home), "episodes"));
}

/** Folder of planned jobs, their runs and their outputs. */
export function cronFolder(home: string): string {
  return join(home, "cron");
}

export function skillsFolder(home: string): string {
  return join(home, "skills");
}

/** Folder of the consents to run what workspaces bring along. */
export function consentsFolder(home: string): string {
  return join(home, "vscode", "consents");
}

/** File of the extensions that the user switched on or off. */
export function switchesFile(home: string): string {
  return join(home, "vscode", "switches.json");
}

/** Folder of protected files that sandboxed commands made, and that were moved out of the workspace. */
export function withheldFolder(home: string): string {
  return join(home, "vscode", "withheld");
}

/** Cache of the models that endpoints offer; safe to delete. */
export function modelsFile(home: string): string {
  return join(home, "vscode", "models.json");
}

/** Text of SOUL.md, the user's description of the agent; undefined without a readable file. */
export async function readSoul(home: string): Promise<string | undefined> {
  return readText(join(home, "SOUL.md")).catch(() => undefined);
}
