/** `hermes tools`: the slash command `/tools`. */
import { CWD, subcommand } from "../subcommand.ts";

export const command = subcommand({
  verbs: { list: { summary: "list the tools of a session" } },
  options: { cwd: CWD },
  examples: [["tools", "list the tools of a session in this folder"]],
  run: async ({ values: { cwd } }) => ({ slash: "/tools", cwd }),
});
