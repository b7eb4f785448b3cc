import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import {
  call,
  callTools,
  fail,
  hold,
  type ModelServer,
  say,
  startModelServer,
} from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

async function start(capabilities?: Json, home?: string): Promise<{ agent: AcpAgent; model: ModelServer; id: string }> {
  const model = await startModelServer();
  const agent = new AcpAgent(
    { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-12345678" },
    home,
  );
  running.push(agent, model);
  await agent.initialize(capabilities);
  return { agent, model, id: await agent.newSession() };
}

/** Stops an answer of which this much was seen. */
async function stopAt(agent: AcpAgent, model: ModelServer, id: string): Promise<void> {
  const held = hold();
  const seen = [
    { type: "reasoning", text: "Let me think. " },
    { type: "text", text: "The first half" },
  ] as const;
  model.script({ parts: [...seen, held.part, { type: "text", text: " and the second." }] });
  const turn = agent.prompt(id, "tell me all");
  while (!agent.text().includes("The first half")) await agent.nextUpdate();
  agent.notify("session/cancel", { sessionId: id });
  expect((await turn).result).toMatchObject({ stopReason: "cancelled" });
  held.release();
}

/** The conversation as a resumed session replays it. */
async function replayed(agent: AcpAgent, id: string): Promise<unknown[]> {
  const before = agent.updates.length;
  await agent.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  const chunks = agent.updates.slice(before).filter(({ sessionUpdate }) => String(sessionUpdate).endsWith("_chunk"));
  return chunks.map(({ sessionUpdate, content }) => [sessionUpdate, (content as Json)["text"]]);
}

const NOTE =
  "[The answer before this message was cut off, and is not part of the conversation. The user saw its text, which ended with:\n";

test("the shown part of a stopped answer stays for people, and the next prompt has a note with its end", async () => {
  const { agent, model, id } = await start();
  await stopAt(agent, model, id);
  expect(await replayed(agent, id)).toEqual([
    ["user_message_chunk", "tell me all"],
    ["agent_thought_chunk", "Let me think. "],
    ["agent_message_chunk", "The first half\n\n[Stopped.]"],
  ]);
  model.script(say("done"));
  await agent.prompt(id, "continue");
  const content = `tell me all\n\n${NOTE}The first half]\n\ncontinue`;
  expect(model.requests.at(-1)?.body.messages.slice(1)).toEqual([{ role: "user", content }]);
  model.script(say("more"));
  await agent.prompt(id, "and?");
  expect(model.requests.at(-1)?.body.messages.slice(1)).toEqual([
    { role: "user", content },
    { role: "assistant", content: "done" },
    { role: "user", content: "and?" },
  ]);
  await agent.prompt(id, "/export md out.md");
  expect(readFileSync(join(agent.cwd, "out.md"), "utf8")).toContain("The first half\n\n[Stopped.]");
});

test("the note has at most 2,000 characters of the answer, and no partial call or answer enters the history", async () => {
  const { agent, model, id } = await start();
  const held = hold();
  const long = `${"x".repeat(3_000)}😀 the end`;
  model.script(callTools(call("read_file", { path: "a.txt" })), {
    parts: [{ type: "text", text: long }, held.part, { type: "text", text: "!" }],
  });
  const turn = agent.prompt(id, "go");
  while (!agent.text().includes("the end")) await agent.nextUpdate();
  agent.notify("session/cancel", { sessionId: id });
  await turn;
  held.release();
  model.script(say("done"));
  await agent.prompt(id, "continue");
  const sent = model.requests.at(-1)?.body.messages.slice(1) ?? [];
  expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  const [, noted = ""] = String(sent.at(-1)?.["content"]).split(NOTE);
  expect(noted).toMatch(/^…x+😀 the end\]\n\ncontinue$/u);
  expect(noted.length - "]\n\ncontinue".length).toBe(2_000);
});

test("a call that the end of the connection interrupts is not said to be cancelled by the user", async () => {
  const first = await start({ elicitation: { form: {} } });
  const asked = Promise.withResolvers<void>();
  first.agent.on("elicitation/create", () => {
    asked.resolve();
    return new Promise(() => undefined);
  });
  first.model.script(callTools(call("clarify", { question: "Which table?", choices: ["Users", "Orders"] })));
  void first.agent.prompt(first.id, "ask me");
  await asked.promise;
  await first.agent.stop();
  const { agent, model } = await start({}, first.agent.home);
  await agent.request("session/load", { sessionId: first.id, cwd: first.agent.cwd, mcpServers: [] });
  expect(JSON.stringify(agent.of("tool_call").at(-1))).toContain("interrupted: the editor or its window was closed");
  model.script(say("done"));
  await agent.prompt(first.id, "continue");
  const result = model.requests.at(-1)?.body.messages.find(({ role }) => role === "tool");
  expect(result?.["content"]).toContain("interrupted: the editor or its window was closed");
});

test("the shown part of an answer that the end of the connection cut off does not end with a stop", async () => {
  const first = await start();
  const held = hold();
  first.model.script({ parts: [{ type: "text", text: "The first half" }, held.part] });
  void first.agent.prompt(first.id, "tell me all");
  while (!first.agent.text().includes("The first half")) await first.agent.nextUpdate();
  await first.agent.stop();
  held.release();
  const { agent } = await start({}, first.agent.home);
  expect(await replayed(agent, first.id)).toContainEqual([
    "agent_message_chunk",
    "The first half\n\n[Interrupted: the editor or its window was closed.]",
  ]);
});

test("a rewind removes the shown part of the answer too", async () => {
  const { agent, model, id } = await start();
  await stopAt(agent, model, id);
  model.script(say("whole"));
  await agent.prompt(id, "/retry");
  expect(await replayed(agent, id)).toEqual([
    ["user_message_chunk", "tell me all"],
    ["agent_message_chunk", "whole"],
  ]);
});

test("a replay shows the partial answer of a failed turn, and the reason of its end", async () => {
  const { agent, model, id } = await start();
  model.script({ parts: [{ type: "text", text: "It begins" }, { type: "cut" }] }, fail(400, "no such thing"));
  const { error } = await agent.prompt(id, "go on");
  expect(await replayed(agent, id)).toEqual([
    ["user_message_chunk", "go on"],
    ["agent_message_chunk", `It begins\n\n[${error?.message}]`],
  ]);
});

test("a replay ends with the fault of a failed last turn, for a client that shows notices", async () => {
  const { agent, model, id } = await start({ session: { notices: {} } });
  model.script(fail(401, "wrong key"), say("hello"));
  await agent.prompt(id, "go on");
  const failures = async (): Promise<unknown> => {
    const before = agent.of("notice").length;
    await replayed(agent, id);
    return agent.of("notice").slice(before);
  };
  const _meta = { hermes: { failedTurn: { fault: "authentication" } } };
  expect(await failures()).toMatchObject([
    { severity: "error", title: expect.stringContaining("was refused (401)"), _meta },
  ]);
  await agent.prompt(id, "go on");
  expect(await failures()).toEqual([]);
});

test("a compression after a stopped answer leaves its shown part in the session", async () => {
  const { agent, model, id } = await start();
  await stopAt(agent, model, id);
  model.respondWith((body) =>
    say(JSON.stringify(body).includes("You sum up") ? "The sum." : "long words ".repeat(200)),
  );
  for (const question of ["one", "two", "three", "four"]) await agent.prompt(id, question);
  await agent.prompt(id, "/compress");
  await agent.prompt(id, "five");
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("[COMPRESSED: ");
  expect(await replayed(agent, id)).toContainEqual(["agent_message_chunk", "The first half\n\n[Stopped.]"]);
});

test("a wait before a retry is shown with its reason and times, and a cancel ends it at once", async () => {
  const { agent, model, id } = await start({ session: { notices: {} } });
  model.script(
    { ...fail(429, "Limit 30,000: Slow down. Try again later."), headers: { "retry-after": "60" } },
    say("hello"),
  );
  const turn = agent.prompt(id, "go");
  while (agent.of("notice").length === 0) await agent.nextUpdate();
  const [notice] = agent.of("notice");
  expect(notice?.["title"]).toMatch(/limits requests to m \(429\): Limit 30,000: Slow down\. Next try in 6\d s\.$/);
  const retry = { id: expect.any(String), reason: expect.stringContaining("Slow down"), waitedMs: expect.any(Number) };
  expect(notice?.["_meta"]).toMatchObject({ hermes: { retry } });
  agent.notify("session/cancel", { sessionId: id });
  expect((await turn).result).toMatchObject({ stopReason: "cancelled" });
  expect(model.requests).toHaveLength(1);
});

test("a hint beyond the time for retries ends the turn, and says when the provider works again", async () => {
  const { agent, model, id } = await start();
  model.script({ ...fail(429, "slow down"), headers: { "retry-after": "7200" } });
  expect((await agent.prompt(id, "go")).error).toMatchObject({ message: expect.stringContaining("Try again in 2 h.") });
});
