import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const windows = fileURLToPath(new URL("../support/windows.mjs", import.meta.url));
const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

/** A folder for PATH with a `powershell.exe` that runs the command with bash. */
function fakePowerShell(): string {
  const folder = mkdtempSync(join(tmpdir(), "hermes-powershell-"));
  writeFileSync(join(folder, "powershell.exe"), '#!/bin/bash\nexec bash -c "${@: -1}"\n', { mode: 0o755 });
  return folder;
}

type Started = { readonly agent: AcpProcess; readonly model: ModelServer; readonly id: string; readonly asked: Json[] };

/** A session of an agent whose shell is PowerShell, and whose user answers with `optionId`. */
async function start(mode: string, optionId: string, config = ""): Promise<Started> {
  const model = await startModelServer();
  const agent = new AcpProcess({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "m",
    HERMES_API_KEY: "sk-1",
    PATH: `${fakePowerShell()}:${process.env["PATH"]}`,
    TEMP: tmpdir(),
    NODE_OPTIONS: `--import ${windows}`,
  });
  running.push(agent, model);
  writeFileSync(join(agent.home, "config.yaml"), config);
  mkdirSync(join(agent.cwd, "src"));
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId } };
  });
  await agent.initialize({ _meta: { hermes: { grants: true } } });
  const id = await agent.newSession();
  await agent.request("session/set_mode", { sessionId: id, modeId: mode });
  return { agent, model, id, asked };
}

/** Results of the commands. */
async function run({ agent, model, id }: Started, ...commands: readonly string[]): Promise<string[]> {
  model.script(...commands.map((command) => ({ parts: [call("terminal", { command })] })), say("done"));
  await agent.prompt(id, "go");
  const results = (model.requests.at(-1)?.body.messages ?? []).filter(({ role }) => role === "tool");
  return results.slice(-commands.length).map(({ content }) => String(content));
}

const UNREAD = "Hermes cannot read PowerShell commands";

describe("an agent whose shell is PowerShell", () => {
  it("asks for each command in auto mode, and a lasting answer covers the line to the letter", async () => {
    const session = await start("auto", "session");
    const results = await run(session, "echo hi > a.txt", "echo hi > a.txt", "echo hi  > a.txt", "cat ~\\.ssh\\id_rsa");
    expect(session.asked.map(({ _meta }) => (_meta as { hermes: Json }).hermes["reasons"])).toEqual([
      [expect.stringContaining(UNREAD)],
      [expect.stringContaining(UNREAD)],
      [expect.stringContaining(UNREAD), expect.stringMatching(/^Names .*id_rsa: .*keys or passwords/)],
    ]);
    expect(JSON.stringify(session.asked[0])).toContain("A lasting answer covers: exactly `echo hi > a.txt`");
    expect(existsSync(join(session.agent.cwd, "a.txt"))).toBe(true);
    expect(results[0]).toContain("exit code 0");
  });

  it.each([
    ["plan", ""],
    ["auto", "approvals: { mode: off }"],
  ])("runs nothing where nobody is asked: mode %s, %s", async (mode, config) => {
    const session = await start(mode, "once", config);
    const results = await run(session, "ls", 'echo "a\\"; Remove-Item -Recurse src #"', "rm -r $HOME");
    for (const result of results.slice(0, 2)) expect(result).toContain(UNREAD);
    expect(results[2]).toContain("blocked in every mode");
    expect(session.asked).toEqual([]);
    expect(existsSync(join(session.agent.cwd, "src"))).toBe(true);
  });

  it("lets no model answer for the user in smart mode", async () => {
    const session = await start("code", "reject", "approvals: { mode: smart }");
    await run(session, "ls");
    expect(session.asked).toHaveLength(1);
    expect(session.model.requests).toHaveLength(2);
  });
});
