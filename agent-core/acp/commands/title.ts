import { titleLine } from "../../sessions/titles.ts";
import type { Command } from "./command.ts";

const MAX_TITLE_CHARS = 200;

export const command: Command = {
  name: "title",
  description: "Show or set the title of this session",
  hint: "new title",
  run(argument, { agent }) {
    if (argument === "") return agent.title === undefined ? "This session has no title yet." : `Title: ${agent.title}`;
    const title = titleLine(argument.slice(0, MAX_TITLE_CHARS));
    if (title === "") return "This title has nothing that can be seen.";
    agent.setTitle(title);
    return `Title: ${title}`;
  },
};
