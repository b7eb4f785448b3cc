import { modeIds, modeOf } from "../modes.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  name: "mode",
  description: "Show or set what asks for approval",
  hint: "ask | code | plan | auto",
  run(argument, session) {
    if (argument === "") return `Mode: \`${session.mode}\`. There are: ${modeIds()}.`;
    const mode = modeOf(argument);
    if (mode === undefined) return `There is no mode \`${argument}\`. There are: ${modeIds()}.`;
    session.setMode(mode);
    return `Mode: \`${mode}\`.`;
  },
};
