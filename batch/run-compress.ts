/** The compressor with a model: each summary is a session of its own, without tools. */
import { counted } from "../agent-core/platform/counted.ts";
import { EXIT } from "../cli/subcommand.ts";
import { runSession } from "./agent-session.ts";
import type { BatchValues } from "./batch-options.ts";
import { numberOf } from "./option-values.ts";
import type { CommandIo } from "./run-batch.ts";
import { configuredModel, configureTask, readTaskBase } from "./task-config.ts";
import { TaskFolders } from "./task-folders.ts";
import { COMPRESSION, compressTrajectories } from "./trajectories/compress.ts";

/** Longest time of a summary, as in the original. Milliseconds. */
const SUMMARY_MS = 300_000;

const REQUEST = `Summarise these turns of an agent's work for a reader who continues it: what was done, found and decided, with names and values that matter. At most ${COMPRESSION.summaryTokens} tokens, without an introduction.`;

/** Returns the exit code. Rejects with an Error in one line, a UsageError for a wrong command line. */
export async function runCompress(values: BatchValues, { environment, report }: CommandIo): Promise<number> {
  const base = await readTaskBase(environment);
  const folders = new TaskFolders();
  const model = values.model ?? configuredModel(base);
  const settings = {
    distribution: "default",
    maxTurns: 1,
    timeoutMs: SUMMARY_MS,
    retries: 0,
    atif: false,
    ...(model !== undefined && { model }),
  };
  const summarise = async (turns: string): Promise<string> => {
    const folder = await folders.open({ settings });
    try {
      const prompt = `${REQUEST}\n\n${turns}`;
      const task = { key: "", index: 0, batch: 0, sample: 0, prompt, toolsets: ["todo"], settings };
      const own = await configureTask(folder.home, task, base);
      const session = {
        cwd: folder.workspace,
        environment: own,
        prompt,
        systemMessage: undefined,
        modelsHome: base.home,
      };
      const end = await runSession({ ...session, log: () => undefined }, AbortSignal.timeout(SUMMARY_MS));
      const words = end.trajectory.messages.findLast(({ role }) => role === "assistant")?.text ?? "";
      if (end.error !== undefined || words === "") throw new Error(end.error ?? "the model gave no summary");
      return words;
    } finally {
      await folder.remove();
    }
  };
  try {
    const metrics = await compressTrajectories({
      input: values.input ?? "",
      output: values.output,
      samplePercent: numberOf("sample-percent", values["sample-percent"], { isWhole: false }),
      targetTokens: numberOf("target-max-tokens", values["target-max-tokens"], { min: 1 }),
      requests: COMPRESSION.requests,
      summarise,
    });
    const { total_trajectories: total, compressed, failed, tokens_before: before, tokens_after: after } = metrics;
    report(`${compressed} of ${counted(total, "line")} compressed, ${failed} failed: ${before} → ${after} tokens.\n`);
    return failed > 0 ? EXIT.failed : EXIT.done;
  } finally {
    await folders.dispose();
  }
}
