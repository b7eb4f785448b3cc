/** `hermes model`: the slash command `/model`. */
import { UsageError } from "../../agent-core/platform/errors.ts";
import { CWD, subcommand } from "../subcommand.ts";

const USE_MODEL = 'hermes model lists the models, and hermes --model NAME "prompt" uses one.';

export const command = subcommand({
  operands: "[list]",
  options: { cwd: CWD },
  examples: [["model", "list the models of the configured providers"]],
  async run({ operands: [word = "list"], values: { cwd } }) {
    if (word !== "list") throw new UsageError(`${USE_MODEL} A prompt: hermes -- model ${word}`);
    return { slash: "/model", cwd };
  },
});
