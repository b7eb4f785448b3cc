// The client's own models, with a raw client in the editor's place.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";

const CAPABILITIES = { _meta: { hermes: { languageModels: true } } };
const MODELS = [
  { id: "maker/small", name: "Small", vendor: "maker", maxInputTokens: 32_000 },
  { id: "maker/large", name: "Large", vendor: "maker", maxInputTokens: 128_000 },
];
const running: AcpAgent[] = [];
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop();
});

type Chat = { readonly chatId: string; readonly model: string; readonly messages: Json[]; readonly tools: Json[] };

/** An editor that answers each chat with the next of `answers`. */
async function editorWith(...answers: ((chat: Chat, agent: AcpAgent) => unknown)[]) {
  const agent = new AcpAgent({ HERMES_LOCAL_SERVERS: "off" });
  running.push(agent);
  const chats: Chat[] = [];
  agent.on("_hermes/lm/list", () => ({ models: MODELS }));
  agent.on("_hermes/lm/chat", (params) => {
    const chat = params as unknown as Chat; // what the agent sends is looked at below
    chats.push(chat);
    return answers.shift()?.(chat, agent) ?? { outcome: "failed", kind: "failed", message: "no answer left" };
  });
  await agent.initialize(CAPABILITIES);
  return { agent, chats, sessionId: await agent.newSession() };
}

const say =
  (...parts: Json[]) =>
  ({ chatId }: Chat, agent: AcpAgent): Json => {
    for (const part of parts) agent.notify("_hermes/lm/delta", { chatId, parts: [part] });
    return { outcome: "finished", parts: parts.length };
  };
const text = (words: string): Json => ({ type: "text", text: words });

test("without a key the editor's first model answers; its tool calls run and their results go back", async () => {
  const call = { type: "call", callId: "c1", name: "write_file", input: { path: "b.txt", content: "made\n" } };
  const thought = { type: "reasoning", text: "Hm." };
  const { agent, chats, sessionId } = await editorWith(say(thought, text("I write. "), call), say(text("Done.")));
  expect((await agent.prompt(sessionId, "make b.txt")).result).toMatchObject({ stopReason: "end_turn" });
  expect(agent.text()).toBe("I write. Done.");
  expect(agent.of("agent_thought_chunk")).toMatchObject([{ content: { text: "Hm." } }]);
  expect(readFileSync(join(agent.cwd, "b.txt"), "utf8")).toBe("made\n");
  expect(chats.map(({ model }) => model)).toEqual(["maker/small", "maker/small"]);
  expect(chats[0]?.tools.map(({ name }) => name)).toContain("write_file");
  expect(chats[1]?.messages.slice(0, 2)).toEqual(chats[0]?.messages);
  expect(chats[1]?.messages.slice(2)).toMatchObject([
    { role: "assistant", content: "I write. ", tool_calls: [{ id: "c1", function: { name: "write_file" } }] },
    { role: "tool", tool_call_id: "c1" },
  ]);
});

test("its models are choices, and another one can be taken", async () => {
  const { agent, chats, sessionId } = await editorWith(say(text("hi")));
  const value = "editor:maker/large";
  const { result } = await agent.request("session/set_config_option", { sessionId, configId: "model", value });
  expect(JSON.stringify(result?.["configOptions"])).toContain('"currentValue":"editor:maker/large"');
  await agent.prompt(sessionId, "hello");
  expect(chats.map(({ model }) => model)).toEqual(["maker/large"]);
});

test("a refusal of the editor is one line with advice", async () => {
  const { agent, sessionId } = await editorWith(() => ({
    outcome: "failed",
    kind: "not-allowed",
    message: "The user said no.",
  }));
  const { error } = await agent.prompt(sessionId, "hello");
  expect(error?.message).toBe(
    "The editor denied access to maker/small: The user said no. Allow it when the editor asks, or choose another model.",
  );
});

test("an answer of another shape is a fault, and the agent lives on", async () => {
  const { agent, sessionId } = await editorWith(
    () => ({ outcome: "nonsense" }),
    () => ({ outcome: "nonsense" }),
    () => ({ outcome: "nonsense" }),
    say(text("hi")),
  );
  expect((await agent.prompt(sessionId, "hello")).error?.message).toContain("unreadable answer");
  expect((await agent.prompt(sessionId, "again")).result).toMatchObject({ stopReason: "end_turn" });
});

test("cancel ends the turn at once, and the editor is notified", async () => {
  const asked = Promise.withResolvers<void>();
  const { agent, sessionId } = await editorWith(({ chatId }, client) => {
    client.notify("_hermes/lm/delta", { chatId, parts: [text("half")] });
    asked.resolve();
    return new Promise(() => undefined);
  });
  const turn = agent.prompt(sessionId, "hello");
  await asked.promise;
  agent.notify("session/cancel", { sessionId });
  expect((await turn).result).toMatchObject({ stopReason: "cancelled" });
  expect(agent.notifications).toContain("$/cancel_request");
});

test("a client that offers no models is not asked for any", async () => {
  const agent = new AcpAgent({ HERMES_LOCAL_SERVERS: "off" });
  running.push(agent);
  await agent.initialize();
  const sessionId = await agent.newSession();
  expect((await agent.prompt(sessionId, "help")).result).toMatchObject({ stopReason: "end_turn" });
  expect(agent.text()).toContain("offline");
});
