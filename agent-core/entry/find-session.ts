/** Which session `--resume` means, asked of the agent as any client can. */
import { type ClientContext, methods } from "@zed-industries/agent-client-protocol";
import { call } from "../protocol/method.ts";
import { sessionMethods } from "../protocol/sessions.ts";
import { stillBuilding } from "../sessions/index/session-index.ts";
import { isSessionId } from "../sessions/session-files.ts";

/** Sessions that are named where several are meant. */
const NAMED = 15;

/**
 * `wanted`: an id, `last` for the one of this folder that was used last, or words of a title. Rejects with an Error that
 * says what there is instead when it is none, or one of several.
 */
export async function findSession(agent: ClientContext, wanted: string, cwd: string): Promise<string> {
  if (isSessionId(wanted)) return wanted;
  if (wanted === "last") {
    const { sessions } = await agent.request(methods.agent.session.list, { cwd });
    const [last] = sessions;
    if (last === undefined) throw new Error(`There is no earlier session of ${cwd}.`);
    return last.sessionId;
  }
  const { titled, building } = await titledWith(agent, wanted);
  const exact = titled.filter(({ title }) => title?.toLowerCase() === wanted.toLowerCase());
  const [found, other] = exact.length === 1 ? exact : titled;
  if (found === undefined) {
    const note = building === undefined ? "" : ` ${stillBuilding(building)}`;
    throw new Error(`There is no session with “${wanted}” in its title.${note}`);
  }
  if (other === undefined) return found.sessionId;
  const lines = titled.map(({ sessionId, title, cwd: where }) => `  ${sessionId}  ${title ?? "Untitled"} (${where})`);
  throw new Error(`Several sessions have “${wanted}” in their titles:\n${lines.join("\n")}`);
}

/** Those that were only found by what was said in them have a position there. */
async function titledWith(agent: ClientContext, query: string) {
  if (query.trim() === "") return { titled: [], building: undefined };
  const { hits, building } = await call(agent, sessionMethods.search, { query, limit: NAMED });
  return { titled: hits.filter(({ position }) => position === undefined), building };
}
