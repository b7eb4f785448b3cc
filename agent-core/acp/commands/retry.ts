import type { Command } from "./command.ts";

export const command: Command = {
  name: "retry",
  description: "Take the last answer back and ask again",
  run(_argument, { agent, restores }) {
    const last = restores.points().at(-1);
    const said = agent.said.find(({ position }) => position === last?.position)?.message;
    if (last === undefined || said?.role !== "user") return "There is nothing to ask again: nothing has been said yet.";
    restores.takeBack(last.position);
    return { ask: said.content };
  },
};
