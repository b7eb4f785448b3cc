import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { writeLongSession } from "../support/long-session.ts";

const ID = "20261101_120000_abcdef01";
const TURNS = 50;
const MESSAGES = TURNS * 4;
const running: AcpAgent[] = [];

afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop();
});

async function start(): Promise<AcpAgent> {
  const agent = new AcpAgent({ HERMES_PROVIDER: "offline" });
  running.push(agent);
  writeLongSession({ home: agent.home, id: ID, cwd: agent.cwd, messages: MESSAGES });
  const { agentCapabilities } = await agent.initialize();
  expect(agentCapabilities).toMatchObject({ _meta: { hermes: { tail: true } } });
  return agent;
}

/** Updates of the conversation itself. */
async function load(agent: AcpAgent, hermes?: Json): Promise<Json[]> {
  const meta = hermes === undefined ? {} : { _meta: { hermes } };
  const from = agent.updates.length;
  const { error } = await agent.request("session/load", { sessionId: ID, cwd: agent.cwd, mcpServers: [], ...meta });
  expect(error).toBe(undefined);
  return said(agent.updates.slice(from));
}

const said = (updates: readonly Json[]): Json[] =>
  updates.filter(({ sessionUpdate }) => /_chunk$|^tool_call/.test(String(sessionUpdate)));

const earlierIn = (agent: AcpAgent): unknown[] =>
  agent.of("session_info_update").flatMap(({ _meta }) => {
    const { hermes } = (_meta ?? {}) as { hermes?: { earlier?: unknown } };
    return hermes?.earlier === undefined ? [] : [hermes.earlier];
  });

async function page(agent: AcpAgent, before: number, messages?: number): Promise<Json> {
  const { result } = await agent.request("_hermes/session/earlier", { sessionId: ID, before, messages });
  return result ?? {};
}

test("an editor that knows nothing of tails gets the whole conversation, and no word of them", async () => {
  const agent = await start();
  expect(await load(agent)).toHaveLength(MESSAGES);
  expect(earlierIn(agent)).toEqual([]);
});

test("a tail and the pages before it equal a whole replay", async () => {
  const agent = await start();
  const whole = await load(agent);
  const parts = [await load(agent, { tail: 30 })];
  expect(parts[0]).toHaveLength(32);
  expect(earlierIn(agent)).toEqual([{ before: 168, messages: 84 }]);
  let earlier: Json | null = earlierIn(agent)[0] as Json;
  while (earlier !== null) {
    const { updates, earlier: next }: Json = await page(agent, Number(earlier["before"]), 50);
    parts.unshift(updates as Json[]);
    earlier = next as Json | null;
  }
  expect(parts).toHaveLength(5);
  expect(parts.flat()).toEqual(whole);
});

test("all that is earlier comes at once, and a tail longer than the session is the whole of it", async () => {
  const agent = await start();
  const whole = await load(agent, { tail: 5_000 });
  expect(whole).toHaveLength(MESSAGES);
  expect(earlierIn(agent)).toEqual([]);
  const tail = await load(agent, { tail: 1 });
  expect(tail).toHaveLength(4);
  const { updates, earlier } = await page(agent, 196);
  expect([earlier, [...(updates as Json[]), ...tail]]).toEqual([null, whole]);
});

test("a page after a rewind has no removed messages", async () => {
  const agent = await start();
  await load(agent, { tail: 4 });
  await agent.request("_hermes/session/rewind", { sessionId: ID, position: 8 });
  const { updates, earlier } = await page(agent, 196, 4);
  expect((updates as Json[])[0]).toMatchObject({ _meta: { hermes: { position: 4 } } });
  expect(earlier).toEqual({ before: 4, messages: 2 });
});

test("a session that was just begun has no earlier page, one that is not open an error", async () => {
  const agent = await start();
  const sessionId = await agent.newSession();
  const fresh = await agent.request("_hermes/session/earlier", { sessionId, before: 10 });
  expect(fresh.result).toEqual({ updates: [], earlier: null });
  const closed = await agent.request("_hermes/session/earlier", { sessionId: ID, before: 10 });
  expect(closed.error?.message).toContain("not open");
  const wrong = await agent.request("_hermes/session/earlier", { sessionId, before: -1 });
  expect(wrong.error?.code).toBe(-32602);
});

test("a cancelled request for a page ends, and the session continues", async () => {
  const agent = await start();
  await load(agent, { tail: 4 });
  const reply = await agent.requestAndNotify("_hermes/session/earlier", { sessionId: ID, before: 196 });
  expect(reply.error?.code).toBe(-32800);
  expect((await page(agent, 196, 4))["earlier"]).toEqual({ before: 192, messages: 96 });
});
