/** `hermes hooks`: the slash command `/hooks`. */
import { CWD, subcommand } from "../subcommand.ts";

const operands = "NUMBER…";
const needs = "a number, or all; hermes hooks list shows the numbers";

export const command = subcommand({
  verbs: {
    list: { summary: "list the hooks" },
    allow: { summary: "allow hooks", operands, needs },
    enable: { summary: "switch hooks on", operands, needs },
    disable: { summary: "switch hooks off", operands, needs },
  },
  options: { cwd: CWD },
  examples: [
    ["hooks", "list the hooks of this folder and of the Hermes home"],
    ["hooks allow 1 3", "allow the first and the third"],
  ],
  run: async ({ verb, operands: numbers, values: { cwd } }) => ({
    slash: ["/hooks", verb, ...numbers].join(" "),
    cwd,
  }),
});
