import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { sweep } from "../support/scale.ts";
import { type Random, seeded } from "../unit/approval/support/random.ts";

/** `kill -9` in the middle of a turn, so often. */
const KILLS = sweep(200, 24);
/** Sessions that this happens to side by side, each in a home of its own. */
const SESSIONS = 4;
/** Longer than most turns here take, in updates; how long they take by the clock depends on the machine. */
const TURN_UPDATES = 12;
const LONGER_THAN_A_TURN = 1.2;

const SEED = 20_261_122;
let model: ModelServer;

beforeAll(async () => {
  model = await startModelServer();
  model.respondWith(({ messages, tools }) => {
    const last = messages.at(-1);
    // A prompt that was never answered stands in one message with the next.
    const turn = [...JSON.stringify(messages).matchAll(/turn (\d+)/g)].at(-1)?.[1];
    if (tools === undefined) return say("A title");
    if (last?.["role"] === "tool") return say(`answer ${turn}`);
    return callTools(call("write_file", { path: `${turn}.txt`, content: "written\n" }));
  });
  // One that ends by itself leaves its compiled code behind for all others, which never come to that.
  const agent = await start();
  await agent.prompt(await agent.newSession(), "turn 0");
  await agent.stop();
});

afterAll(() => model.stop());

/** A turn as its client saw it. */
type Turn = { readonly text: string; isSaid: boolean; isOver: boolean; readonly calls: string[] };

async function start(home?: string): Promise<AcpProcess> {
  const agent = new AcpProcess(
    { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-test-key-123456" },
    home,
  );
  await agent.initialize();
  return agent;
}

function begin(
  agent: AcpProcess,
  sessionId: string,
  number: number,
): { turn: Turn; over: Promise<void>; read(): void } {
  const turn: Turn = { text: `turn ${number}`, isSaid: false, isOver: false, calls: [] };
  const first = agent.updates.length;
  const over = agent.prompt(sessionId, turn.text).then(({ result }) => {
    turn.isOver = result?.["stopReason"] === "end_turn";
  });
  const read = (): void => {
    for (const update of agent.updates.slice(first)) {
      if (positionOf(update) !== undefined) turn.isSaid = true;
      if (update["status"] === "completed") turn.calls.push(String(update["toolCallId"]));
    }
  };
  return { turn, over, read };
}

function positionOf(update: Json): unknown {
  const meta = update["_meta"] as { hermes?: { position?: number } } | undefined;
  return meta?.hermes?.position;
}

/** Some moment of a turn that takes about so many milliseconds: by its updates, or by the clock. */
async function someMoment(agent: AcpProcess, over: Promise<void>, turnMs: number, random: Random): Promise<void> {
  if (random.chance(0.5)) return delay(random.below(LONGER_THAN_A_TURN * turnMs));
  let isOver = false as boolean;
  const ended = over.then(() => {
    isOver = true;
  });
  for (let left = random.below(TURN_UPDATES); left > 0 && !isOver; left -= 1) {
    await Promise.race([agent.nextUpdate(), ended]);
  }
}

async function kill(agent: AcpProcess): Promise<void> {
  const closed = once(agent.child, "close"); // with everything that it had still said
  agent.child.kill("SIGKILL");
  await closed;
}

/** The replay as words, a call by its id. */
function shown(updates: readonly Json[]): string[] {
  const words: string[] = [];
  for (const update of updates) {
    const text = (update["content"] as { text?: string } | undefined)?.text ?? "";
    if (update["sessionUpdate"] === "user_message_chunk") words.push(text);
    if (update["sessionUpdate"] === "agent_message_chunk") words.push(text);
    if (update["sessionUpdate"] === "tool_call") words.push(String(update["toolCallId"]));
  }
  return words;
}

/** Takes what is shown of one turn from the front of `words`, and says what is wrong with it. */
function checkTurn(words: string[], { text, isSaid, isOver, calls }: Turn): void {
  const isThere = words[0] === text;
  if (isSaid) expect(isThere, `${text} is there, before ${words[0]}`).toBe(true);
  if (!isThere) return;
  words.shift();
  const end = words.findIndex((word) => word.startsWith("turn "));
  const mine = words.splice(0, end < 0 ? words.length : end);
  const answer = text.replace("turn", "answer");
  expect(mine).toEqual(expect.arrayContaining(calls));
  const whole = [calls[0] ?? mine[0], answer];
  expect(mine, "in order, once").toEqual(isOver ? whole : whole.slice(0, mine.length));
}

function check(words: string[], turns: readonly Turn[]): void {
  for (const turn of turns) checkTurn(words, turn);
  expect(words).toEqual([]);
}

async function wholeTurn(agent: AcpProcess, sessionId: string, number: number): Promise<Turn> {
  const { turn, over, read } = begin(agent, sessionId, number);
  await over;
  read();
  return turn;
}

/** Goes on with one session until it has been killed so often; gives how many turns were cut off. */
async function killSession(kills: number, random: Random): Promise<number> {
  let agent = await start();
  const { home, cwd } = agent;
  const sessionId = await agent.newSession();
  const turns: Turn[] = [];
  // Of the quickest so far: by a slow one, most kills would come when their turn is over.
  let turnMs = Number.POSITIVE_INFINITY;
  for (let done = 0; done < kills; done += 1) {
    const next = start(home); // its start is no part of what is tried here
    if (done === 0 || random.chance(0.2)) {
      const begun = performance.now();
      turns.push(await wholeTurn(agent, sessionId, turns.length));
      turnMs = Math.min(turnMs, performance.now() - begun);
    }
    const { turn, over, read } = begin(agent, sessionId, turns.length);
    turns.push(turn);
    await someMoment(agent, over, turnMs, random);
    await kill(agent);
    read();
    agent = await next;
    const { error } = await agent.request("session/load", { sessionId, cwd, mcpServers: [] });
    expect(error, `readable after kill ${done}`).toBeUndefined();
    check(shown(agent.updates), turns);
    agent.updates.length = 0;
  }
  await agent.stop();
  return turns.filter(({ isOver }) => !isOver).length;
}

test("kill -9 at random points of turns loses nothing that the client has received", {
  timeout: 600_000,
}, async () => {
  const seeds = Array.from({ length: SESSIONS }, (_, session) => SEED + session);
  const cutOff = await Promise.all(seeds.map((seed) => killSession(KILLS / SESSIONS, seeded(seed))));
  let hits = cutOff.reduce((sum, count) => sum + count, 0);
  // The machine decides when a kill hits a turn; this test needs many hits before the turn's end.
  for (let seed = SEED + SESSIONS; hits <= KILLS / 4; seed += 1) hits += await killSession(2, seeded(seed));
});

test("a call that had ended beside one that still ran is not taken for an interrupted one", async () => {
  const agent = await start();
  agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
  const id = await agent.newSession();
  const wait = call("terminal", { command: "sleep 1000" });
  model.script(callTools(call("write_file", { path: "first.txt", content: "written\n" }), wait));
  void agent.prompt(id, "turn 1");
  while (agent.of("tool_call_update").every(({ status }) => status !== "completed")) await agent.nextUpdate();
  await kill(agent);
  const next = await start(agent.home);
  await next.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  model.script(say("done"));
  await next.prompt(id, "go on");
  const results = model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool");
  expect(results?.map(({ content }) => content)).toEqual([
    expect.stringMatching(/^Done: Write first\.txt\. Hermes ended before it stored the result/),
    expect.stringContaining("interrupted before it finished"),
  ]);
  await next.stop();
});
