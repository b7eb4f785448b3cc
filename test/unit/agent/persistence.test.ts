// Faults that only time or the user can end, with a real server.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay, setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AgentCallbacks, AIAgent, type AIAgentOptions } from "../../../agent-core/index.ts";
import type { JournalEntry } from "../../../agent-core/sessions/entry.ts";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { fail, hold, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let model: ModelServer;
beforeEach(async () => {
  model = await startModelServer();
});
afterEach(() => model.stop());

function agentWith(callbacks: AgentCallbacks, options: Partial<AIAgentOptions> = {}): AIAgent {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-persistence-"));
  return new AIAgent({ baseUrl: model.baseUrl, model: "m", cwd, home: cwd, environment: {}, callbacks, ...options });
}

test("a wait that is long enough for a notice can be cancelled at once, and the agent continues", async () => {
  model.script({ ...fail(429, "slow down"), headers: { "retry-after": "60" } }, say("hello"));
  const notices: string[] = [];
  const agent = agentWith({
    status: ({ message, wait }) => {
      notices.push(message);
      expect(wait?.delayMs).toBeGreaterThanOrEqual(60_000);
      agent.turns.interrupt();
    },
  });
  expect(await agent.runConversation({ userMessage: "go" })).toMatchObject({ stopReason: "cancelled" });
  expect(notices).toEqual([expect.stringMatching(/limits requests to m.* Next try in \d+ s\.$/)]);
  expect(await agent.chat("again")).toBe("hello");
});

test("a model that the user chooses during a wait answers at once", async () => {
  model.respondWith(({ model: name }) =>
    name === "other" ? say("hello") : { ...fail(429, "slow down"), headers: { "retry-after": "60" } },
  );
  const other = { baseUrl: model.baseUrl, model: "other" };
  const agent = agentWith({
    status: ({ wait }) => wait && agent.setup.models.choose(agent.setup.resolve(other)),
  });
  expect(await agent.chat("go")).toBe("hello");
});

test("a server that never answers can be cancelled", async () => {
  model.script({ silent: true }, say("hello"));
  const agent = agentWith({});
  const turn = agent.runConversation({ userMessage: "go" });
  await model.nextRequest();
  agent.turns.interrupt();
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(await agent.chat("again")).toBe("hello");
});

/** Waits for data of a server in this process, which arrives within a few rounds of the event loop. */
async function arrival(): Promise<void> {
  for (let round = 0; round < 20; round++) await setImmediate();
}

test("a server that sends signs of life is not silent", async () => {
  const gates = Array.from({ length: 6 }, hold);
  const sign = { type: "bytes", bytes: Buffer.from(": still here\n\n") } as const;
  model.script({ parts: [...gates.flatMap((gate) => [sign, gate.part]), { type: "text", text: "hello" }] });
  const clock = new ManualClock();
  const signs = (async () => {
    for (const gate of gates) {
      await gate.reached;
      await arrival();
      await clock.advance(50_000); // within the idle timeout of 60 s
      gate.release();
    }
  })();
  const entries: JournalEntry[] = [];
  const folder = mkdtempSync(join(tmpdir(), "hermes-persistence-"));
  const journal = new Journal({
    path: join(folder, "one.jsonl"),
    sessionId: "one",
    cwd: folder,
    now: () => clock.now(),
    onEntry: (entry) => entries.push(entry),
    onFailure: (message) => expect.unreachable(message),
  });
  expect(await agentWith({}, { clock, journal }).chat("go")).toBe("hello");
  expect(entries).toContainEqual(expect.objectContaining({ type: "turn-end", firstTokenMs: 300_000 }));
  journal.close();
  await signs;
  expect(model.requests).toHaveLength(1);
});

test("a server that is down for two minutes gets the same request again, and the turn continues", async () => {
  const { baseUrl } = model;
  const clock = new ManualClock();
  const totals: number[] = [];
  let back: ModelServer | undefined;
  const agent = agentWith(
    {
      status: ({ wait }) => {
        if (wait !== undefined) totals.push(wait.waitedMs);
      },
    },
    { clock, baseUrl },
  );
  model.script(say("ready"));
  await agent.chat("hi");
  await model.stop();
  const answer = agent.chat("go");
  while (back === undefined) {
    await arrival();
    await clock.advance(1_000);
    if (clock.now() < 120_000) continue;
    back = await startModelServer(Number(new URL(baseUrl).port));
    back.script(say("hello"));
  }
  let isOver = false as boolean;
  void answer.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await arrival();
    // While a request is under way, only real time passes.
    if (back.requests.length === 0) await clock.advance(1_000);
    await delay(5);
  }
  expect(await answer).toBe("hello");
  expect(clock.now()).toBeLessThan(160_000);
  expect(totals.length).toBeLessThan(8);
  await back.stop();
});
