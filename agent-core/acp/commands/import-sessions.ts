import { messageOf } from "../../platform/errors.ts";
import { absolutePath } from "../../tools/resolve-path.ts";
import type { Command } from "./command.ts";

/** The word by which what was deleted here is brought over all the same. */
const AGAIN = /^--again(?:\s+|$)/;

export const command: Command = {
  name: "import",
  description: "Bring the sessions of an original Hermes home over",
  hint: "path of state.db or its folder; default: Hermes' home; --again: also what was deleted here",
  async run(argument, { cwd, importSessions, signal }) {
    const again = AGAIN.test(argument);
    const path = argument.replace(AGAIN, "");
    try {
      const request = { again, ...(path !== "" && { path: absolutePath(path, cwd) }) };
      const { summary, deleted } = await importSessions(request, signal);
      return deleted === 0 ? summary : `${summary}\n\n\`/import --again\` brings what was deleted over all the same.`;
    } catch (error) {
      return `Nothing was imported: ${messageOf(error)}`;
    }
  },
};
