// A connection that is cut anywhere loses nothing, and repeats nothing.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, callTools, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";
import { sweep } from "../../support/scale.ts";
import { type ServedAgent, ServedClient, serveAgent, wireTo } from "../../support/served-agent.ts";

const CUTS = sweep(200, 5);

let model: ModelServer;
let agent: ServedAgent;

beforeAll(async () => {
  model = await startModelServer();
  model.respondWith(({ messages, tools }) => {
    if (tools === undefined) return say("A title");
    const prompt = String(messages.find(({ role }) => role === "user")?.["content"]);
    const results = messages.filter(({ role }) => role === "tool").length;
    if (prompt.startsWith("count")) return say("The sub-agent has counted.");
    if (results === 0) return callTools(call("terminal", { command: "echo made >> made.txt" }));
    if (results === 1) return callTools(call("delegate_task", { tasks: [{ id: "a", goal: "count" }] }));
    return say("All of it is done, in several words.");
  });
  const environment = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" };
  agent = await serveAgent({ environment });
});

afterAll(async () => {
  await agent.stop();
  await model.stop();
});

/** A session from its start to its end. `cutAfter`: bytes of each of the first connections. */
async function session(cutAfter: readonly number[]) {
  let bytes = 0;
  const limits = [...cutAfter];
  const wire = await wireTo(
    agent.port,
    () => limits.shift(),
    (count) => {
      bytes += count;
    },
  );
  const client = new ServedClient(wire.port);
  let asked = 0;
  client.on("session/request_permission", () => {
    asked += 1;
    return { outcome: { outcome: "selected", optionId: "once" } };
  });
  await client.initialize();
  const id = await client.newSession();
  await client.request("session/set_mode", { sessionId: id, modeId: "ask" });
  const { result } = await client.prompt(id, "make it");
  await client.stop();
  await wire.stop();
  const calls = client.of("tool_call").map(({ title }) => title);
  const ends = client.of("tool_call_update").filter(({ status }) => status === "completed" || status === "failed");
  const made = readFileSync(join(client.cwd, "made.txt"), "utf8");
  return { seen: { result, asked, calls, ends: ends.length, made, text: client.text() }, bytes };
}

test(
  `A session with a command, a permission request and a sub-agent is the same after a cut at any of ${CUTS} bytes`,
  async () => {
    const { seen: whole, bytes } = await session([]);
    expect(whole).toMatchObject({
      result: { stopReason: "end_turn" },
      made: "made\n",
      text: "All of it is done, in several words.",
    });
    expect(whole.asked).toBeGreaterThan(0);
    // The first answer, `initialize`, is not repeated: a client without it has not begun.
    const first = 3_000;
    for (let cut = 0; cut < CUTS; cut += 1) {
      const at = first + Math.floor(((bytes - first) * cut) / CUTS);
      const second = first + ((cut * 7_919) % Math.max(1, bytes - first));
      const { seen } = await session([at, second]);
      expect(seen, `cut after ${at} and ${second} of ${bytes} bytes`).toEqual(whole);
    }
  },
  sweep(900_000, 60_000),
);
