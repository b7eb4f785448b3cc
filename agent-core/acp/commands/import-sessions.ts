import { absolutePath } from "../../tools/resolve-path.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  name: "import",
  description: "Bring the sessions of an original Hermes home over",
  hint: "path of state.db or its folder; default: Hermes' home",
  async run(argument, { cwd, importSessions, signal }) {
    try {
      return (await importSessions(argument === "" ? undefined : absolutePath(argument, cwd), signal)).summary;
    } catch (error) {
      return `Nothing was imported: ${error instanceof Error ? error.message : String(error)}`;
    }
  },
};
