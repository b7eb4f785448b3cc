/** Files of other agents that Hermes leaves alone, for `hermes doctor`: each with what serves the same purpose here. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { CLAUDE_FILES } from "../hooks/hook.ts";
import { parseJson } from "../platform/json.ts";

type Places = {
  /** Hermes' home folder. */
  readonly home: string;
  /** Folder of the session, absolute. */
  readonly cwd: string;
};

/** Files in one line. `fix`: an imperative, without a final dot; undefined where nothing is lost. */
export type ForeignFiles = { readonly text: string; readonly fix?: string };

/** Never rejects. */
export async function foreignFiles({ home, cwd }: Places): Promise<readonly ForeignFiles[]> {
  const found = await Promise.all([
    oldSessions(home),
    gatewayHooks(home),
    subAgents(cwd),
    ...CLAUDE_FILES.map((file) => claudeSettings(cwd, file)),
  ]);
  return found.flat();
}

/** An import leaves out the sessions that are here already, so that the line is true before and after one. */
function oldSessions(home: string): readonly ForeignFiles[] {
  const file = join(home, "state.db");
  if (!existsSync(file)) return [];
  return [{ text: `${file} of an original Hermes: hermes "/import" copies its sessions` }];
}

async function gatewayHooks(home: string): Promise<readonly ForeignFiles[]> {
  const folder = join(home, "hooks");
  const names = (await readdir(folder).catch(() => [])).filter((name) => existsSync(join(folder, name, "HOOK.yaml")));
  if (names.length === 0) return [];
  const text = `hooks in Python for a messenger gateway do not run: ${names.join(", ")}, in ${folder}`;
  return [{ text, fix: "write them as commands, in the section hooks of config.yaml" }];
}

async function subAgents(cwd: string): Promise<readonly ForeignFiles[]> {
  const folder = ".claude/agents";
  const files = (await readdir(join(cwd, folder)).catch(() => [])).filter((name) => name.endsWith(".md"));
  if (files.length === 0) return [];
  const fix = "turn those that you need into skills, which delegated tasks can use";
  return [{ text: `${folder} is not used: ${files.join(", ")}`, fix }];
}

/** Sections of Claude Code's settings, and what takes their place. */
const SECTIONS: Readonly<Record<string, string>> = {
  permissions: "use the modes of Hermes, and answer its questions with a lasting answer",
  env: "set the variables in the .env of the Hermes home, or in your shell",
  sandbox: "use the section terminal of config.yaml",
  enabledPlugins: "use hermes plugins",
  model: "use /model",
};

async function claudeSettings(cwd: string, file: string): Promise<readonly ForeignFiles[]> {
  const settings = parseJson(await readFile(join(cwd, file), "utf8").catch(() => ""));
  if (typeof settings !== "object" || settings === null) return [];
  return Object.entries(SECTIONS)
    .filter(([section]) => section in settings)
    .map(([section, fix]) => ({ text: `${section} of ${file} has no effect here`, fix }));
}
