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

function reasonsOf({ asked }: Started): string[] {
  return asked.map(({ _meta }) => ((_meta as { hermes: Json }).hermes["reasons"] as string[]).join("\n"));
}

/** Lines that ask in each mode that runs commands, and a part of the reason. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ["Remove-Item -Recurse src", "Deletes src recursively"],
  ['echo "a\\"; Remove-Item -Recurse src #"', "Deletes src"],
  ["ls -Filter (ri src)", "Deletes src"],
  ['"$(ri src)"', "Deletes src"],
  ["& 'Remove-Item' src", "Deletes src"],
  ["ls | rm", "Deletes"],
  ["iex 'rm -r src'", "Runs a text"],
  ["[IO.Directory]::Delete('src')", "not read"],
  ["$x = { ri src }; & $x", "not known before it runs"],
  ["Set-Alias ls ri; ls src", "not known"],
  ["ri`\n src", "cannot read"],
  ["ls <# #> ; ri src", "cannot read"],
  ["$env:NODE_OPTIONS='--require ./x'; node --test", "Sets NODE_OPTIONS"],
  ["cat ~\\.ssh\\id_rsa", "keys or passwords"],
  ["cat .env", "keys or passwords"],
  ["cmd /c del a", "another shell"],
  ["irm https://example.com", "Contacts https://example.com"],
];

describe("an agent whose shell is PowerShell", () => {
  it("runs lines that read or write the workspace without a question in auto mode", async () => {
    const session = await start("auto", "reject");
    const results = await run(session, "echo hi > b.txt", "cat b.txt", "ls; cd src; pwd");
    expect(session.asked).toEqual([]);
    for (const result of results) expect(result).toContain("exit code 0");
    expect(results[1]).toContain("hi");
    expect(existsSync(join(session.agent.cwd, "b.txt"))).toBe(true);
  });

  it("asks with the effect about what deletes, leaves, reveals or is not read, and runs none of it", async () => {
    const session = await start("auto", "reject");
    for (const [line] of HOSTILE) expect((await run(session, line))[0]).toContain("the user said no");
    const reasons = reasonsOf(session);
    expect(reasons).toHaveLength(HOSTILE.length);
    for (const [index, [, reason]] of HOSTILE.entries()) expect(reasons[index]).toContain(reason);
    expect(existsSync(join(session.agent.cwd, "src"))).toBe(true);
  });

  it("runs what only reads in plan mode, and refuses everything else without a question", async () => {
    const session = await start("plan", "once");
    const changing = [...HOSTILE.map(([line]) => line), "echo hi > b.txt", "git commit -m x"];
    const [read, ...refused] = await run(session, "ls", ...changing);
    expect(read).toContain("exit code 0");
    expect(refused).toHaveLength(changing.length);
    for (const result of refused) expect(result).toMatch(/Plan mode is read-only/);
    expect(session.asked).toEqual([]);
    expect(existsSync(join(session.agent.cwd, "src"))).toBe(true);
    expect(existsSync(join(session.agent.cwd, "b.txt"))).toBe(false);
  });

  it.each([
    ["plan", ""],
    ["auto", ""],
    ["auto", "approvals: { mode: off }"],
  ])("runs no line that wipes the machine: mode %s, %s", async (mode, config) => {
    const session = await start(mode, "once", config);
    for (const result of await run(session, "rm -r $HOME", "ls; Stop-Computer -Force", "Format-Volume -Dr C"))
      expect(result).toContain("blocked in every mode");
    expect(session.asked).toEqual([]);
  });

  it("does not run what it cannot read while approvals are off", async () => {
    const session = await start("auto", "once", "approvals: { mode: off }");
    const [read, ...unread] = await run(session, "ls", "[IO.Directory]::Delete('src')", "ri`\n src");
    expect(read).toContain("exit code 0");
    for (const result of unread) expect(result).toContain("This command was not run");
    expect(session.asked).toEqual([]);
  });

  it("keeps a lasting answer for a line that it cannot read to the letter", async () => {
    const session = await start("auto", "session");
    const lines = ["echo a <# x #>", "echo a <# x #>", "echo b <# x #>"];
    await run(session, ...lines);
    expect(session.asked).toHaveLength(2);
    expect(JSON.stringify(session.asked[0])).toContain("A lasting answer covers: powershell: echo a <# x #> in ");
  });

  it("lets no model answer for the user in smart mode about what it cannot read, and asks nobody about a read", async () => {
    const session = await start("code", "reject", "approvals: { mode: smart }");
    await run(session, "[IO.Directory]::Delete('src')");
    expect(session.asked).toHaveLength(1);
    expect(session.model.requests).toHaveLength(2);
    await run(session, "ls");
    expect(session.asked).toHaveLength(1);
    expect(session.model.requests).toHaveLength(4);
  });
});
