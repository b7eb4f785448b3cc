// A client may send prompts and commands while a turn runs, and sees the state of the turn.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import { call, hold, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

async function opened(): Promise<{ agent: AcpAgent; model: ModelServer; id: string }> {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" });
  onTestFinished(() => agent.stop());
  await agent.initialize();
  return { agent, model, id: await agent.newSession() };
}

const said = (model: ModelServer, request: number) =>
  model.requests[request]?.body.messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));

test("/stop cancels the running turn and those that wait", async () => {
  const { agent, model, id } = await opened();
  model.script({ silent: true }, say("again"));
  const turn = agent.prompt(id, "go");
  await model.nextRequest();
  const waiting = agent.prompt(id, "and then this");
  expect((await agent.prompt(id, " /stop ")).result).toMatchObject({ stopReason: "end_turn" });
  expect([(await turn).result, (await waiting).result]).toMatchObject([
    { stopReason: "cancelled" },
    { stopReason: "cancelled" },
  ]);
  expect((await agent.prompt(id, "more")).result).toMatchObject({ stopReason: "end_turn" });
  expect(agent.text()).toBe("again");
  await agent.prompt(id, "/stop");
  expect(agent.text()).toContain("Nothing is running.");
});

test("/steer sends a message into the running turn; /queue and a plain prompt wait for its end", async () => {
  const { agent, model, id } = await opened();
  const gate = hold();
  model.script({ parts: [call("read_file", { path: "a.txt" }), gate.part] }, say("one"), say("two"), say("three"));
  const turn = agent.prompt(id, "go");
  await gate.reached;
  expect((await agent.prompt(id, "/steer in French")).result).toMatchObject({ stopReason: "end_turn" });
  const later = [agent.prompt(id, "/queue second"), agent.prompt(id, "third")];
  gate.release();
  for (const { result } of await Promise.all([turn, ...later]))
    expect(result).toMatchObject({ stopReason: "end_turn" });
  expect([1, 2, 3].map((request) => said(model, request))).toEqual([
    ["go", "in French"],
    ["go", "in French", "second"],
    ["go", "in French", "second", "third"],
  ]);
});

test.each([
  ["steer", "end_turn", ["go", "in French"]],
  ["interrupt", "cancelled", ["go", "in French"]],
] as const)(
  "display.busy_input_mode %s decides what a prompt does that comes while a turn runs",
  async (mode, end, heard) => {
    const { agent, model } = await opened();
    writeFileSync(join(agent.home, "config.yaml"), `display:\n  busy_input_mode: ${mode}\n`);
    const id = await agent.newSession();
    const gate = hold();
    model.script({ parts: [call("read_file", { path: "a.txt" }), gate.part] }, say("one"));
    const turn = agent.prompt(id, "go");
    await gate.reached;
    const second = agent.prompt(id, "in French");
    if (mode === "steer") await second;
    gate.release();
    expect([(await turn).result, (await second).result]).toMatchObject([
      { stopReason: end },
      { stopReason: "end_turn" },
    ]);
    const words = said(model, 1)?.map((content) => (typeof content === "string" ? content : "")) ?? [];
    expect(heard.every((each) => words.some((word) => word.includes(each)))).toBe(true);
  },
);

test("a session has its title from the start of its first turn", async () => {
  const { agent, model, id } = await opened();
  model.script({ silent: true });
  const turn = agent.prompt(id, "Mend the average");
  await model.nextRequest();
  expect((await agent.request("session/list", {})).result).toMatchObject({
    sessions: [{ sessionId: id, title: "Mend the average" }],
  });
  await agent.prompt(id, "/stop");
  await turn;
});

test("without a running turn, /steer and /queue send an ordinary prompt", async () => {
  const { agent, model, id } = await opened();
  model.script(say("one"), say("two"));
  await agent.prompt(id, "/steer hello");
  await agent.prompt(id, "/queue again");
  expect(said(model, 1)).toEqual(["hello", "again"]);
});

test("while a permission request waits, /queue and /steer are taken, and /stop ends the request with the turn", async () => {
  const { agent, model, id } = await opened();
  const asked = Promise.withResolvers<void>();
  agent.on("session/request_permission", () => {
    asked.resolve();
    return new Promise(() => undefined); // the user never answers
  });
  model.script({ parts: [call("terminal", { command: "rm a.txt" })] }, say("again"));
  const turn = agent.prompt(id, "go");
  await asked.promise;
  const queued = agent.prompt(id, "/queue later");
  expect((await agent.prompt(id, "/steer keep the file")).result).toMatchObject({ stopReason: "end_turn" });
  expect((await agent.prompt(id, "/stop")).result).toMatchObject({ stopReason: "end_turn" });
  expect([(await turn).result, (await queued).result]).toMatchObject([
    { stopReason: "cancelled" },
    { stopReason: "cancelled" },
  ]);
  expect(existsSync(join(agent.cwd, "a.txt"))).toBe(true);
  expect((await agent.prompt(id, "more")).result).toMatchObject({ stopReason: "end_turn" });
  expect(agent.text()).toContain("again");
});

test("a permission for the session lets other calls run that wait for the same one", async () => {
  const { agent, model, id } = await opened();
  const options: ((outcome: object) => void)[] = [];
  const both = Promise.withResolvers<void>();
  agent.on("session/request_permission", () => {
    const { promise, resolve } = Promise.withResolvers<object>();
    if (options.push(resolve) === 2) both.resolve();
    return promise;
  });
  const path = join(agent.cwd, ".env");
  writeFileSync(path, "KEY=1\nOTHER=2\n");
  model.script({ parts: [call("read_file", { path }), call("read_file", { path, offset: 2 })] }, say("done"));
  const turn = agent.prompt(id, "go");
  await both.promise;
  options[0]?.({ outcome: { outcome: "selected", optionId: "session" } });
  expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
});

test("/model, /mode and /title act during a turn, and answer by a notice", async () => {
  const { agent, model, id } = await opened();
  model.script({ silent: true });
  const turn = agent.prompt(id, "go");
  await model.nextRequest();
  for (const command of ["/mode auto", "/title Averages", "/mode none"])
    expect((await agent.prompt(id, command)).result).toMatchObject({ stopReason: "end_turn" });
  expect(agent.of("current_mode_update").at(-1)).toMatchObject({ currentModeId: "auto" });
  const notices = agent.of("agent_thought_chunk").map(({ content }) => (content as { text: string }).text);
  expect(notices.join("")).toMatch(/^Mode: auto\.\nTitle: Averages\nThere is no mode none\. Available: /);
  expect(agent.text()).toBe("");
  await agent.prompt(id, "/stop");
  await turn;
});

test("the agent's state is visible before the first token, and while tools run", async () => {
  const { agent, model, id } = await opened();
  const gate = hold();
  model.script({ parts: [gate.part, call("read_file", { path: "a.txt" })] }, say("done"));
  const states = () =>
    agent.of("session_info_update").flatMap(({ _meta }) => {
      const { activity } = (_meta as { hermes?: { activity?: string } } | undefined)?.hermes ?? {};
      return activity === undefined ? [] : [activity];
    });
  const turn = agent.prompt(id, "go");
  await gate.reached;
  await expect.poll(states).toEqual(["thinking"]);
  gate.release();
  await turn;
  expect(states()).toEqual(["thinking", "tools", "thinking", "idle"]);
});

test("the last call of an answer runs as soon as its arguments are complete, while the answer is still open", async () => {
  const { agent, model, id } = await opened();
  const gate = hold();
  model.script({ parts: [call("read_file", { path: "a.txt" }), gate.part] }, say("done"));
  const turn = agent.prompt(id, "go");
  await expect.poll(() => agent.of("tool_call_update").map(({ status }) => status)).toContain("completed");
  expect(model.requests).toHaveLength(1);
  gate.release();
  await turn;
});
