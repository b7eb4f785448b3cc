/** `hermes setup`: the first set-up of a model, in questions. */
import { setUp } from "../../agent-core/entry/setup.ts";
import { terminalDialog } from "../../agent-core/entry/terminal-dialog.ts";
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { subcommand } from "../subcommand.ts";

export const command = subcommand({
  examples: [["setup", "choose a provider, sign in or enter a key, and choose a model"]],
  run: () => setUp(takeEnvironment(), terminalDialog(process.stdin, process.stdout)),
});
