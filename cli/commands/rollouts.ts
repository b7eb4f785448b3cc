/** `hermes rollouts`. The code loads with its first use. */
import { rolloutOptions } from "../../batch/rollouts/rollout-options.ts";
import { subcommand } from "../subcommand.ts";
import { batchIo } from "./batch.ts";

export const command = subcommand({
  verbs: {
    run: { summary: "run groups of conversations, and store them with their rewards" },
    serve: { summary: "give groups to a trainer over the Atropos API" },
    evaluate: { summary: "run one conversation for each item, and print the mean reward" },
  },
  options: rolloutOptions,
  examples: [
    ["rollouts run --env fix-test.mjs --group-size 4 --count 10", "store groups of four conversations"],
    ["rollouts serve --env fix-test.mjs --atropos http://127.0.0.1:8000", "work for a trainer"],
  ],
  async run({ verb, values }) {
    const { runRollouts } = await import("../../batch/rollouts/run-rollouts.ts");
    return runRollouts(verb, values, batchIo());
  },
});
