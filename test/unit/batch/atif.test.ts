import { expect, test } from "vitest";
import { call } from "../../support/model-server/model-server.ts";
import { dataSet, startRig, think } from "./support/rig.ts";

const USUAL = ["--batch_size=2", "--run_name", "r1", "--distribution", "terminal_only", "--retries", "0"];

type Trajectory = {
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly [key: string]: unknown;
};

test("ATIF stands beside the batch, with a step for each message and the usage of each call", async () => {
  const rig = await startRig();
  const file = rig.write("tasks.jsonl", dataSet(["go"]));
  rig.model.script(
    {
      parts: [{ type: "reasoning", text: "first" }, call("read_file", { path: "none.txt" })],
      usage: { input: 100, output: 20 },
    },
    think("done"),
  );
  expect(await rig.run("--dataset_file", file, ...USUAL, "--format", "both")).toBe(0);
  const [trajectory] = rig.lines("atif/batch_0.jsonl") as unknown as Trajectory[];
  const [row] = rig.lines("batch_0.jsonl");
  expect(trajectory).toMatchObject({
    schema_version: "ATIF-v1.4",
    session_id: row?.metadata.hermes["key"],
    agent: { name: "hermes", model_name: "test-model" },
    final_metrics: { total_prompt_tokens: 200, total_completion_tokens: 40, total_steps: 4 },
  });
  expect(trajectory?.steps.map((step) => [step["step_id"], step["source"]])).toEqual([
    [1, "system"],
    [2, "user"],
    [3, "agent"],
    [4, "agent"],
  ]);
  expect(trajectory?.steps[2]).toMatchObject({
    reasoning_content: "first",
    tool_calls: [{ function_name: "read_file", arguments: { path: "none.txt" } }],
    observation: { results: [{ source_call_id: "call_1_0" }] },
    metrics: { prompt_tokens: 100, completion_tokens: 20 },
  });
  expect(JSON.stringify(trajectory)).not.toContain("token_ids");
  expect(row?.tool_stats["read_file"]).toEqual({ count: 1, success: 0, failure: 1 });
});

test("Token ids and log probabilities are stored as the server sent them", async () => {
  const rig = await startRig();
  const file = rig.write("tasks.jsonl", dataSet(["go"]));
  const chunk = (more: object, choice: object): string =>
    JSON.stringify({ choices: [{ index: 0, delta: {}, ...choice }], ...more });
  rig.model.script({
    parts: [
      { type: "raw", data: chunk({ prompt_token_ids: [1, 2] }, {}) },
      { type: "reasoning", text: "hm" },
      {
        type: "raw",
        data: chunk({}, { delta: { content: "do" }, token_ids: [5], logprobs: { content: [{ logprob: -0.1 }] } }),
      },
      {
        type: "raw",
        data: chunk({}, { delta: { content: "ne" }, token_ids: [6], logprobs: { content: [{ logprob: -0.2 }] } }),
      },
    ],
  });
  expect(await rig.run("--dataset_file", file, ...USUAL, "--token-ids", "--format", "atif")).toBe(0);
  expect(rig.model.requests[0]?.body).toMatchObject({ return_token_ids: true, logprobs: true });
  const [row] = rig.lines("batch_0.jsonl");
  const tokens = { prompt_token_ids: [1, 2], completion_token_ids: [5, 6], logprobs: [-0.1, -0.2] };
  expect(row?.metadata.hermes["steps"]).toMatchObject([tokens]);
  expect(row?.conversations.at(-1)?.value).toBe("<think>\nhm\n</think>\ndone");
  const [trajectory] = rig.lines("atif/batch_0.jsonl") as unknown as Trajectory[];
  expect(trajectory?.steps.at(-1)?.["metrics"]).toMatchObject(tokens);
});
