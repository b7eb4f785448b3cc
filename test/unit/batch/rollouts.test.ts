import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { UsageError } from "../../../agent-core/platform/errors.ts";
import type { rolloutOptions } from "../../../batch/rollouts/rollout-options.ts";
import { runRollouts } from "../../../batch/rollouts/run-rollouts.ts";
import { tokenSequence } from "../../../batch/rollouts/token-sequence.ts";
import { parseCommandLine } from "../../../cli/command-line.ts";
import type { Values } from "../../../cli/subcommand.ts";
import type { Answer } from "../../support/model-server/answer.ts";
import { call, say } from "../../support/model-server/model-server.ts";
import { startTrainer } from "../../support/trainer-server.ts";
import { type BatchRig, startRig } from "./support/rig.ts";

const environments = join(import.meta.dirname, "../../../docs/environments");
const fixTest = join(environments, "fix-test.mjs");
const answerFromFiles = join(environments, "answer-from-files.mjs");

type Run = { readonly code: number; readonly said: string; readonly reported: string };

async function rollouts(rig: BatchRig, verb: string, ...args: readonly string[]): Promise<Run> {
  const line = await parseCommandLine(
    ["rollouts", verb, "--output", join(rig.folder, "out.jsonl"), ...args].filter(
      (word, at, all) => verb === "run" || (word !== "--output" && all[at - 1] !== "--output"),
    ),
  );
  if (line.kind !== "run") throw new Error("the command line asks for help");
  const values = line.invocation.values as unknown as Values<typeof rolloutOptions>; // of the same definition
  let said = "";
  let reported = "";
  const io = {
    environment: rig.environment,
    isTerminal: false,
    say: (text: string) => {
      said += text;
    },
    report: (text: string) => {
      reported += text;
    },
  };
  const code = await runRollouts(verb, values, io);
  return { code, said, reported };
}

/** Text of the last message of a request. */
function lastText(body: { readonly messages: readonly Record<string, unknown>[] }): string {
  return JSON.stringify(body.messages.at(-1) ?? null);
}

describe("Rollouts", () => {
  test("reward a group whose agents correct a failing test, or do not", async () => {
    const rig = await startRig();
    let first = true;
    rig.model.respondWith((body): Answer => {
      if (!lastText(body).includes("Correct add.mjs")) return say("done");
      const isRight = first;
      first = false;
      return isRight
        ? { parts: [call("write_file", { path: "add.mjs", content: "export const add = (a, b) => a + b;\n" })] }
        : say("I cannot.");
    });
    const { code, said, reported } = await rollouts(rig, "run", "--env", fixTest, "--group-size", "2", "--count", "1");
    expect(code, reported).toBe(0);
    expect(JSON.parse(said)).toMatchObject({ groups: 1, kept: 1, rollouts: 2, failed: 0 });
    const rows = readFileSync(join(rig.folder, "out.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const rewards = rows.map(({ reward }) => reward);
    expect(Math.max(...rewards)).toBe(1);
    expect(Math.min(...rewards)).toBeLessThan(1);
    expect(rows[0]).toMatchObject({ group: 1, completed: true });
  });

  test("evaluate answers from files, and leave out groups that teach nothing", async () => {
    const rig = await startRig();
    rig.model.respondWith((body): Answer => {
      const name = /does (\w+) work/.exec(JSON.stringify(body.messages))?.[1] ?? "";
      const text = lastText(body);
      if (text.includes("In which room"))
        return { parts: [call("read_file", { path: `people/${name.toLowerCase()}.txt` })] };
      return say(`Room ${/room (\d+)/.exec(text)?.[1] ?? "unknown"}.`);
    });
    const whole = await rollouts(rig, "evaluate", "--env", answerFromFiles);
    expect(whole.code, whole.reported).toBe(0);
    expect(JSON.parse(whole.said)).toMatchObject({ rollouts: 4, failed: 0, mean_reward: 1 });
    const equal = await rollouts(rig, "run", "--env", answerFromFiles, "--group-size", "2", "--count", "1");
    expect(JSON.parse(equal.said)).toMatchObject({ groups: 1, kept: 0 });
    expect(equal.reported).toContain("all rewards are 1, left out");
  });

  test("give a trainer tokens of the model server, and mask those of others", async () => {
    const [rig, trainer] = await Promise.all([startRig(), startTrainer(1)]);
    onTestFinished(() => trainer.stop());
    const chunk = (more: object, choice: object): string =>
      JSON.stringify({ choices: [{ index: 0, delta: {}, ...choice }], ...more });
    let asked = 0;
    rig.model.respondWith((body): Answer => {
      expect(body).toMatchObject({ return_token_ids: true, logprobs: true });
      asked += 1;
      return {
        parts: [
          { type: "raw", data: chunk({ prompt_token_ids: [1, 2, 3] }, {}) },
          { type: "text", text: asked === 1 ? "room 101" : "room 7" },
          { type: "raw", data: chunk({}, { token_ids: [8], logprobs: { content: [{ token: "a", logprob: -0.5 }] } }) },
          { type: "raw", data: chunk({}, { token_ids: [9], logprobs: { content: [{ token: "b", logprob: -1 }] } }) },
        ],
      };
    });
    const served = await rollouts(
      rig,
      "serve",
      "--env",
      answerFromFiles,
      "--group-size",
      "2",
      "--atropos",
      trainer.url,
    );
    expect(served.code, served.reported).toBe(0);
    expect(trainer.scored).toHaveLength(1);
    const [group] = trainer.scored;
    expect(group).toMatchObject({
      env_id: 7,
      tokens: [
        [1, 2, 3, 8, 9],
        [1, 2, 3, 8, 9],
      ],
      masks: [
        [-100, -100, -100, 8, 9],
        [-100, -100, -100, 8, 9],
      ],
      inference_logprobs: [
        [0, 0, 0, -0.5, -1],
        [0, 0, 0, -0.5, -1],
      ],
    });
    expect(new Set(group?.["scores"] as number[])).toEqual(new Set([0, 1]));
    expect(trainer.calls.slice(0, 3)).toEqual(["POST /register-env", "POST /register-env", "GET /status-env"]);
    expect(trainer.calls.at(-1)).toBe("POST /disconnect-env");
  });

  test("invent no tokens for a server that sends none", async () => {
    const [rig, trainer] = await Promise.all([startRig(), startTrainer(1)]);
    onTestFinished(() => trainer.stop());
    rig.model.script(say("room 101"), say("no"));
    const served = rollouts(rig, "serve", "--env", answerFromFiles, "--group-size", "2", "--atropos", trainer.url);
    await expect(served).rejects.toThrow("the model server sent no token ids");
    expect(trainer.scored).toEqual([]);
  });

  test("send each request of a conversation with the one before it unchanged", async () => {
    const rig = await startRig();
    const read = (): Answer => ({ parts: [call("read_file", { path: "people/ada.txt" })] });
    rig.model.script(read(), read(), read(), say("Room 101."));
    await rollouts(
      rig,
      "run",
      "--env",
      answerFromFiles,
      "--group-size",
      "1",
      "--count",
      "1",
      "--max-turns",
      "5",
      "--keep-equal",
    );
    const sent = rig.model.requests.map(({ body }) => JSON.stringify(body.messages).slice(0, -1));
    expect(sent).toHaveLength(4);
    for (const [at, messages] of sent.slice(1).entries()) expect(messages.startsWith(sent[at] ?? "x")).toBe(true);
    expect(rig.model.requests[0]?.body).not.toHaveProperty("temperature");
  });

  test("name what is wrong with an environment", async () => {
    const rig = await startRig();
    const file = rig.write("bad.mjs", "export default { name: 'x', nextItem() {}, prompt: 3, reward() {} };");
    await expect(rollouts(rig, "run", "--env", file)).rejects.toThrow(
      new UsageError(`--env ${file}: prompt: is no function`),
    );
    await expect(rollouts(rig, "run", "--env", join(rig.folder, "none.mjs"))).rejects.toBeInstanceOf(UsageError);
  });
});

test("Tokens of an earlier answer are trained only where the last prompt has them unchanged", () => {
  const step = (promptIds: number[], completionIds: number[]) => ({
    position: 0,
    at: 0,
    model: "m",
    tokens: { promptIds, completionIds },
  });
  expect(tokenSequence([step([1], [2, 3]), step([1, 2, 3, 4], [5])])?.masks).toEqual([-100, 2, 3, -100, 5]);
  expect(tokenSequence([step([1], [2, 9]), step([1, 2, 3, 4], [5])])?.masks).toEqual([-100, -100, -100, -100, 5]);
  expect(tokenSequence([{ position: 0, at: 0, model: "m" }])).toBeUndefined();
});
