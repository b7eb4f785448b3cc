/** `hermes batch`. The runner loads with its first use. */
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { batchOptions } from "../../batch/batch-options.ts";
import type { CommandIo } from "../../batch/run-batch.ts";
import { EXIT, subcommand } from "../subcommand.ts";

/** Output of a run to this terminal. */
export const batchIo = (): CommandIo => ({
  environment: takeEnvironment(),
  say: (text) => void process.stdout.write(text),
  report: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
});

export const command = subcommand({
  verbs: {
    run: { summary: "run an agent for each task of a data set, and store the conversations" },
    compress: { summary: "shorten trajectories to a number of tokens, with summaries of the model" },
    status: { summary: "show the state of a run", operands: "RUN", needs: "the name of a run" },
  },
  options: batchOptions,
  examples: [
    ["batch --dataset_file tasks.jsonl --batch_size 50 --run_name r1 --num_workers 8", "run 8 tasks at a time"],
    ["batch --dataset_file tasks.jsonl --batch_size 50 --run_name r1 --resume", "go on after a kill"],
    ["batch status r1", "show how far it is"],
  ],
  async run({ verb, operands: [name = ""], values }) {
    const io = batchIo();
    if (verb === "status") {
      const { showStatus } = await import("../../batch/run-batch.ts");
      return showStatus(name, { out: values.out, isJson: values.json, say: io.say });
    }
    if (values["list-distributions"]) {
      const { distributionLines } = await import("../../batch/distributions.ts");
      io.say(distributionLines());
      return EXIT.done;
    }
    if (verb === "compress") return (await import("../../batch/trajectories/compress.ts")).runCompress(values, io);
    return (await import("../../batch/run-batch.ts")).runBatch(values, io);
  },
});
