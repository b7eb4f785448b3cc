// The protocol by each way to the agent: whatever a client does over stdio works over the others, too.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AcpClient, Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, hold, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { ServedClient, serveAgent, TOKEN } from "../support/served-agent.ts";

type Variables = Readonly<Record<string, string>>;
type Way = (environment: Variables) => Promise<AcpClient>;

async function served(environment: Variables): Promise<number> {
  const agent = await serveAgent({ environment });
  onTestFinished(() => agent.stop());
  return agent.port;
}

const ways: readonly (readonly [name: string, way: Way])[] = [
  ["stdio", async (environment) => new AcpProcess(environment)],
  ["WebSocket", async (environment) => new ServedClient(await served(environment), { scheme: "ws" })],
  ["HTTP", async (environment) => new ServedClient(await served(environment), { scheme: "http" })],
  [
    "the bridge",
    async (environment) => {
      const program = ["dist/cli.js", "connect", `ws://127.0.0.1:${await served(environment)}`];
      return new AcpProcess({ HERMES_SERVE_TOKEN: TOKEN }, undefined, undefined, program);
    },
  ],
];

describe.each(ways)("Over %s", (_, way) => {
  async function start(environment: Variables = {}): Promise<AcpClient> {
    const client = await way(environment);
    onTestFinished(() => client.stop());
    return client;
  }

  async function startWithModel(): Promise<{ readonly agent: AcpClient; readonly model: ModelServer }> {
    const model = await startModelServer();
    onTestFinished(() => model.stop());
    const key = { HERMES_API_KEY: "sk-test-key-123456" };
    return { model, agent: await start({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", ...key }) };
  }

  test("the main job: an edit, a command, the plan, and how it ended", async () => {
    const agent = await start();
    const { agentInfo, agentCapabilities } = await agent.initialize();
    expect(agentInfo).toMatchObject({ name: "hermes", title: "Hermes" });
    expect(agentCapabilities).toMatchObject({ loadSession: true, promptCapabilities: { image: true } });
    const sessionId = await agent.newSession();
    const { result } = await agent.prompt(sessionId, "replace two with TWO in a.txt then run cat a.txt");
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
    expect(agent instanceof AcpProcess ? agent.strayLines : []).toEqual([]);
  });

  test("a risky command asks with its whole text and the reason; a refusal reaches the model", async () => {
    const agent = await start();
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
    const agent = await start();
    await agent.initialize();
    await agent.prompt(await agent.newSession(), "run rm a.txt");
    expect(agent.text()).toContain("the user did not answer");
  });

  test("modes: plan writes nothing, and both ways of choosing agree", async () => {
    const agent = await start();
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
    const { agent, model } = await startWithModel();
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

  test("a message sent during a turn reaches the model after the running call", async () => {
    const { agent, model } = await startWithModel();
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

  test("a model continues after an unknown tool, truncated arguments and wrong types", async () => {
    const { agent, model } = await startWithModel();
    await agent.initialize();
    model.script(
      {
        parts: [
          call("read_fil", {}),
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

  test("a wrong request gets its error, and the agent continues", async () => {
    const agent = await start();
    await agent.initialize();
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

  test("a session is listed, resumed, loaded with its conversation, forked, closed and deleted", async () => {
    const agent = await start();
    await agent.initialize({ _meta: { hermes: { sessionIndex: true } } });
    const sessionId = await agent.newSession();
    const place = { sessionId, cwd: agent.cwd, mcpServers: [] };
    await agent.prompt(sessionId, "read a.txt");
    const listed = async (): Promise<unknown[]> => {
      const { result } = await agent.request("session/list", { cwd: agent.cwd });
      return ((result?.["sessions"] ?? []) as Json[]).map((session) => session["sessionId"]);
    };
    expect(await listed()).toEqual([sessionId]);
    expect(await agent.request("session/close", { sessionId })).toMatchObject({ result: {} });
    expect((await agent.prompt(sessionId, "read a.txt")).error).toMatchObject({ code: -32002 });
    expect((await agent.request("session/resume", place)).error).toBeUndefined();
    const before = agent.of("user_message_chunk").length;
    expect((await agent.request("session/load", place)).error).toBeUndefined();
    expect(agent.of("user_message_chunk").slice(before)).toMatchObject([{ content: { text: "read a.txt" } }]);
    const fork = String((await agent.request("session/fork", place)).result?.["sessionId"]);
    expect((await agent.prompt(fork, "list files")).result).toMatchObject({ stopReason: "end_turn" });
    await agent.request("session/delete", { sessionId });
    expect(await listed()).toEqual([fork]);
  });

  test("a question of the agent is a form, and the answer reaches the model", async () => {
    const { agent, model } = await startWithModel();
    const asked: Json[] = [];
    agent.on("elicitation/create", (params) => {
      asked.push(params);
      return { action: "accept", content: { choice: "blue" } };
    });
    await agent.initialize({ elicitation: { form: {} } });
    model.script({ parts: [call("clarify", { question: "Which colour?", choices: ["red", "blue"] })] }, say("Blue."));
    await agent.prompt(await agent.newSession(), "paint");
    expect(asked).toMatchObject([{ mode: "form", message: expect.stringContaining("Which colour?") }]);
    const answer = model.requests[1]?.body.messages.findLast(({ role }) => role === "tool");
    expect(answer?.["content"]).toContain("blue");
  });

  test("the client sees a command in the background, types into it and stops it", async () => {
    const { agent, model } = await startWithModel();
    await agent.initialize({ _meta: { hermes: { processes: true } } });
    const sessionId = await agent.newSession();
    await agent.request("session/set_mode", { sessionId, modeId: "auto" });
    const command = 'while read -r line; do echo "got $line" > got.txt; done';
    model.script({ parts: [call("terminal", { command, background: true })] }, say("started"));
    await agent.prompt(sessionId, "go");
    const states = (): unknown => {
      const { processes } = agent.notified("_hermes/process/changed").at(-1) ?? {};
      return (processes as Json[] | undefined)?.map(({ id, state }) => `${id} ${state}`);
    };
    await expect.poll(states).toEqual(["p1 waits-for-input"]);
    const listed = await agent.request("_hermes/process/list", { sessionId });
    expect(listed.result?.["processes"]).toMatchObject([{ id: "p1", command }]);
    await agent.request("_hermes/process/input", { sessionId, id: "p1", text: "hello\n" });
    const got = join(agent.cwd, "got.txt");
    await expect.poll(() => existsSync(got) && readFileSync(got, "utf8")).toBe("got hello\n");
    await agent.request("_hermes/process/stop", { sessionId, id: "p1" });
    await expect.poll(states).toEqual(["p1 ended"]);
  });
});

function optionKinds(asked: readonly Json[]): unknown[] {
  const options = asked[0]?.["options"];
  return Array.isArray(options) ? options.map((option: Json) => option["kind"]) : [];
}
