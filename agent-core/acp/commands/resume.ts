import type { SessionSummary } from "../../sessions/index/queries.ts";
import { replay } from "../replay.ts";
import type { Command } from "./command.ts";

const LISTED = 15;
const SESSION_ID = /^\d{8}_\d{6}_[0-9a-f]{8}$/;

export const command: Command = {
  name: "resume",
  description: "Go on with an earlier conversation here",
  hint: "last | id | words of its title",
  async run(argument, { agent, cwd, id, index, readStored, send }) {
    const found = await index.ask((view): readonly SessionSummary[] => {
      const recent = view.list({ limit: LISTED, cwd, except: id });
      if (argument === "") return recent;
      if (argument === "last") return recent.slice(0, 1);
      if (SESSION_ID.test(argument)) return [view.find(argument)].filter((session) => session !== undefined);
      return view.titled(argument, undefined, LISTED).filter((session) => session.id !== id);
    });
    const [session] = found;
    if (session === undefined)
      return argument === "" ? "There is no earlier session of this folder." : "There is no such session.";
    if (argument === "" || found.length > 1) return list(found);
    const stored = await readStored(session.id);
    agent.replaceHistory(stored.conversation.messages);
    for (const update of replay(stored)) send(update);
    return `\n\nGoes on with “${session.title ?? session.id}”, which itself stays as it is.`;
  },
};

function list(sessions: readonly SessionSummary[]): string {
  const lines = sessions.map(({ id, title, updatedAt }) => {
    const day = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
    return `- ${title ?? "Untitled"} (${day}): \`/resume ${id}\``;
  });
  return ["Earlier sessions:", "", ...lines].join("\n");
}
