/** Evaluation of delegated tasks as a client of the protocol sees it: verdicts, further runs, and the user's decision. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sessionsFolder } from "../../agent-core/config/home.ts";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import type { Answer } from "../support/model-server/answer.ts";
import { call, fail, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

type Body = ModelServer["requests"][number]["body"];

const GOOD = { correctness: 0.9, completeness: 0.9, confidence: 0.9, missing_aspects: [], reason: "All is there." };
const GRAPH = [
  { id: "a", goal: "a: count the files" },
  { id: "b", goal: "b: write about them", depends_on: ["a"] },
];

const textOf = ({ messages }: Body, role: string): string =>
  String(messages.find((message) => message["role"] === role)?.["content"]);

/** A parent that delegates `tasks`, sub-agents whose answers are numbered, and a judge that gives `answers` in order. */
async function delegated(
  answers: readonly Answer[],
  { tasks = GRAPH, config = "", reply }: { tasks?: unknown; config?: string; reply?: Json } = {},
) {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" });
  onTestFinished(() => agent.stop());
  writeFileSync(join(agent.home, "config.yaml"), config);
  const judged: Body[] = [];
  const runs: string[] = [];
  model.respondWith((body) => {
    if (textOf(body, "system").startsWith("You check the result")) {
      judged.push(body);
      return answers[judged.length - 1] ?? say(JSON.stringify(GOOD));
    }
    const prompt = textOf(body, "user");
    if (prompt === "go") {
      const isBegun = body.messages.some(({ role }) => role === "tool");
      return isBegun ? say("all done") : { parts: [call("delegate_task", { tasks })] };
    }
    const last = String(body.messages.findLast(({ role }) => role === "user")?.["content"]);
    runs.push(last);
    return say(`Answer ${runs.length}.`);
  });
  const questions: Json[] = [];
  agent.on("elicitation/create", (params) => {
    questions.push(params);
    return reply ?? { action: "cancel" };
  });
  await agent.initialize({ elicitation: { form: {} } });
  const sessionId = await agent.newSession();
  expect((await agent.prompt(sessionId, "go")).result).toMatchObject({ stopReason: "end_turn" });
  const result = model.requests.at(-1)?.body.messages.findLast(({ role }) => role === "tool")?.["content"];
  const journal = readFileSync(join(sessionsFolder(agent.home), `${sessionId}.jsonl`), "utf8")
    .trim()
    .split("\n");
  const entries = journal.map((line): Json => JSON.parse(line)).filter(({ type }) => type === "evaluation");
  return { agent, judged, runs, questions, entries, results: JSON.parse(String(result)) as readonly Json[] };
}

test("a result that the judge finds wrong is corrected before another task builds on it", async () => {
  const wrong = { ...GOOD, correctness: 0.3, reason: "It counts folders too." };
  const { agent, judged, runs, entries, results } = await delegated([say(JSON.stringify(wrong))]);
  expect(runs).toHaveLength(3);
  expect(runs[1]).toContain("not accepted: It counts folders too.");
  expect(runs[2]).toContain("Answer 2.");
  expect(judged).toHaveLength(3);
  expect(JSON.stringify(agent.of("tool_call_update").at(-1)?.["content"])).toContain(
    "a: a: count the files — completed, 2 steps, correctness 0.9, completeness 0.9, confidence 0.9 (All is there.)",
  );
  expect(judged[0]).toMatchObject({ temperature: 0 });
  expect(judged[0]).not.toHaveProperty("tools");
  expect(results).toMatchObject([
    { id: "a", status: "completed", summary: "Answer 2.", verdicts: [{ decision: "retry" }, { decision: "accept" }] },
    { id: "b", status: "completed", verdicts: [{ decision: "accept" }] },
  ]);
  expect(entries).toMatchObject([
    { taskId: "a", by: "judge", retries: 0, correctness: 0.3, decision: "retry", reason: wrong.reason },
    { taskId: "a", by: "judge", retries: 1, correctness: 0.9, decision: "accept" },
    { taskId: "b", by: "judge", retries: 0, decision: "accept" },
  ]);
  const shown = agent.of("tool_call_update").map(({ _meta }) => _meta as { hermes?: { tasks?: Json[] } } | undefined);
  expect(shown.findLast((meta) => meta?.hermes?.tasks)?.hermes?.tasks).toMatchObject([
    { attempt: 2, verdicts: [{ correctness: 0.3 }, { correctness: 0.9 }] },
    { attempt: 1, verdicts: [{ correctness: 0.9 }] },
  ]);
});

test.each<[string, Answer]>([
  ["is down", fail(400, "no such model")],
  ["talks nonsense", say("Looks good to me!")],
])("a judge that %s stops nothing: the results are accepted with a note", async (_, answer) => {
  const { runs, entries, results } = await delegated([answer, answer]);
  expect(runs).toHaveLength(2);
  const reason = expect.stringContaining("without evaluation");
  // The card shows a verdict without scores.
  const accepted = { status: "completed", note: reason, verdicts: [{ decision: "accept", reason }] };
  expect(results).toMatchObject([accepted, accepted]);
  expect(entries).toMatchObject([{ by: "none" }, { by: "none" }]);
});

test("a judge that is not sure asks the user, whose refusal skips the tasks that need the result", async () => {
  const unsure = say(JSON.stringify({ ...GOOD, confidence: 0.2, reason: "No source is named." }));
  const reply = { action: "accept", content: { choice: "Do Not Use It" } };
  const { questions, results, entries } = await delegated([unsure], { reply });
  expect(JSON.stringify(questions)).toContain("No source is named.");
  expect(results).toMatchObject([
    { id: "a", status: "failed", reason: "The user did not accept the result." },
    { id: "b", status: "skipped" },
  ]);
  expect(entries).toMatchObject([{ decision: "escalate" }]);
});

test("a result without the file that the task names is never accepted, and costs no judge", async () => {
  const tasks = [{ ...GRAPH[0], files: ["report.md"] }, GRAPH[1]];
  const { judged, runs, results, entries } = await delegated([], { tasks });
  expect(runs).toHaveLength(3);
  expect(judged).toEqual([]);
  expect(results).toMatchObject([
    { id: "a", status: "failed", reason: expect.stringContaining("report.md") },
    { id: "b", status: "skipped" },
  ]);
  expect(entries.map(({ by, decision }) => [by, decision])).toEqual(Array(3).fill(["facts", "retry"]));
});

test("single tasks are evaluated only when the setting says so, and graphs unless it says no", async () => {
  const tasks = [GRAPH[0]];
  expect((await delegated([], { tasks })).judged).toHaveLength(0);
  expect((await delegated([], { tasks, config: "evaluation:\n  enabled: true\n" })).judged).toHaveLength(1);
  expect((await delegated([], { config: "evaluation:\n  enabled: false\n" })).judged).toHaveLength(0);
  const { judged } = await delegated([], { config: "auxiliary:\n  evaluation:\n    model: judge\n" });
  expect(judged.map(({ model }) => model)).toEqual(["judge", "judge"]);
});
