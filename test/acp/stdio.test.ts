import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { AcpClient, Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { processesSleeping } from "../support/processes.ts";

const PROMPT = "replace two with TWO in a.txt then run cat a.txt";
const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

function start(environment: Readonly<Record<string, string>> = {}, home?: string): AcpAgent {
  const agent = new AcpAgent(environment, home);
  running.push(agent);
  return agent;
}

function startProcess(environment: Readonly<Record<string, string>> = {}): AcpProcess {
  const agent = new AcpProcess(environment);
  running.push(agent);
  return agent;
}

/** Locks of the sessions in use. */
function locksOf({ home }: AcpClient): readonly string[] {
  return readdirSync(join(home, "vscode", "sessions")).filter((name) => name.endsWith(".lock"));
}

async function startWithModel<Client extends AcpClient>(
  launch: (environment: Readonly<Record<string, string>>) => Client,
): Promise<{ agent: Client; model: ModelServer }> {
  const model = await startModelServer();
  const agent = launch({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "test-model",
    HERMES_API_KEY: "sk-test-key-123456",
  });
  running.push(model);
  return { agent, model };
}

test("`hermes acp` serves an editor, and ends with its input", async () => {
  const agent = new AcpProcess({}, undefined, undefined, ["dist/cli.js", "acp"]);
  running.push(agent);
  expect(await agent.initialize()).toMatchObject({ protocolVersion: 1 });
  expect(await agent.newSession()).not.toBe("undefined");
  expect(agent.strayLines).toEqual([]);
  agent.child.stdin?.end();
  expect(await agent.exited).toBe(0);
});

test("the agent uses the client's files and terminals when offered, and reads unsaved text", async () => {
  const agent = start();
  const unsaved = new Map([["a.txt", "one\ntwo unsaved\nthree\n"]]);
  const commands: Json[] = [];
  agent
    .on("fs/read_text_file", ({ path }) => ({ content: unsaved.get(String(path).split("/").at(-1) ?? "") }))
    .on(
      "fs/write_text_file",
      ({ path, content }) => void unsaved.set(String(path).split("/").at(-1) ?? "", String(content)),
    )
    .on("terminal/create", (params) => {
      commands.push({ ...params, line: readFileSync(String((params["args"] as string[])[0]), "utf8") });
      return { terminalId: "t1" };
    })
    .on("terminal/wait_for_exit", () => ({ exitCode: 0, signal: null }))
    .on("terminal/output", () => ({ output: "from the client\n", truncated: false }))
    .on("terminal/release", () => ({}));
  await agent.initialize({ fs: { readTextFile: true, writeTextFile: true }, terminal: true });
  await agent.prompt(await agent.newSession(), 'replace "two unsaved" with 2 in a.txt then run cat a.txt');
  expect(unsaved.get("a.txt")).toBe("one\n2\nthree\n");
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  const line = expect.stringMatching(/^exec \/usr\/bin\/env -i .* \/bin\/bash -c 'cat a.txt'\n$/);
  expect(commands).toMatchObject([{ cwd: agent.cwd, command: "/bin/sh", line }]);
  expect(agent.text()).toContain("from the client");
});

test("a line that is no message gets its error, and the agent continues", async () => {
  const agent = startProcess();
  await agent.initialize();
  const broken = agent.replyTo(null);
  agent.write("{ this is not json\n");
  expect((await broken).error).toMatchObject({ code: -32700 });
  const large = await agent.prompt("any", "x".repeat(32_000_000));
  expect(large.error).toEqual({ code: -32600, message: "message too large (33 MB, limit 32 MB)" });
  const deep = agent.replyTo(77);
  agent.write(
    `{"jsonrpc":"2.0","id":77,"method":"session/new","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`,
  );
  expect((await deep).error).toMatchObject({ code: -32600, message: expect.stringContaining("nested too deeply") });
  expect((await agent.prompt(await agent.newSession(), "list files")).result).toMatchObject({ stopReason: "end_turn" });
});

test("a provider's refusal is one clear line without the key", async () => {
  const { agent, model } = await startWithModel(start);
  await agent.initialize();
  model.script({ status: 401, body: JSON.stringify({ error: { message: "Incorrect API key: sk-test-key-123456" } }) });
  const { error } = await agent.prompt(await agent.newSession(), "go");
  expect(error).toMatchObject({ code: -32000, data: { kind: "authentication", status: 401 } });
  expect(JSON.stringify(error)).not.toContain("sk-test-key");
});

test("a session continues after the process was killed, and is replayed with its diff", async () => {
  const first = startProcess();
  await first.initialize();
  const sessionId = await first.newSession();
  await first.prompt(sessionId, PROMPT);
  first.child.kill("SIGKILL");
  await first.exited;
  const second = start({}, first.home);
  await second.initialize();
  const loaded = await second.request("session/load", { sessionId, cwd: first.cwd, mcpServers: [] });
  expect(loaded.error).toBeUndefined();
  expect(second.of("user_message_chunk")).toMatchObject([{ content: { text: PROMPT } }]);
  expect(second.of("tool_call")).toContainEqual(
    expect.objectContaining({ title: "Edit a.txt", content: [expect.objectContaining({ type: "diff" })] }),
  );
  expect((await second.prompt(sessionId, "read a.txt")).result).toMatchObject({ stopReason: "end_turn" });
});

test("the end of stdin ends the agent and its processes", async () => {
  const { agent, model } = await startWithModel(startProcess);
  await agent.initialize();
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  const seconds = Number(`3${process.pid}`);
  model.script({ parts: [call("terminal", { command: `sleep ${seconds}` })] });
  void agent.prompt(sessionId, "go");
  const isRunning = (): boolean => processesSleeping(seconds).length > 0;
  await expect.poll(isRunning).toBe(true);
  await agent.stop();
  expect(agent.child.exitCode).toBe(0);
  await expect.poll(isRunning).toBe(false);
  expect(locksOf(agent)).toEqual([]);
});

test("a connection that fails during a turn ends the agent with a line on stderr, and leaves no process and no lock", async () => {
  const { agent, model } = await startWithModel(startProcess);
  await agent.initialize();
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  const seconds = Number(`4${process.pid}`);
  model.script({ parts: [call("terminal", { command: `sleep ${seconds}` })] });
  void agent.prompt(sessionId, "go");
  const isRunning = (): boolean => processesSleeping(seconds).length > 0;
  await expect.poll(isRunning).toBe(true);
  expect(locksOf(agent)).toHaveLength(1);
  const stderr: string[] = [];
  agent.child.stderr!.on("data", (data) => stderr.push(String(data)));
  agent.child.stdout!.destroy();
  for (const method of ["no/such_method", "no/such_method"]) void agent.request(method, {});
  expect(await agent.exited).toBe(1);
  expect(stderr.join("")).toContain("the connection to the editor failed: ");
  await expect.poll(isRunning).toBe(false);
  expect(locksOf(agent)).toEqual([]);
});

test("the foreign client acpx completes a prompt with an edit", () => {
  const agent = start();
  writeFileSync(join(agent.cwd, "b.txt"), "two\n");
  const run = spawnSync(
    "acpx",
    [
      "--cwd",
      agent.cwd,
      "--approve-all",
      "--agent",
      `node ${process.cwd()}/dist/acp.js`,
      "exec",
      "replace two with TWO in b.txt",
    ],
    {
      encoding: "utf8",
      env: { ...process.env, HERMES_HOME: agent.home, HERMES_PROVIDER: "offline", HOME: agent.home },
    },
  );
  expect(run.stdout).toContain("[done] end_turn");
  expect(readFileSync(join(agent.cwd, "b.txt"), "utf8")).toBe("TWO\n");
});

test("headless: edits the file and exits 0; without --yes an edit that asks is refused; an invalid option exits 2", () => {
  const agent = start();
  const chat = (...args: string[]) =>
    spawnSync("node", ["dist/cli.js", "--cwd", agent.cwd, ...args], {
      encoding: "utf8",
      env: { ...process.env, HERMES_HOME: agent.home, HERMES_PROVIDER: "offline" },
    });
  const edited = chat("--yes", "replace two with TWO in a.txt then run cat a.txt");
  expect(edited.status).toBe(0);
  expect(edited.stdout).toMatch(/^I will do this in 2 steps\.\n\n\*\*Replace two .*[^\n]\n$/s);
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
  const refused = chat("run rm a.txt");
  expect(refused.stderr).toContain("needs approval");
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
  expect(chat("--nonsense", "x").status).toBe(2);
  const updates = (...args: readonly string[]): readonly { sessionUpdate: string; content?: { text: string } }[] =>
    chat(...args)
      .stdout.trim()
      .split("\n")
      .map((line) => JSON.parse(line).update);
  const [whole, pieces] = [updates("--json", "read a.txt"), updates("--json", "--deltas", "read a.txt")];
  expect(whole.map(({ sessionUpdate }) => sessionUpdate)).toContain("tool_call");
  const texts = (all: typeof whole) =>
    all.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk").map(({ content }) => content?.text);
  expect(texts(whole).length).toBeLessThan(texts(pieces).length);
  expect(texts(whole).join("")).toBe(texts(pieces).join(""));
});

test("a resumed session sends the same prefix to the byte, whatever has changed around it", async () => {
  const { agent, model } = await startWithModel(startProcess);
  await agent.initialize();
  writeFileSync(join(agent.cwd, "AGENTS.md"), "Use tabs.\n");
  const sessionId = await agent.newSession();
  model.script({ parts: [call("read_file", { path: "a.txt" })] }, say("one"));
  await agent.prompt(sessionId, "go");
  agent.child.kill("SIGKILL");
  await agent.exited;
  writeFileSync(join(agent.cwd, "AGENTS.md"), "Use spaces.\n");
  const again = start(
    { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-test-key-123456" },
    agent.home,
  );
  await again.initialize();
  await again.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  model.script(say("two"));
  await again.prompt(sessionId, "on");
  const [, before, after] = model.requests.map(({ body }) => body);
  expect(JSON.stringify(after?.messages.slice(0, before?.messages.length))).toBe(JSON.stringify(before?.messages));
  expect(JSON.stringify(after?.["tools"])).toBe(JSON.stringify(before?.["tools"]));
  expect(String(after?.messages[0]?.["content"])).toContain("Use tabs.");
});
