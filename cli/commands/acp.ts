/** `hermes acp`: what `hermes-acp` does, under the name that other tools know. */
import { subcommand } from "../subcommand.ts";

export const command = subcommand({
  options: {
    check: { kind: "flag", summary: "print the model in use and whether it answers; exit 0 or 1" },
    setup: { kind: "flag", summary: "choose provider, key and model, test them, and save them" },
  },
  examples: [["acp", "serve an editor over standard input and output, as hermes-acp does"]],
  withoutHome: true,
  async run({ values: { check, setup } }) {
    const { runStdio } = await import("../../agent-core/entry/stdio.ts");
    if (setup) return runStdio(["--setup"]);
    return runStdio(check ? ["--check"] : []);
  },
});
