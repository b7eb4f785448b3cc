// A goal over turns: a judge decides after each one. The model and the judge are scripted.
import { expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import { call, hold, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

async function opened(): Promise<{ agent: AcpAgent; model: ModelServer; id: string }> {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" });
  onTestFinished(() => agent.stop());
  await agent.initialize({ session: { notices: {} } });
  return { agent, model, id: await agent.newSession() };
}

const verdict = (missing: readonly string[], completeness = 1) =>
  say(
    JSON.stringify({
      ...{ correctness: 1, completeness, confidence: 1 },
      missing_aspects: missing,
      reason: missing.length === 0 ? "All of it is there." : "Not all is there.",
    }),
  );
/** State of the goal that the client knows. */
const state = (agent: AcpAgent) =>
  agent.of("session_info_update").findLast((update) => Object(update["_meta"]).hermes?.goal)?.["_meta"];
const notices = (agent: AcpAgent) => agent.of("notice").map(({ title }) => title);

test("the agent goes on with what the judge misses, until the goal is reached", async () => {
  const { agent, model, id } = await opened();
  model.script(
    { parts: [call("write_file", { path: "b.txt", content: "b\n" })] },
    say("b.txt is written."),
    verdict(["c.txt"], 0.5),
    say("c.txt is written too."),
    verdict([]),
  );
  const { result } = await agent.prompt(id, "/goal Write both files\n- b.txt\n- c.txt");
  expect(result).toMatchObject({ stopReason: "end_turn" });
  expect(model.requests).toHaveLength(5);
  const judged = JSON.stringify(model.requests[2]?.body);
  for (const seen of ["Write both files", "b.txt is written.", "write_file"]) expect(judged).toContain(seen);
  expect(JSON.stringify(model.requests[3]?.body.messages.at(-1))).toContain("Missing: c.txt.");
  expect(notices(agent)).toEqual(["Goal: turn 2 of 20. Missing: c.txt.", "The goal is reached. All of it is there."]);
});

test("a goal rests when its budget is used, also in a later process, and goes on after /goal resume", async () => {
  const { agent, model, id } = await opened();
  model.script(say("one"), verdict([]));
  await agent.prompt(id, "/goal First");
  await agent.prompt(id, "/goal budget 1");
  model.script(say("two"), verdict(["all"], 0));
  await agent.prompt(id, "/goal Second");
  expect(notices(agent).at(-1)).toContain("Its budget of 1 turns is used. Missing: all.");
  expect((await agent.prompt(id, "/goal budget 0")).result).toMatchObject({ stopReason: "end_turn" });
  expect(agent.text()).toContain("A budget is a number of turns from 1 to 200");
  expect(state(agent)).toEqual({ hermes: { goal: "paused" } });
  const before = agent.updates.length;
  await agent.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  expect(JSON.stringify(agent.updates.slice(before))).toContain('{"hermes":{"goal":"paused"}}');
  await agent.prompt(id, "/goal");
  expect(agent.text()).toContain("The goal is paused: turn 1 of 1.\n\nSecond");
  model.script(say("three"), verdict([]));
  await agent.prompt(id, "/goal resume");
  expect(notices(agent).at(-1)).toBe("The goal is reached. All of it is there.");
  expect(state(agent)).toEqual({ hermes: { goal: "met" } });
});

test("a message that waits in the client comes before the next turn of the goal, which then goes on", async () => {
  const { agent, model, id } = await opened();
  model.script(say("A part."), verdict(["all"], 0));
  const goal = agent.prompt(id, "/goal Write it");
  await model.nextRequest();
  agent.notify("_hermes/session/waits", { sessionId: id, waits: true });
  expect((await goal).result).toMatchObject({ stopReason: "end_turn" });
  agent.notify("_hermes/session/waits", { sessionId: id, waits: false });
  model.script(say("An answer."), verdict(["all"], 0), say("It is written."), verdict([]));
  await agent.prompt(id, "A question");
  const asked = [0, 2, 4].map((at) => JSON.stringify(model.requests[at]?.body.messages.at(-1)));
  expect(asked).toEqual([
    expect.stringContaining("Write it"),
    expect.stringContaining("A question"),
    expect.stringContaining("The goal is not reached yet."),
  ]);
  expect(notices(agent).at(-1)).toBe("The goal is reached. All of it is there.");
});

test("a stopped goal is paused, and a judge without an answer pauses it", async () => {
  const { agent, model, id } = await opened();
  const gate = hold();
  model.script({ parts: [gate.part] });
  const turn = agent.prompt(id, "/goal Wait for me");
  await model.nextRequest();
  agent.notify("session/cancel", { sessionId: id });
  expect((await turn).result).toEqual({ stopReason: "cancelled" });
  gate.release();
  model.script(say("I did it."), say("I cannot tell."));
  await agent.prompt(id, "/goal resume");
  expect(notices(agent)).toEqual([
    expect.stringContaining("The goal is paused. It was stopped."),
    expect.stringContaining("The goal is paused. Nobody could judge it"),
  ]);
  model.script(say("A question of another kind."));
  await agent.prompt(id, "hello");
  expect(model.requests).toHaveLength(4);
});
