/** All commands of the extension, by id. */
import type { CommandTable } from "./command.ts";
import { modelCommands } from "./model-commands.ts";
import { reviewCommands } from "./review-commands.ts";
import { sessionCommands } from "./session-commands.ts";

export const commands: CommandTable = {
  ...sessionCommands,
  ...modelCommands,
  ...reviewCommands,
  "hermes.restartAgent": ({ worker }) => worker.restart(),
  "hermes.showLog": ({ log }) => log.show(true),
};
