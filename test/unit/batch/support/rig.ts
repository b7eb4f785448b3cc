/** A batch run in a folder of its own, against a model server. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { messageOf, UsageError } from "../../../../agent-core/platform/errors.ts";
import type { BatchValues } from "../../../../batch/batch-options.ts";
import { runBatch } from "../../../../batch/run-batch.ts";
import { parseCommandLine } from "../../../../cli/command-line.ts";
import type { Answer } from "../../../support/model-server/answer.ts";
import { type ModelServer, startModelServer } from "../../../support/model-server/model-server.ts";

/** A line of batch_N.jsonl. */
export type Row = {
  readonly prompt_index: number;
  readonly conversations: readonly { readonly from: string; readonly value: string }[];
  readonly metadata: { readonly hermes: Readonly<Record<string, unknown>> };
  readonly tool_stats: Readonly<Record<string, unknown>>;
  readonly failed?: boolean;
};

export type BatchRig = {
  readonly folder: string;
  readonly model: ModelServer;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Output of the last run. */
  readonly said: string[];
  readonly reported: string[];
  write(name: string, text: string): string;
  /** Lines of a file of the run as JSON. */
  lines(name: string): Row[];
  /** Runs `hermes batch` with the folder for its data. Resolves to the exit code. */
  run(...args: readonly string[]): Promise<number>;
};

/** An answer in words, with a thought. */
export function think(words: string, thought = "hm"): Answer {
  return {
    parts: [
      { type: "reasoning", text: thought },
      { type: "text", text: words },
    ],
  };
}

export function dataSet(prompts: readonly string[]): string {
  return prompts.map((prompt) => `${JSON.stringify({ prompt })}\n`).join("");
}

export async function startRig(config = ""): Promise<BatchRig> {
  const folder = mkdtempSync(join(tmpdir(), "batch-test-"));
  const model = await startModelServer();
  onTestFinished(async () => {
    await model.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const home = mkdtempSync(join(folder, "home-"));
  writeFileSync(join(home, "config.yaml"), config);
  const environment = {
    PATH: process.env["PATH"],
    HERMES_HOME: home,
    HERMES_LOCAL_SERVERS: "off",
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "test-model",
    HERMES_API_KEY: "sk-test",
  };
  const said: string[] = [];
  const reported: string[] = [];
  return {
    folder,
    model,
    environment,
    said,
    reported,
    write(name, text) {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    lines: (name) =>
      readFileSync(join(folder, "data/r1", name), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line)),
    async run(...args) {
      said.length = 0;
      reported.length = 0;
      const report = (text: string) => reported.push(text);
      const io = { environment, say: (text: string) => said.push(text), report, isTerminal: false, backOff: () => 1 };
      try {
        return await runBatch(await valuesOf(["--out", join(folder, "data"), ...args]), io);
      } catch (error) {
        report(messageOf(error));
        return error instanceof UsageError ? 2 : 1;
      }
    },
  };
}

/** Values of `hermes batch` with these arguments. */
export async function valuesOf(args: readonly string[]): Promise<BatchValues> {
  const line = await parseCommandLine(["batch", ...args]);
  if (line.kind !== "run") throw new Error("the command line asks for help");
  return line.invocation.values as unknown as BatchValues; // of the same definition
}
