import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpProcess, type Json } from "../support/acp-process.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

async function start(): Promise<{ agent: AcpProcess; model: ModelServer }> {
  const model = await startModelServer();
  const agent = new AcpProcess({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-1" });
  running.push(agent, model);
  return { agent, model };
}

async function openSession(agent: AcpProcess, capabilities: Json = {}): Promise<string> {
  await agent.initialize(capabilities);
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  return sessionId;
}

/** What the model was told by the results of its calls, in order. */
function results({ requests }: ModelServer): string[] {
  return (requests.at(-1)?.body.messages ?? [])
    .filter((message) => message["role"] === "tool")
    .map((message) => String(message["content"]));
}

function isRunning(command: string): boolean {
  return spawnSync("pgrep", ["-f", `^${command}$`]).status === 0;
}

test("a background process: started, polled, written to, killed; nothing of it is left", async () => {
  const { agent, model } = await start();
  const sessionId = await openSession(agent);
  model.script(
    { parts: [call("terminal", { command: "setsid sleep 7651 & echo ready; cat", background: true })] },
    { parts: [call("process", { action: "write", id: "p1", data: "hello\n" })] },
    { parts: [call("process", { action: "list" }), call("process", { action: "kill", id: "p1" })] },
    say("done"),
  );
  expect((await agent.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
  const [started, written, listed, killed] = results(model);
  expect(started).toContain("ready");
  expect(started).toMatch(/as p1/);
  expect(written).toMatch(/\nhello$/);
  expect(listed).toContain("p1 ");
  expect(killed).toContain("p1 has ended");
  expect(isRunning("sleep 7651")).toBe(false);
});

test("the model is told once, with its next request, that a process has ended", async () => {
  const { agent, model } = await start();
  const sessionId = await openSession(agent);
  model.script({ parts: [call("terminal", { command: "read x < fifo; exit 3", background: true })] }, say("waiting"));
  spawnSync("sh", ["-c", "mkfifo fifo"], { cwd: agent.cwd });
  await agent.prompt(sessionId, "start it");
  spawnSync("sh", ["-c", "echo go > fifo"], { cwd: agent.cwd });
  await expect.poll(() => isRunning("read x"), { timeout: 5_000 }).toBe(false);
  const told = async (): Promise<boolean> => {
    model.script(say("ok"));
    await agent.prompt(sessionId, "and now?");
    return JSON.stringify(model.requests.at(-1)?.body.messages).includes("[p1 has ended: exit code 3");
  };
  await expect.poll(told, { timeout: 5_000 }).toBe(true);
  expect(await told()).toBe(false);
});

test("folder and variables persist between calls and turns, and approval judges where the command runs", async () => {
  const { agent, model } = await start();
  const sessionId = await openSession(agent);
  mkdirSync(join(agent.cwd, ".vscode"));
  model.script(
    { parts: [call("terminal", { command: "cd .vscode; export GREETING=hi" })] },
    { parts: [call("terminal", { command: "pwd; echo $GREETING" })] },
    say("done"),
  );
  await agent.prompt(sessionId, "go");
  expect(results(model)[0]).toContain(`the shell is in ${agent.cwd}/.vscode now`);
  expect(results(model)[1]).toContain(`${agent.cwd}/.vscode\nhi\n`);
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "reject" } };
  });
  await agent.request("session/set_mode", { sessionId, modeId: "code" });
  model.script(
    { parts: [call("terminal", { command: "touch settings.json" })] },
    { parts: [call("terminal", { command: "touch ../settings.json" })] },
    say("done"),
  );
  await agent.prompt(sessionId, "write");
  expect(asked).toMatchObject([{ _meta: { hermes: { command: "touch settings.json" } } }]);
  expect(JSON.stringify(asked)).toContain(`Runs in ${agent.cwd}/.vscode`);
  expect(existsSync(join(agent.cwd, ".vscode", "settings.json"))).toBe(false);
  expect(existsSync(join(agent.cwd, "settings.json"))).toBe(true);
});

test("a session that is opened again begins with a new shell, and its model is told", async () => {
  const { agent, model } = await start();
  const sessionId = await openSession(agent);
  model.script({ parts: [call("terminal", { command: "cd /; export A=1" })] }, say("done"));
  await agent.prompt(sessionId, "go");
  await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  model.script({ parts: [call("terminal", { command: "pwd; echo A=$A" })] }, say("done"));
  await agent.prompt(sessionId, "and now?");
  const told = model.requests.map(({ body }) => JSON.stringify(body.messages).includes(`the shell is in ${agent.cwd}`));
  expect(told).toEqual([false, false, true, false]);
  expect(results(model).at(-1)).toContain(`${agent.cwd}\nA=\n`);
});

test.each([
  ["a plain one", "sleep 7652", "sleep 7652"],
  ["one that left its session", "setsid -f setsid sleep 7653; sleep 7653", "sleep 7653"],
  ["one that ignores being asked", "trap '' TERM INT HUP; (trap '' TERM; while :; do sleep 7654; done)", "sleep 7654"],
  ["one behind a pipe", "yes | sleep 7655 | cat", "sleep 7655"],
])("a cancelled turn leaves no process alive within two seconds: %s", async (_, command, name) => {
  const { agent, model } = await start();
  const sessionId = await openSession(agent);
  model.script({ parts: [call("terminal", { command })] });
  const turn = agent.prompt(sessionId, "go");
  await expect.poll(() => isRunning(name), { timeout: 10_000 }).toBe(true);
  agent.notify("session/cancel", { sessionId });
  expect((await turn).result).toEqual({ stopReason: "cancelled" });
  await expect.poll(() => isRunning(name), { timeout: 2_000 }).toBe(false);
});

test("closing a session ends what it left in the background", async () => {
  const { agent, model } = await start();
  const sessionId = await openSession(agent);
  model.script({ parts: [call("terminal", { command: "sleep 7656", background: true })] }, say("started"));
  await agent.prompt(sessionId, "go");
  expect(isRunning("sleep 7656")).toBe(true);
  await agent.request("session/close", { sessionId });
  expect(isRunning("sleep 7656")).toBe(false);
});

test("the end of stdin ends background processes within two seconds, also those that ignore being asked", async () => {
  const { agent, model } = await start();
  const sessionId = await openSession(agent);
  model.script(
    { parts: [call("terminal", { command: "trap '' TERM; while :; do sleep 7657; done", background: true })] },
    say("started"),
  );
  await agent.prompt(sessionId, "go");
  const begin = performance.now();
  await agent.stop();
  expect(performance.now() - begin).toBeLessThan(2_000);
  expect(isRunning("sleep 7657")).toBe(false);
});

test("an agent that is killed leaves nothing running either", async () => {
  const { agent, model } = await start();
  const sessionId = await openSession(agent);
  const command = "setsid -f setsid sleep 7658; trap '' TERM HUP; while :; do sleep 7659; done";
  model.script({ parts: [call("terminal", { command, background: true })] }, say("started"));
  await agent.prompt(sessionId, "go");
  expect(isRunning("sleep 7658") && isRunning("sleep 7659")).toBe(true);
  agent.child.kill("SIGKILL");
  await agent.exited;
  await expect.poll(() => isRunning("sleep 765[89]"), { timeout: 5_000 }).toBe(false);
});

test("an editor's own terminals run background commands too", async () => {
  const { agent, model } = await start();
  const exits: (() => void)[] = [];
  const created: Json[] = [];
  const ended: string[] = [];
  agent
    .on("terminal/create", (params) => {
      created.push(params);
      return { terminalId: `t${created.length}` };
    })
    .on(
      "terminal/wait_for_exit",
      () => new Promise((resolve) => exits.push(() => resolve({ exitCode: null, signal: "SIGTERM" }))),
    )
    .on("terminal/output", () => ({ output: "from the editor\n", truncated: false }))
    .on("terminal/kill", ({ terminalId }) => {
      ended.push(String(terminalId));
      for (const exit of exits) exit();
    })
    .on("terminal/release", () => ({}));
  const sessionId = await openSession(agent, { terminal: true });
  model.script(
    { parts: [call("terminal", { command: "npm run dev", background: true, pty: true })] },
    { parts: [call("process", { action: "log", id: "p1" })] },
    { parts: [call("process", { action: "write", id: "p1", data: "x\n" })] },
    { parts: [call("process", { action: "kill", id: "p1" })] },
    say("done"),
  );
  await agent.prompt(sessionId, "go");
  const [started, logged, written, killed] = results(model);
  expect(started).toContain("runs in the background as p1");
  expect(created).toMatchObject([{ args: ["-c", "npm run dev"], cwd: agent.cwd }]);
  expect(logged).toContain("from the editor");
  expect(written).toContain("ask the user to type it there");
  expect(ended).toEqual(["t1"]);
  expect(killed).toContain("p1 has ended: ended by signal SIGTERM");
});
