import type { SessionSummary } from "../../sessions/index/queries.ts";
import type { Building } from "../../sessions/index/questions.ts";
import { type SessionIndex, stillBuilding } from "../../sessions/index/session-index.ts";
import { replay } from "../replay.ts";
import type { Command, CommandSession } from "./command.ts";

type Found = { readonly sessions: readonly SessionSummary[]; readonly building: Building | undefined };

const LISTED = 15;
const SESSION_ID = /^\d{8}_\d{6}_[0-9a-f]{8}$/;

export const command: Command = {
  name: "resume",
  description: "Go on with an earlier conversation here",
  hint: "last | id | words of its title",
  async run(argument, { agent, cwd, id, index, readStored, send }) {
    const { sessions: found, building } = await find(argument, index, { id, cwd });
    const note = building === undefined ? "" : `\n\n${stillBuilding(building)}`;
    const [session] = found;
    if (session === undefined) {
      return `${argument === "" ? "There is no earlier session of this folder." : "There is no such session."}${note}`;
    }
    if (argument === "" || found.length > 1) return list(found) + note;
    if (session.id === id) return "This is that session.";
    const stored = await readStored(session.id);
    agent.adopt(stored);
    for (const update of replay(stored)) send(update);
    return `\n\nGoes on with “${session.title ?? session.id}”, which itself stays as it is.`;
  },
};

async function find(
  argument: string,
  index: SessionIndex,
  { id, cwd }: Pick<CommandSession, "id" | "cwd">,
): Promise<Found> {
  if (argument === "" || argument === "last") {
    const limit = argument === "" ? LISTED : 1;
    const { value, building } = await index.ask("list", { limit, cwd, except: id });
    return { sessions: value, building };
  }
  if (SESSION_ID.test(argument)) {
    const { value, building } = await index.ask("find", argument);
    return { sessions: value === undefined ? [] : [value], building };
  }
  const { value, building } = await index.ask("titled", argument, { cwd: undefined, limit: LISTED });
  return { sessions: value.filter((session) => session.id !== id), building };
}

function list(sessions: readonly SessionSummary[]): string {
  const lines = sessions.map(({ id, title, updatedAt }) => {
    const day = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
    return `- ${title ?? "Untitled"} (${day}): \`/resume ${id}\``;
  });
  return ["Earlier sessions:", "", ...lines].join("\n");
}
