import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

async function start(): Promise<AcpAgent> {
  const agent = new AcpAgent();
  running.push(agent);
  await agent.initialize();
  return agent;
}

const positions = (agent: AcpAgent): unknown[] =>
  agent
    .of("session_info_update")
    .map(({ _meta }) => (_meta as { hermes?: { position?: number } } | undefined)?.hermes?.position)
    .filter((position) => position !== undefined);

const replayed = async (agent: AcpAgent, sessionId: string): Promise<unknown[]> => {
  const before = agent.updates.length;
  await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  return agent.updates
    .slice(before)
    .filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk")
    .map(({ content, _meta }) => [(content as Json)["text"], ((_meta as Json)["hermes"] as Json)["position"]]);
};

test("a rewound message is gone for the model and for later loads", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "read a.txt");
  await agent.prompt(id, "list files");
  const [first, second] = positions(agent);
  expect(first).toBe(0);
  const rewound = await agent.request("_hermes/session/rewind", { sessionId: id, position: second });
  expect(rewound.result).toEqual({ prompt: "list files" });
  await agent.prompt(id, "search two");
  expect(await replayed(agent, id)).toEqual([
    ["read a.txt", 0],
    ["search two", positions(agent).at(-1)],
  ]);
});

test("undoing a restore returns its messages and files, for the client, the model and later loads", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "read a.txt");
  await agent.prompt(id, "create new.txt with hello");
  const [, second] = positions(agent);
  const point = { sessionId: id, position: second, files: true, conversation: true };
  const restored = await agent.request("_hermes/session/restore", point);
  const sent = agent.updates.length;
  const { restoreId } = restored.result ?? {};
  const undone = await agent.request("_hermes/session/undo_restore", { sessionId: id, restoreId });
  expect(undone.result).toMatchObject({ files: [{ change: "recreate" }] });
  const kinds = agent.updates.slice(sent).map(({ sessionUpdate }) => sessionUpdate);
  expect(kinds).toEqual(["user_message_chunk", "agent_message_chunk", "tool_call", "agent_message_chunk"]);
  const all = [
    ["read a.txt", 0],
    ["create new.txt with hello", second],
  ];
  expect(await replayed(agent, id)).toEqual(all);
  const again = await agent.request("_hermes/session/restore", point);
  expect(again.result).toMatchObject({ files: [{ change: "remove" }] });
  expect(await replayed(agent, id)).toEqual(all.slice(0, 1));
});

test("/checkpoint undo reverts the last restore, even after one that took messages back", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "read a.txt");
  await agent.prompt(id, "list files");
  const restore = (position: unknown, conversation: boolean) =>
    agent.request("_hermes/session/restore", { sessionId: id, position, files: true, conversation });
  await restore(positions(agent).at(-1), true);
  await agent.prompt(id, "create new.txt with hello");
  await restore(positions(agent).at(-1), false);
  const undo = async (): Promise<string> => {
    const before = agent.text().length;
    await agent.prompt(id, "/checkpoint undo");
    return agent.text().slice(before);
  };
  expect(await undo()).toContain("`new.txt` recreated");
  expect(await undo()).toContain("`new.txt` removed");
});

test("a rewind is refused during a turn, and invalid parameters are named", async () => {
  const agent = await start();
  const id = await agent.newSession();
  const turn = agent.prompt(id, "run sleep 30");
  while (!agent.of("tool_call_update").some(({ status }) => status === "in_progress")) await agent.nextUpdate();
  const refused = await agent.request("_hermes/session/rewind", { sessionId: id, position: 0 });
  expect(refused.error).toMatchObject({ code: -32600, message: expect.stringContaining("A turn is running") });
  agent.notify("session/cancel", { sessionId: id });
  await turn;
  const wrong = await agent.request("_hermes/session/rewind", { sessionId: id, position: -1 });
  expect(wrong.error?.code).toBe(-32602);
});

test("a fork before a message contains the messages before it", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "read a.txt");
  await agent.prompt(id, "list files");
  const meta = { hermes: { position: positions(agent)[1] } };
  const place = { cwd: agent.cwd, mcpServers: [] };
  const { result } = await agent.request("session/fork", { sessionId: id, ...place, _meta: meta });
  expect(await replayed(agent, String(result?.["sessionId"]))).toEqual([["read a.txt", 0]]);
  expect((await replayed(agent, id)).map((said) => (said as unknown[])[0])).toEqual(["read a.txt", "list files"]);
});

test("a rewind returns to the plan of its moment, and its undo to the later one", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "plan one; two");
  await agent.prompt(id, "plan three");
  await agent.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  const plans = () => agent.of("plan").map(({ entries }) => (entries as Json[]).map(({ content }) => content));
  const shown = (): unknown => plans().at(-1);
  const [first, second] = positions(agent);
  const restore = async (position: unknown) =>
    agent.request("_hermes/session/restore", { sessionId: id, position, files: false, conversation: true });
  const { result } = await restore(second);
  expect(shown()).toEqual(["one", "two"]);
  await agent.request("_hermes/session/undo_restore", { sessionId: id, restoreId: result?.["restoreId"] });
  expect(shown()).toEqual(["three"]);
  await restore(first);
  expect(shown()).toEqual([]);
});
