import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { AcpClient, Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, hold, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
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

function optionKinds(asked: readonly Json[]): unknown[] {
  const options = asked[0]?.["options"];
  return Array.isArray(options) ? options.map((option: Json) => option["kind"]) : [];
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

test("the main job: an edit, a command, the plan, and how it ended", async () => {
  const agent = startProcess();
  const { agentInfo, agentCapabilities } = await agent.initialize();
  expect(agentInfo).toMatchObject({ name: "hermes", title: "Hermes" });
  expect(agentCapabilities).toMatchObject({ loadSession: true, promptCapabilities: { image: true } });
  const sessionId = await agent.newSession();
  const { result } = await agent.prompt(sessionId, PROMPT);
  expect(result).toMatchObject({ stopReason: "end_turn" });
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
  expect(agent.text()).toContain("one\nTWO\nthree");
  const edit = agent.of("tool_call").find((update) => update["name"] === "patch");
  const updates = agent.of("tool_call_update").filter((update) => update["toolCallId"] === edit?.["toolCallId"]);
  // Pending ones show the arguments while they stream, and come first.
  expect(updates.map((update) => update["status"]).join(" ")).toMatch(/^(pending )*in_progress completed$/);
  expect(edit).toMatchObject({
    status: "pending",
    kind: "edit",
    title: "Edit a.txt",
    locations: [{ path: join(agent.cwd, "a.txt") }],
  });
  expect(updates[0]).toMatchObject({
    content: [{ type: "diff", oldText: "one\ntwo\nthree\n", newText: "one\nTWO\nthree\n" }],
  });
  const plans = agent
    .of("plan")
    .map((update) => (update["entries"] as { status: string }[]).map(({ status }) => status));
  expect(plans).toEqual([
    ["in_progress", "pending"],
    ["completed", "in_progress"],
    ["completed", "completed"],
  ]);
  expect(agent.of("available_commands_update")).toHaveLength(1);
  expect(agent.of("usage_update").length).toBeGreaterThan(0);
  expect(agent.strayLines).toEqual([]);
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

test("a risky command asks with its whole text and the reason; a refusal reaches the model", async () => {
  const agent = start();
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "reject" } };
  });
  await agent.initialize();
  await agent.prompt(await agent.newSession(), "run rm a.txt");
  expect(asked).toMatchObject([
    {
      toolCall: {
        title: "rm a.txt",
        kind: "execute",
        content: [{ content: { text: expect.stringMatching(/```sh\nrm a\.txt\n```\n- /) } }],
      },
    },
  ]);
  expect(optionKinds(asked)).toEqual(["allow_once", "allow_always", "reject_once"]);
  expect(agent.text()).toContain("the user said no");
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
});

test("a client that cannot ask is never taken for a yes", async () => {
  const agent = start();
  await agent.initialize();
  await agent.prompt(await agent.newSession(), "run rm a.txt");
  expect(agent.text()).toContain("the user did not answer");
});

test("modes: plan writes nothing, and both ways of choosing agree", async () => {
  const agent = start();
  await agent.initialize();
  const sessionId = await agent.newSession();
  expect(await agent.request("session/set_mode", { sessionId, modeId: "plan" })).toMatchObject({ result: {} });
  expect(agent.of("current_mode_update")).toMatchObject([{ currentModeId: "plan" }]);
  await agent.prompt(sessionId, "replace two with TWO in a.txt");
  expect(agent.text()).toContain("Plan mode is read-only");
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  const { result } = await agent.request("session/set_config_option", { sessionId, configId: "mode", value: "auto" });
  expect(result?.["configOptions"]).toMatchObject([{ id: "mode", currentValue: "auto" }, { id: "model" }]);
  const wrong = await agent.request("session/set_mode", { sessionId, modeId: "yolo" });
  expect(wrong.error).toMatchObject({ code: -32602, message: expect.stringContaining("modeId") });
});

test("cancel ends a turn that streams, that runs a command, and that asks", async () => {
  const { agent, model } = await startWithModel(start);
  await agent.initialize();
  agent.on("session/request_permission", () => new Promise(() => undefined));
  const sessionId = await agent.newSession();
  const never = new Promise(() => undefined);
  const cancelWhen = async (ready: () => boolean): Promise<void> => {
    const turn = agent.prompt(sessionId, "go");
    await expect.poll(ready).toBe(true);
    agent.notify("session/cancel", { sessionId });
    expect((await turn).result).toMatchObject({ stopReason: "cancelled" });
  };
  model.script({
    parts: [
      { type: "text", text: "begun" },
      { type: "wait", until: never },
    ],
  });
  await cancelWhen(() => agent.text().includes("begun"));
  model.script({ parts: [call("terminal", { command: "sleep 300 | cat" })] });
  await cancelWhen(() => agent.of("tool_call").some((update) => update["name"] === "terminal"));
  model.script({ parts: [call("terminal", { command: "rm a.txt" })] });
  await cancelWhen(() => agent.of("tool_call").some((update) => update["title"] === "rm a.txt"));
  model.script(say("still here"));
  expect((await agent.prompt(sessionId, "and now?")).result).toMatchObject({ stopReason: "end_turn" });
  const sent = model.requests.at(-1)?.body.messages ?? [];
  expect(JSON.stringify(sent)).toContain("which ended with:\\n");
  expect(sent.map((message) => message["role"]).slice(-1)).toEqual(["user"]);
});

test("each invalid input gets its error, and the agent continues", async () => {
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
  expect((await agent.request("no/such_method", {})).error).toMatchObject({ code: -32601 });
  const wrong = await agent.request("session/new", { cwd: 7, mcpServers: [] });
  expect(wrong.error).toMatchObject({ code: -32602 });
  expect(JSON.stringify(wrong.error)).toContain("cwd");
  for (const cwd of ["relative/path", "/no/such/folder/anywhere"]) {
    const { error } = await agent.request("session/new", { cwd, mcpServers: [] });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("cwd") });
  }
  const unknown = await agent.prompt("20200101_000000_deadbeef", "hello");
  expect(unknown.error).toMatchObject({ code: -32002, message: expect.stringContaining("cannot be used") });
  const huge = await agent.prompt(await agent.newSession(), "x".repeat(5_000_000));
  expect(huge.result).toMatchObject({ stopReason: "end_turn" });
  expect(agent.text()).toContain("not a language model");
});

test("a model continues after an unknown tool, truncated arguments and wrong types", async () => {
  const { agent, model } = await startWithModel(start);
  await agent.initialize();
  model.script(
    {
      parts: [
        call("readfile", {}),
        { type: "call", name: "read_file", input: {}, raw: '{"path": "a.t' },
        call("read_file", { path: "a.txt", limit: "many" }),
      ],
    },
    say("understood"),
  );
  expect((await agent.prompt(await agent.newSession(), "go")).result).toMatchObject({ stopReason: "end_turn" });
  const results = model.requests[1]?.body.messages.filter((message) => message["role"] === "tool") ?? [];
  expect(results.map((message) => message["content"])).toEqual([
    expect.stringContaining("Did you mean read_file"),
    expect.stringContaining("cut off"),
    expect.stringContaining("limit:"),
  ]);
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
  const lines = chat("--json", "read a.txt").stdout.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).update.sessionUpdate)).toContain("tool_call");
});

test("a message sent during a turn reaches the model after the running call", async () => {
  const { agent, model } = await startWithModel(start);
  await agent.initialize();
  const sessionId = await agent.newSession();
  const gate = hold();
  model.script({ parts: [call("read_file", { path: "a.txt" }), gate.part] }, say("in French, then"), say("later"));
  const turn = agent.prompt(sessionId, "go");
  await gate.reached;
  const prompt = [{ type: "text", text: "answer in French" }];
  expect(await agent.request("_hermes/session/steer", { sessionId, prompt })).toMatchObject({
    result: { queued: true },
  });
  gate.release();
  expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
  const roles = model.requests[1]?.body.messages.map(({ role, content }) => (role === "user" ? content : role));
  expect(roles).toEqual(["system", "go", "assistant", "tool", "answer in French"]);
  expect(agent.of("user_message_chunk")).toMatchObject([{ content: { text: "answer in French" } }]);
  const late = await agent.request("_hermes/session/steer", { sessionId, prompt });
  expect(late.error).toMatchObject({ code: -32600, message: expect.stringContaining("No turn is running") });
  const wrong = await agent.request("_hermes/session/steer", { sessionId, prompt: "hi" });
  expect(wrong.error).toMatchObject({ code: -32602, message: expect.stringContaining("prompt") });
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
