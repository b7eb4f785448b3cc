// Background commands of a session: the client sees them, and its user controls them.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

type Bench = { readonly agent: AcpAgent; readonly model: ModelServer; readonly sessionId: string };

async function start(hermes: Json = { processes: true }): Promise<Bench> {
  const model = await startModelServer();
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-1" });
  running.push(agent, model);
  await agent.initialize({ _meta: { hermes } });
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  return { agent, model, sessionId };
}

async function runInBackground({ agent, model, sessionId }: Bench, command: string): Promise<void> {
  model.script({ parts: [call("terminal", { command, background: true })] }, say("started"));
  await agent.prompt(sessionId, "go");
}

/** The lists of processes in the agent's notifications. */
function told({ agent }: Bench): Json[][] {
  return agent.notified("_hermes/process/changed").map(({ processes }) => processes as Json[]);
}

function lastTold(bench: Bench): unknown {
  return told(bench)
    .at(-1)
    ?.map(({ id, state }) => `${id} ${state}`);
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** The second one where the machine gave it no time to end by itself. */
const ENDED = /ended by signal SIG(TERM|KILL), stopped by the user/;

const READER = 'echo begun; while read -r line; do echo "got $line"; done; exit 4';

test("a client with the capability is notified of a start, a wait for input, an end, and the model's knowledge of it", async () => {
  const bench = await start();
  const { agent, model, sessionId } = bench;
  await runInBackground(bench, READER);
  await expect.poll(() => lastTold(bench)).toEqual(["p1 waits-for-input"]);
  const { startedAt } = told(bench)[0]?.[0] ?? {};
  expect(Date.now() - Number(startedAt)).toBeLessThan(60_000);
  await agent.request("_hermes/process/input", { sessionId, id: "p1", text: "\u0004" });
  await expect.poll(() => lastTold(bench)).toEqual(["p1 ended"]);
  expect(told(bench).at(-1)).toMatchObject([{ command: READER, note: "exit code 4" }]);
  model.script(say("seen"));
  await agent.prompt(sessionId, "and now?");
  await expect.poll(() => lastTold(bench)).toEqual([]);
});

test("it gets the user's input, and the model gets a note about the input", async () => {
  const bench = await start();
  const { agent, model, sessionId } = bench;
  await runInBackground(bench, 'while read -r line; do echo "$line" > got.txt; done');
  const typed = await agent.request("_hermes/process/input", { sessionId, id: "p1", text: "my secret\n" });
  expect(typed.result).toEqual({});
  await expect.poll(() => textOf(join(agent.cwd, "got.txt"))).toBe("my secret\n");
  model.script(say("fine"));
  await agent.prompt(sessionId, "and now?");
  const messages = JSON.stringify(model.requests.at(-1)?.body.messages);
  expect(messages).toContain("[the user has typed into p1]");
  expect(messages).not.toContain("my secret");
});

test("the user ends a process with its children, and the model learns who ended it", async () => {
  const bench = await start();
  const { agent, model, sessionId } = bench;
  await runInBackground(bench, `setsid sleep 7${process.pid}1 & echo begun; cat`);
  expect((await agent.request("_hermes/process/stop", { sessionId, id: "p1" })).result).toEqual({});
  const { result } = await agent.request("_hermes/process/list", { sessionId });
  expect(result).toMatchObject({
    processes: [{ id: "p1", state: "ended", note: expect.stringMatching(ENDED) }],
  });
  const late = await agent.request("_hermes/process/input", { sessionId, id: "p1", text: "x\n" });
  expect(late.result?.["reason"]).toMatch(/input/);
  model.script(say("fine"));
  await agent.prompt(sessionId, "and now?");
  const messages = JSON.stringify(model.requests.at(-1)?.body.messages);
  expect(messages).toMatch(new RegExp(`\\[p1 has ended: ${ENDED.source}`));
  expect((await agent.request("_hermes/process/list", { sessionId })).result).toEqual({ processes: [] });
});

test("a process that a command leaves behind is listed until it ends", async () => {
  const bench = await start();
  const { agent, model, sessionId } = bench;
  const nap = `sleep 7${process.pid}2`;
  model.script({ parts: [call("terminal", { command: `${nap} > /dev/null &` })] }, say("ok"));
  await agent.prompt(sessionId, "go");
  await expect.poll(() => lastTold(bench)).toEqual(["p1 left-behind"]);
  // The command's own number of it counts in the sandbox alone.
  process.kill(Number(execFileSync("pgrep", ["-f", `^${nap}$`], { encoding: "utf8" })));
  await expect.poll(() => lastTold(bench)).toEqual(["p1 ended"]);
});

test("clients without the capability get no notifications", async () => {
  const bench = await start({});
  await runInBackground(bench, READER);
  const { result } = await bench.agent.request("_hermes/process/list", { sessionId: bench.sessionId });
  expect(result).toMatchObject({ processes: [{ id: "p1" }] });
  expect(told(bench)).toEqual([]);
});

test.each([
  ["input", { id: "p9", text: "x" }, "id: there is no process"],
  ["stop", { id: "p9" }, "id: there is no process"],
  ["input", { id: "p1" }, ""],
])("process/%s with %j is refused", async (name, params, words) => {
  const { agent, sessionId } = await start();
  const { error } = await agent.request(`_hermes/process/${name}`, { sessionId, ...params });
  expect(error?.code).toBe(-32602);
  expect(error?.message).toContain(words);
});
