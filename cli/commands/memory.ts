/** `hermes memory`: the slash command `/memory`. */
import { CWD, subcommand } from "../subcommand.ts";

export const command = subcommand({
  verbs: { list: { summary: "show what is noted" } },
  options: { cwd: CWD },
  examples: [["memory", "show the notes about you and the environment"]],
  async run({ values: { cwd } }) {
    const { runSlashCommand } = await import("../chat/one-shot.ts");
    return runSlashCommand("/memory", { cwd });
  },
});
