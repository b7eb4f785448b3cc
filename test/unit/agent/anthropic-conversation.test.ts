import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AIAgent, type AIAgentOptions } from "../../../agent-core/index.ts";
import { call, fail, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let model: ModelServer;
let cwd: string;

beforeEach(async () => {
  model = await startModelServer();
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-anthropic-")));
  writeFileSync(join(cwd, "a.txt"), "one\n");
});
afterEach(async () => {
  await model.stop();
  rmSync(cwd, { recursive: true });
});

function agentIn(apiMode: NonNullable<AIAgentOptions["apiMode"]>, options: Partial<AIAgentOptions> = {}): AIAgent {
  return new AIAgent({
    apiMode,
    baseUrl: model.baseUrl,
    model: "claude-sonnet-5-5",
    apiKey: "sk-test-123456",
    cwd,
    home: join(cwd, ".home"),
    environment: {},
    ...options,
  });
}

const thoughtfulCall = (thought: string) => ({
  parts: [{ type: "reasoning", text: thought } as const, call("read_file", { path: "a.txt" })],
});

/** The messages of every request so far, as JSON and without the marks of the cache. */
function unmarkedRequests(): readonly string[] {
  return model.requests.map(({ body }) =>
    JSON.stringify(body.messages, (key, value: unknown) => (key === "cache_control" ? undefined : value)).slice(0, -1),
  );
}

test("thinking is returned with its calls, and every request begins with the one before", async () => {
  model.script(thoughtfulCall("Look first."), thoughtfulCall("Once more."), say("It says one."), say("Bye."));
  const agent = agentIn("anthropic_messages");
  expect(await agent.chat("what does it say?")).toBe("It says one.");
  await agent.chat("thanks");
  const requests = unmarkedRequests();
  for (const [index, request] of requests.slice(1).entries()) {
    expect(request.startsWith(requests[index] ?? "nothing")).toBe(true);
  }
  expect(requests.at(-1)).toContain('{"type":"thinking","thinking":"Look first.","signature":"c2lnbmVk10"}');
  expect(requests.at(-1)).toContain('{"type":"thinking","thinking":"Once more.","signature":"c2lnbmVk20"}');
});

test("an endpoint that refuses cache marks gets none from then on", async () => {
  const refusal = "messages.0.content.0.text: cache_control: Extra inputs are not permitted";
  model.script(fail(400, refusal), say("one"), say("two"));
  const agent = agentIn("anthropic_messages");
  expect([await agent.chat("go"), await agent.chat("on")]).toEqual(["one", "two"]);
  const marked = model.requests.map(({ body }) => JSON.stringify(body).includes('"cache_control":{'));
  expect(marked).toEqual([true, false, false]);
});

test("a conversation switches to Anthropic's API and back", async () => {
  model.script(thoughtfulCall("In chat."), say("one"), thoughtfulCall("At Anthropic."), say("still one"), say("bye"));
  const begun = await agentIn("chat_completions").runConversation({ userMessage: "read it" });
  const moved = await agentIn("anthropic_messages").runConversation({
    userMessage: "again",
    conversationHistory: begun.messages,
  });
  const back = await agentIn("chat_completions").runConversation({
    userMessage: "bye",
    conversationHistory: moved.messages,
  });
  expect([begun, moved, back].map(({ finalResponse }) => finalResponse)).toEqual(["one", "still one", "bye"]);
  expect(model.requests.map(({ url }) => url)).toEqual([
    "/v1/chat/completions",
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/messages",
    "/v1/chat/completions",
  ]);
  const [, , arrived, returned, left] = unmarkedRequests();
  expect(arrived).not.toContain("In chat.");
  expect(returned).toContain("At Anthropic.");
  expect(left).not.toContain("At Anthropic.");
});

test("the closing summary calls no tool, although the history has calls", async () => {
  model.script(thoughtfulCall("Look."), say("This is what I did."));
  const agent = agentIn("anthropic_messages", { maxIterations: 1 });
  expect(await agent.runConversation({ userMessage: "go" })).toMatchObject({
    stopReason: "max_turn_requests",
    finalResponse: "This is what I did.",
  });
  expect(model.requests.at(-1)?.body).toMatchObject({
    tools: [{ name: "read_file" }],
    tool_choice: { type: "none" },
  });
});
