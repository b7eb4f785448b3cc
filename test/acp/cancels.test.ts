// Cancels at any moment: what the client sees of each call keeps the rules of the wire.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import type { Part } from "../support/model-server/answer.ts";
import { call, say, startModelServer } from "../support/model-server/model-server.ts";
import { rounds, seedOf } from "../support/scale.ts";

const ROUNDS = rounds(300, 10);
const SEED = seedOf(20_261_128);

/** The same numbers in each run, from 0 up to `below`. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** Breaks of the rules: a call that nobody announced, one that is open again, and one that is open after its turn. */
class Wire {
  readonly breaks: string[] = [];
  readonly #status = new Map<string, string>();

  read(update: Json, round: number): void {
    const { sessionUpdate: kind, toolCallId, status } = update;
    const id = String(toolCallId);
    if (kind === "tool_call" && this.#status.has(id)) this.breaks.push(`${round}: ${id} is announced twice`);
    if (kind === "tool_call_update" && !this.#status.has(id)) this.breaks.push(`${round}: ${id} is not known`);
    if (kind !== "tool_call" && kind !== "tool_call_update") return;
    const next = String(status ?? this.#status.get(id));
    if (isClosed(this.#status.get(id)) && !isClosed(next)) this.breaks.push(`${round}: ${id} is ${next} again`);
    this.#status.set(id, next);
  }

  endTurn(round: number): void {
    for (const [id, status] of this.#status) if (!isClosed(status)) this.breaks.push(`${round}: ${id} stays ${status}`);
  }
}

function isClosed(status: string | undefined): boolean {
  return status === "completed" || status === "failed";
}

/** Goes on to print when it is stopped. */
const PRINTING = "trap 'echo late' TERM; for i in $(seq 40); do echo $i; sleep 0.02; done";

const calls: readonly (() => Part)[] = [
  () => call("terminal", { command: PRINTING }),
  () => call("terminal", { command: `${PRINTING} & cat`, background: true }),
  () => call("read_file", { path: "a.txt" }),
  () => call("write_file", { path: "b.json", content: "{ broken" }),
  () =>
    call("execute_code", { code: "from hermes_tools import read_file\nfor i in range(20): print(read_file('a.txt'))" }),
  () => call("delegate_task", { tasks: [{ id: "t", goal: "inner" }] }),
  () => call("no_such_tool", {}),
];

test("no call is open again after its end, and none after its turn, wherever the turn is cancelled", async () => {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" });
  onTestFinished(() => agent.stop());
  const hook = "hooks:\n  pre_tool_call:\n    - command: sleep 0.03; echo '{}'\n";
  writeFileSync(join(agent.home, "config.yaml"), hook);
  agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
  await agent.initialize();
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  const random = randomNumbers(SEED);
  const some = (): readonly Part[] =>
    Array.from({ length: 1 + random(3) }, () => calls[random(calls.length)]?.() ?? call("read_file", {}));
  model.respondWith(({ messages }) =>
    messages.at(-1)?.["role"] === "tool" && random(3) > 0 ? say("ok") : { parts: some() },
  );
  const wire = new Wire();
  let read = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const turn = agent.prompt(sessionId, "go");
    const isOver = turn.then(() => true);
    for (let left = 1 + random(12); left > 0; left -= 1) {
      if (await Promise.race([isOver, agent.nextUpdate().then(() => false)])) break;
    }
    agent.notify("session/cancel", { sessionId });
    await turn;
    for (const update of agent.updates.slice(read)) wire.read(update, round);
    read = agent.updates.length;
    wire.endTurn(round);
  }
  expect(wire.breaks).toEqual([]);
});
