/** `hermes memory`: the slash command `/memory`. */
import { CWD, subcommand } from "../subcommand.ts";

export const command = subcommand({
  verbs: { list: { summary: "show what is noted" } },
  options: { cwd: CWD },
  examples: [["memory", "show the notes about you and the environment"]],
  run: async ({ values: { cwd } }) => ({ slash: "/memory", cwd }),
});
