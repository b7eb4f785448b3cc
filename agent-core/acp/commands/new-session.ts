import type { Command } from "./command.ts";

export const command: Command = {
  name: "new",
  description: "Begin anew: the model forgets this conversation; its journal keeps it",
  run(_argument, { agent, restores }) {
    const [first] = restores.points();
    if (first === undefined) return "This session is new: nothing has been said yet.";
    restores.takeBack(agent.said[0]?.position ?? first.position);
    return "A new conversation begins here. Files stay as they are.";
  },
};
