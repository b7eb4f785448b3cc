import { counted, fileLines, quoted } from "../restore-words.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  name: "undo",
  description: "Take back your last message with all that followed: conversation and files",
  async run(_argument, { restores, cwd, signal }) {
    const last = restores.points().at(-1);
    if (last === undefined) return "There is nothing to take back: nothing has been said yet.";
    const { messages } = await restores.preview(last.position, false, signal);
    const { files, restoreId } = await restores.restore(last.position, { files: true, conversation: true }, signal);
    const lines = fileLines(files, cwd);
    return [
      `Took back ${quoted(last.prompt)} and what followed: ${counted(messages, "message")}.`,
      "",
      ...(lines.length === 0 ? ["No files were changed by it."] : lines),
      ...(restoreId === undefined ? [] : ["", "`/checkpoint undo` undoes what was done to the files."]),
    ].join("\n");
  },
};
