import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { AcpClient, Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

async function start<Client extends AcpClient>(
  Agent: new (environment: Readonly<Record<string, string>>) => Client,
): Promise<{ agent: Client; model: ModelServer }> {
  const model = await startModelServer();
  const agent = new Agent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-1" });
  running.push(agent, model);
  return { agent, model };
}

async function openSession(agent: AcpClient, capabilities: Json = {}): Promise<string> {
  await agent.initialize(capabilities);
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  return sessionId;
}

/** A command that no other test on this machine runs; several of one test differ by their number. */
function nap(number: number): string {
  return `sleep 7${process.pid}${number}`;
}

/** Results of the model's calls, in order. */
function results({ requests }: ModelServer): string[] {
  return (requests.at(-1)?.body.messages ?? [])
    .filter((message) => message["role"] === "tool")
    .map((message) => String(message["content"]));
}

function isRunning(command: string): boolean {
  return spawnSync("pgrep", ["-f", `^${command}$`]).status === 0;
}

test("a background process: started, polled, written to, killed; nothing of it is left", async () => {
  const { agent, model } = await start(AcpAgent);
  const sessionId = await openSession(agent);
  model.script(
    { parts: [call("terminal", { command: `setsid ${nap(1)} & echo ready; cat`, background: true })] },
    { parts: [call("process", { action: "write", id: "p1", data: "hello\n" })] },
    { parts: [call("process", { action: "list" }), call("process", { action: "kill", id: "p1" })] },
    say("done"),
  );
  expect((await agent.prompt(sessionId, "go")).result).toMatchObject({ stopReason: "end_turn" });
  const [started, written, listed, killed] = results(model);
  expect(started).toContain("ready");
  expect(started).toMatch(/as p1/);
  expect(written).toMatch(/\nhello$/);
  expect(listed).toContain("p1 ");
  expect(killed).toContain("p1 has ended");
  expect(isRunning(nap(1))).toBe(false);
});

test("the model learns once, with its next request, that a process has ended", async () => {
  const { agent, model } = await start(AcpAgent);
  const sessionId = await openSession(agent);
  model.script({ parts: [call("terminal", { command: "read x < fifo; exit 3", background: true })] }, say("waiting"));
  spawnSync("sh", ["-c", "mkfifo fifo"], { cwd: agent.cwd });
  await agent.prompt(sessionId, "start it");
  spawnSync("sh", ["-c", "echo go > fifo"], { cwd: agent.cwd });
  await expect.poll(() => isRunning("read x")).toBe(false);
  const told = async (): Promise<boolean> => {
    model.script(say("ok"));
    await agent.prompt(sessionId, "and now?");
    return JSON.stringify(model.requests.at(-1)?.body.messages).includes("[p1 has ended: exit code 3");
  };
  await expect.poll(told).toBe(true);
  expect(await told()).toBe(false);
});

test("folder and variables persist between calls and turns, and approval judges where the command runs", async () => {
  const { agent, model } = await start(AcpAgent);
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
  expect(asked).toMatchObject([{ toolCall: { title: "touch settings.json" } }]);
  expect(JSON.stringify(asked)).toContain(`Runs in ${agent.cwd}/.vscode`);
  expect(existsSync(join(agent.cwd, ".vscode", "settings.json"))).toBe(false);
  expect(existsSync(join(agent.cwd, "settings.json"))).toBe(true);
});

test("a resumed session starts with a new shell, and its model gets a note", async () => {
  const { agent, model } = await start(AcpAgent);
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
  ["a plain one", nap(2), nap(2)],
  ["one that left its session", `setsid -f setsid ${nap(3)}; ${nap(3)}`, nap(3)],
  ["one that ignores being asked", `trap '' TERM INT HUP; (trap '' TERM; while :; do ${nap(4)}; done)`, nap(4)],
  ["one behind a pipe", `yes | ${nap(5)} | cat`, nap(5)],
])("a cancelled turn leaves no process alive: %s", async (_, command, name) => {
  const { agent, model } = await start(AcpAgent);
  const sessionId = await openSession(agent);
  model.script({ parts: [call("terminal", { command })] });
  const turn = agent.prompt(sessionId, "go");
  await expect.poll(() => isRunning(name)).toBe(true);
  agent.notify("session/cancel", { sessionId });
  expect((await turn).result).toMatchObject({ stopReason: "cancelled" });
  await expect.poll(() => isRunning(name)).toBe(false);
});

test("closing a session ends its background processes", async () => {
  const { agent, model } = await start(AcpAgent);
  const sessionId = await openSession(agent);
  model.script({ parts: [call("terminal", { command: nap(6), background: true })] }, say("started"));
  await agent.prompt(sessionId, "go");
  expect(isRunning(nap(6))).toBe(true);
  await agent.request("session/close", { sessionId });
  expect(isRunning(nap(6))).toBe(false);
});

test("the end of stdin ends background processes, also those that ignore being asked", async () => {
  const { agent, model } = await start(AcpProcess);
  const sessionId = await openSession(agent);
  model.script(
    { parts: [call("terminal", { command: `trap '' TERM; while :; do ${nap(7)}; done`, background: true })] },
    say("started"),
  );
  await agent.prompt(sessionId, "go");
  await agent.stop();
  expect(agent.child.exitCode).toBe(0);
  // An agent that was too slow to see to it has left it to its guard.
  await expect.poll(() => isRunning(nap(7))).toBe(false);
});

test("an agent that is killed leaves nothing running either", async () => {
  const { agent, model } = await start(AcpProcess);
  const sessionId = await openSession(agent);
  const command = `setsid -f setsid ${nap(8)}; trap '' TERM HUP; while :; do ${nap(9)}; done`;
  model.script({ parts: [call("terminal", { command, background: true })] }, say("started"));
  await agent.prompt(sessionId, "go");
  expect(isRunning(nap(8)) && isRunning(nap(9))).toBe(true);
  agent.child.kill("SIGKILL");
  await agent.exited;
  await expect.poll(() => isRunning(`sleep 7${process.pid}[89]`)).toBe(false);
});

test("a command may take as long as config.yaml's terminal.timeout says, when its call names no time", async () => {
  const { agent, model } = await start(AcpAgent);
  writeFileSync(join(agent.home, "config.yaml"), "terminal:\n  timeout: 1\n");
  const sessionId = await openSession(agent);
  model.script(
    { parts: [call("terminal", { command: nap(5) })] },
    { parts: [call("terminal", { command: "sleep 1.5; echo late", timeout: 20 })] },
    say("done"),
  );
  await agent.prompt(sessionId, "go");
  const [short, long] = results(model);
  expect(short).toContain("[stopped: timeout after 1 s.");
  expect(long).toMatch(/^late\n\[exit code 0/);
  expect(isRunning(nap(5))).toBe(false);
});

test("the agent's keys are not in a command's environment, unless config.yaml passes them on", async () => {
  const model = await startModelServer();
  const environment = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-own", MY_OWN: "mine" };
  const keys = { OPENAI_API_KEY: "sk-openai", ANTHROPIC_API_KEY: "sk-anthropic", ACME_KEY: "sk-acme" };
  const agent = new AcpProcess({ ...environment, ...keys });
  running.push(agent, model);
  writeFileSync(
    join(agent.home, "config.yaml"),
    "terminal:\n  env_passthrough: [ANTHROPIC_API_KEY, FROM_FILE, NOWHERE]\n" +
      "providers:\n  acme:\n    base_url: http://127.0.0.1:9/v1\n    key_env: ACME_KEY\n",
  );
  writeFileSync(join(agent.home, ".env"), "FROM_FILE=it's a file\nOTHER_SECRET=x\n");
  const sessionId = await openSession(agent);
  const show = "env | grep -E '^(HERMES_API_KEY|OPENAI|ANTHROPIC|ACME|MY_OWN|FROM_FILE|NOWHERE|OTHER)' | sort";
  model.script(
    { parts: [call("terminal", { command: show })] },
    { parts: [call("terminal", { command: "export OPENAI_API_KEY=set-by-hand" })] },
    { parts: [call("terminal", { command: show })] },
    say("done"),
  );
  await agent.prompt(sessionId, "go");
  const [first, , third] = results(model);
  const passed = "ANTHROPIC_API_KEY=sk-anthropic\nFROM_FILE=it's a file\n";
  expect(first).toMatch(new RegExp(`^${passed}\\[exit code 0`));
  expect(third).toMatch(new RegExp(`^${passed}OPENAI_API_KEY=set-by-hand\n\\[exit code 0`));
});

test("commands run on the backend of config.yaml; an unreachable one is reported, and files still work", async () => {
  const model = await startModelServer();
  const home = mkdtempSync(join(tmpdir(), "hermes-acp-home-"));
  writeFileSync(join(home, "config.yaml"), "terminal:\n  backend: ssh\n  ssh_host: host\n");
  const bin = join(home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "ssh"), "#!/bin/sh\necho 'ssh: host is unreachable' >&2\nexit 255\n", { mode: 0o755 });
  const environment = {
    PATH: `${bin}:${process.env["PATH"]}`,
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "m",
    HERMES_API_KEY: "k",
  };
  const agent = new AcpProcess(environment, home);
  running.push(agent, model);
  const sessionId = await openSession(agent);
  model.script(
    { parts: [call("terminal", { command: "touch ran" }), call("read_file", { path: "a.txt" })] },
    say("done"),
  );
  expect((await agent.prompt(sessionId, "go")).result).toMatchObject({ stopReason: "end_turn" });
  const [ran, read] = results(model);
  expect(ran).toContain(
    "Commands cannot be run in host (ssh): ssh: host is unreachable. Check terminal in config.yaml.",
  );
  expect(read).toContain("one");
  expect(existsSync(join(agent.cwd, "ran"))).toBe(false);
});

test("an editor's own terminals run background commands too", async () => {
  const { agent, model } = await start(AcpAgent);
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
  expect(created).toMatchObject([{ command: "/bin/sh", cwd: agent.cwd }]);
  expect(logged).toContain("from the editor");
  expect(written).toContain("Ask the user to type it there");
  expect(ended).toEqual(["t1"]);
  expect(killed).toContain("p1 has ended: ended by signal SIGTERM");
});

test("a process whose terminal the editor has closed is reported as lost, and the turn continues", async () => {
  const { agent, model } = await start(AcpAgent);
  let isOpen = true as boolean;
  agent
    .on("terminal/create", () => ({ terminalId: "t1" }))
    .on("terminal/wait_for_exit", () => new Promise(() => undefined))
    .on("terminal/output", () => (isOpen ? { output: "ready\n", truncated: false } : { isGone: true }))
    .on("terminal/release", () => ({}));
  const sessionId = await openSession(agent, { terminal: true });
  model.script({ parts: [call("terminal", { command: "serve", background: true, watch: ["error"] })] }, say("started"));
  await agent.prompt(sessionId, "go");
  isOpen = false;
  model.script(say("fine"));
  expect((await agent.prompt(sessionId, "and now?")).result).toMatchObject({ stopReason: "end_turn" });
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("[p1 is lost: ");
});
