import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { notifier } from "../../../agent-core/agent/notifier.ts";
import { type AgentCallbacks, AIAgent, type AIAgentOptions, IterationBudget } from "../../../agent-core/index.ts";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import { call, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let model: ModelServer;
let cwd: string;

beforeEach(async () => {
  model = await startModelServer();
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-agent-")));
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
});
afterEach(() => model.stop());

function agentWith(callbacks: AgentCallbacks = {}, options: Partial<AIAgentOptions> = {}): AIAgent {
  return new AIAgent({
    baseUrl: model.baseUrl,
    model: "test-model",
    apiKey: "sk-test-123456",
    cwd,
    home: join(cwd, ".home"),
    environment: {},
    callbacks,
    ...options,
  });
}
const lastRequest = () => model.requests.at(-1)?.body.messages ?? [];

test("chat returns the answer, and runConversation the whole result of the turn", async () => {
  model.script(say("hello"), say("again"));
  const agent = agentWith();
  expect(await agent.chat("hi")).toBe("hello");
  const result = await agent.runConversation({ userMessage: "more" });
  expect(result).toMatchObject({
    finalResponse: "again",
    stopReason: "end_turn",
    iterations: 1,
    usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60 },
  });
  expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});

test("the prefix of every request stays the same to the byte", async () => {
  model.script({ parts: [call("read_file", { path: "a.txt" })] }, say("done"), say("more"));
  const agent = agentWith();
  await agent.chat("go");
  await agent.chat("and?");
  const [first, second, third] = model.requests.map(({ body }) => body);
  expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
  expect(third?.messages.slice(0, second?.messages.length)).toEqual(second?.messages);
  expect(JSON.stringify(third?.["tools"])).toBe(JSON.stringify(first?.["tools"]));
  expect(JSON.stringify({ system: first?.messages[0], tools: first?.["tools"] }).length).toBeLessThan(16_000);
});

test("prefill messages precede the conversation in every request, and are never stored", async () => {
  model.script(say("one"), say("two"));
  const agent = agentWith(
    {},
    {
      prefillMessages: [
        { role: "user", content: "Speak like a sailor." },
        { role: "assistant", content: "Aye." },
      ],
    },
  );
  await agent.chat("hi");
  await agent.chat("more");
  expect(lastRequest().map(({ content }) => content)).toEqual([
    expect.any(String),
    "Speak like a sailor.",
    "Aye.",
    "hi",
    "one",
    "more",
  ]);
  expect(agent.messages).toHaveLength(4);
});

test("calls of one answer run in parallel, and their results are in the calls' order", async () => {
  const finished: string[] = [];
  const sleepers = ["0.4", "0.1"].map((time) => call("terminal", { command: `sleep ${time}; echo slept ${time}` }));
  model.script({ parts: sleepers }, say("done"));
  const agent = agentWith(
    { toolProgress: (event) => event.type === "finished" && finished.push(event.result.text.split("\n")[0] ?? "") },
    { approvalMode: () => "auto" },
  );
  await agent.chat("go");
  expect(finished).toEqual(["slept 0.1", "slept 0.4"]);
  const results = lastRequest().filter(({ role }) => role === "tool");
  expect(results.map(({ content }) => String(content).split("\n")[0])).toEqual(["slept 0.4", "slept 0.1"]);
});

test("edits of the same file run one after the other, and a later read sees them", async () => {
  model.script(
    {
      parts: [
        call("patch", { path: "a.txt", old_string: "one", new_string: "1" }),
        call("patch", { path: "a.txt", old_string: "two", new_string: "2" }),
        call("read_file", { path: "a.txt" }),
      ],
    },
    say("done"),
  );
  await agentWith().chat("go");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("1\n2\n");
  expect(lastRequest().at(-1)).toMatchObject({ role: "tool", content: "1|1\n2|2" });
});

test("a read-only call starts before the answer has ended", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const order: string[] = [];
  model.script(
    {
      parts: [
        call("read_file", { path: "a.txt" }),
        call("read_file", { path: "b.txt" }),
        { type: "wait", until: released },
      ],
    },
    say("done"),
  );
  const agent = agentWith({
    toolProgress: (event) => {
      if (event.type === "finished" && order.push(event.name) === 1) release();
    },
  });
  await agent.chat("go");
  expect(order).toEqual(["read_file", "read_file"]);
});

test("the budget warning is in the request only, and a spent budget ends with a summary without tools", async () => {
  const step = () => ({ parts: [call("read_file", { path: "a.txt" })] });
  model.script(step(), step(), step(), step(), say("what was done"));
  const agent = agentWith({}, { maxIterations: 4 });
  const result = await agent.runConversation({ userMessage: "go" });
  expect(result).toMatchObject({ stopReason: "max_turn_requests", finalResponse: "what was done", iterations: 4 });
  expect(JSON.stringify(model.requests[3]?.body)).toContain("[Budget: 0 of 4 steps left");
  expect(JSON.stringify(agent.messages)).not.toContain("[Budget:");
  expect(lastRequest().at(-1)).toMatchObject({ role: "user", content: expect.stringContaining("Sum up") });
  expect(model.requests[4]?.body["tools"]).toBeUndefined();
});

test("a child's iterations count against a shared parent budget", async () => {
  const step = () => ({ parts: [call("read_file", { path: "a.txt" })] });
  model.script(step(), step(), say("what was done"), step(), say("of its own"));
  const parent = new IterationBudget(3);
  parent.take();
  const child = agentWith({}, { maxIterations: 10, parentBudget: parent });
  expect(await child.runConversation({ userMessage: "go" })).toMatchObject({
    stopReason: "max_turn_requests",
    iterations: 2,
  });
  expect(parent.isSpent).toBe(true);
  const own = agentWith({}, { maxIterations: 1 });
  expect(await own.runConversation({ userMessage: "go" })).toMatchObject({ iterations: 1 });
});

test("three answers in a row with invalid calls only are explained, and a fourth one ends the turn with one line", async () => {
  model.script(...Array.from({ length: 5 }, () => ({ parts: [call("read_file", { limit: 7 })] })));
  const result = await agentWith().runConversation({ userMessage: "go" });
  expect(result.stopReason).toBe("error");
  expect(result.fault?.message).toContain("invalid calls of read_file in 4 answers in a row");
  expect(model.requests).toHaveLength(4);
});

test("a turn that makes progress goes on, whatever the number of invalid calls", async () => {
  const wrong = call("read_file", { limit: 7 });
  const right = call("read_file", { path: "a.txt" });
  const mixed = Array.from({ length: 6 }, (_, index) => ({ parts: index % 2 === 0 ? [wrong] : [wrong, right] }));
  model.script(...mixed, say("done"));
  expect(await agentWith().chat("go")).toBe("done");
});

test("arguments that nearly fit run as fitted, and the card shows the values that ran", async () => {
  model.script({ parts: [call("read_file", { file_path: "a.txt", offset: "2", limit: null })] }, say("done"));
  const started: unknown[] = [];
  await agentWith({ toolProgress: (event) => event.type === "started" && started.push(event.input) }).chat("go");
  expect(started).toEqual([{ path: "a.txt", offset: 2 }]);
  expect(lastRequest().at(-1)?.["content"]).toBe("2|two");
});

test.each([
  ["two objects", '{"path":"a.txt","limit":1}{"path":"a.txt","offset":2}', ["1|one", "2|two"]],
  ["lines of objects", '{"path":"a.txt","offset":2}\n{"path":"a.txt","limit":1}', ["2|two", "1|one"]],
  ["an empty object in front", '{}{"path":"a.txt","offset":2}', ["2|two"]],
  ["the same object twice", '{"path":"a.txt","offset":2}{"path":"a.txt","offset":2}', ["2|two"]],
  ["brackets in a text", '{"path":"a.txt","offset":2}{"path":"}{"}', ["2|two", "does not exist"]],
])("arguments glued together are calls of their own: %s", async (_, raw, results) => {
  model.script({ parts: [{ type: "call", name: "read_file", input: {}, raw }] }, say("done"));
  await agentWith().chat("go");
  const found = lastRequest().filter(({ role }) => role === "tool");
  expect(found.map(({ content }) => String(content))).toEqual(results.map((text) => expect.stringContaining(text)));
  expect(new Set(found.map(({ tool_call_id: id }) => id)).size).toBe(results.length);
});

test("a model that polls goes on while the results change, and is stopped when they repeat", async () => {
  const poll = { parts: [call("terminal", { command: "echo x >> count; wc -l < count" })] };
  const same = { parts: [call("terminal", { command: "wc -l < a.txt" })] };
  model.script(...Array.from({ length: 20 }, () => poll), say("done"), ...Array.from({ length: 20 }, () => same));
  const agent = agentWith({}, { approvalMode: () => "auto" });
  expect(await agent.chat("go")).toBe("done");
  const result = await agent.runConversation({ userMessage: "again" });
  expect(result.fault?.message).toContain("The model made the same calls again and again");
});

test("an interrupted answer leaves no answer in the history, and the next prompt has a note about it", async () => {
  model.script(
    {
      parts: [
        { type: "text", text: "half of" },
        { type: "wait", until: new Promise(() => undefined) },
      ],
    },
    say("whole"),
  );
  const agent = agentWith({ streamDelta: ({ text }) => text === "half of" && agent.turns.interrupt() });
  expect(await agent.runConversation({ userMessage: "go" })).toMatchObject({
    stopReason: "cancelled",
    finalResponse: "",
  });
  expect(agent.messages).toEqual([{ role: "user", content: "go" }]);
  expect(await agent.chat("again")).toBe("whole");
  expect(lastRequest().at(-1)).toEqual({
    role: "user",
    content: expect.stringMatching(/^go\n\n\[.+half of\]\n\nagain$/su),
  });
});

test("a callback that throws never ends a turn, and is logged", async () => {
  const defects: string[] = [];
  model.script(say("fine"));
  const agent = agentWith(
    {
      streamDelta: () => {
        throw new Error("broken listener");
      },
    },
    { onDefect: (message) => defects.push(message) },
  );
  expect(await agent.chat("go")).toBe("fine");
  expect(defects[0]).toContain("broken listener");
});

test("a call that asks is refused without a user; the reason of a refusal reaches the model", async () => {
  const risky = { parts: [call("terminal", { command: "rm a.txt" })] };
  model.script(risky, say("ok"), risky, say("ok"));
  await agentWith().chat("go");
  expect(String(lastRequest().at(-1)?.["content"])).toContain("no user can be asked here");
  await agentWith({ approval: () => Promise.resolve({ kind: "rejected", reason: "keep it" }) }).chat("go");
  expect(String(lastRequest().at(-1)?.["content"])).toContain("the user said no: keep it");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\ntwo\n");
});

test("a call that is cancelled while it waits for its permission counts as rejected, not as failed", async () => {
  model.script({ parts: [call("terminal", { command: "rm a.txt" })] }, say("ok"));
  const finished: unknown[] = [];
  const agent: AIAgent = agentWith({
    approval: () => {
      agent.turns.interrupt();
      return Promise.resolve({ kind: "unavailable" });
    },
    toolProgress: (event) => event.type === "finished" && finished.push(event.result),
  });
  await agent.runConversation({ userMessage: "go" });
  expect(finished).toMatchObject([{ ok: false, rejected: true, text: expect.stringContaining("cancelled") }]);
});

test("a result has no half of a character where a tool cut a line: servers refuse it, with each later request", async () => {
  writeFileSync(join(cwd, "wide.txt"), `${"x".repeat(1_999)}😀`);
  model.script({ parts: [call("read_file", { path: "wide.txt" })] }, say("done"));
  await agentWith().chat("go");
  const content = String(lastRequest().at(-1)?.["content"]);
  expect(content).toContain("… [2001 characters]");
  expect(content.isWellFormed()).toBe(true);
});

test("a result over 100,000 characters is written whole to a file", async () => {
  writeFileSync(join(cwd, "long.txt"), `${"x".repeat(99)}\n`.repeat(1_500));
  model.script({ parts: [call("read_file", { path: "long.txt", limit: 2000 })] }, say("done"));
  await agentWith().chat("go");
  const content = String(lastRequest().at(-1)?.["content"]);
  expect(content.length).toBeLessThan(45_000);
  const path = /is in (\S+\.txt)/.exec(content)?.[1] ?? "";
  expect(readFileSync(path, "utf8").length).toBeGreaterThan(150_000);
});

test("invalid options throw one clear line", () => {
  expect(() => agentWith({}, { enabledToolsets: ["fil"] })).toThrow("Did you mean file");
  expect(() => agentWith({}, { baseUrl: "localhost" })).toThrow('"localhost" is not a base URL');
});

test("a folder's instructions come with the first file that is read in it, and only then", async () => {
  mkdirSync(join(cwd, "lib"));
  writeFileSync(join(cwd, "lib", "AGENTS.md"), "Write tests first.");
  writeFileSync(join(cwd, "lib", "x.txt"), "x\n");
  const read = { parts: [call("read_file", { path: "lib/x.txt" })] };
  model.script(read, read, say("done"));
  await agentWith().chat("go");
  const results = lastRequest().filter(({ role }) => role === "tool");
  expect(results.map(({ content }) => String(content).includes("Write tests first."))).toEqual([true, false]);
});

test("the project's instructions are in the system prompt, with guidance for the available tools only", async () => {
  writeFileSync(join(cwd, "AGENTS.md"), "Use tabs.");
  model.script(say("ok"), say("ok"));
  await agentWith().chat("go");
  await agentWith({}, { disabledToolsets: ["todo", "terminal"] }).chat("go");
  const [all, fewer] = model.requests.map(({ body }) => String(body.messages[0]?.["content"]));
  expect(all).toContain("Use tabs.");
  expect(all).toContain("`todo`");
  expect(fewer).not.toMatch(/`todo`|run the test/);
});

test("a stored session continues by its id, with its messages, its folder and its prefix", async () => {
  const home = join(cwd, ".home");
  const id = "20261123_101010_0123abcd";
  const path = join(home, "vscode", "sessions", `${id}.jsonl`);
  const journal = new Journal({ path, sessionId: id, cwd, now: Date.now, onFailure: expect.unreachable });
  model.script(say("one"), say("two"));
  const first = agentWith({}, { sessionId: id, journal });
  await first.chat("hi");
  await first.close();
  journal.close();
  const endpoint = { baseUrl: model.baseUrl, model: "test-model", apiKey: "sk-test-123456", environment: {} };
  const again = await AIAgent.load(id, { home, ...endpoint });
  expect(await again.chat("more")).toBe("two");
  expect(
    lastRequest()
      .slice(1)
      .map(({ content }) => content),
  ).toEqual(["hi", "one", "more"]);
  expect(lastRequest()[0]).toEqual(model.requests[0]?.body.messages[0]);
  await again.close();
  const plain = new AIAgent({ sessionId: id, home, ...endpoint });
  expect(plain.messages.map(({ content }) => content)).toEqual(["hi", "one", "more", "two"]);
  model.script(say("three"));
  expect(await plain.chat("last")).toBe("three");
  await plain.close();
  expect((await AIAgent.load(id, { home, ...endpoint })).messages.at(-1)?.content).toBe("three");
  await expect(AIAgent.load("20261123_101010_00000000", { home })).rejects.toThrow(/could not be read/);
  await expect(AIAgent.load("../x", { home })).rejects.toThrow("is not the id of a session");
});

test("a caller sees the agent's states, and tools and hooks get the id of the task", async () => {
  model.script(
    { parts: [call("clarify", { question: "Which?", choices: ["a", "b"] })] },
    { parts: [call("read_file", { path: "a.txt" })] },
    say("ok"),
  );
  const states: string[] = [];
  const payloads: unknown[] = [];
  const hook = {
    event: "pre_tool_call",
    label: "spy",
    origin: "home",
    failClosed: false,
    timeoutMs: 5_000,
    run: (payload: { readonly extra: unknown }) => {
      payloads.push(payload.extra);
      return Promise.resolve({});
    },
  } as const;
  const agent = agentWith(
    { state: ({ state }) => states.push(state), clarify: () => Promise.resolve({ kind: "answered", text: "a" }) },
    { hooks: () => [hook] },
  );
  await agent.runConversation({ userMessage: "go", taskId: "task-7" });
  expect(states).toEqual([
    "thinking",
    "executing",
    "waiting",
    "executing",
    "thinking",
    "executing",
    "thinking",
    "idle",
  ]);
  expect(payloads).toMatchObject([{ task_id: "task-7" }, { task_id: "task-7" }]);
});

test("a verbose agent logs its steps and calls, and a quiet one emits warnings alone", async () => {
  model.script({ parts: [call("read_file", { path: "a.txt" })] }, say("ok"));
  const log: string[] = [];
  await agentWith({}, { verboseLogging: true, onDefect: (line) => log.push(line) }).chat("go");
  expect(log.find((line) => line.startsWith('step {"iteration":1,'))).toContain('"inputTokens":100');
  expect(log.find((line) => line.startsWith('toolProgress {"type":"started"'))).toContain("read_file");
  expect(log.filter((line) => line.startsWith("streamDelta"))).toEqual([]);
  const shown: string[] = [];
  const { status } = notifier({ status: ({ message }) => shown.push(message) }, expect.unreachable, {
    quietMode: true,
  });
  status({ severity: "info", message: "Compressed." });
  status({ severity: "warning", message: "Almost full." });
  expect(shown).toEqual(["Almost full."]);
});
