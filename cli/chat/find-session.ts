/** Search for the stored session that a user names. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { type ClientContext, methods } from "@zed-industries/agent-client-protocol";
import { pathBelow } from "../../agent-core/platform/paths.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import { stillBuilding } from "../../agent-core/sessions/index/session-index.ts";
import { isSessionId } from "../../agent-core/sessions/session-files.ts";

/** Listed sessions when several match. */
const MAX_MATCHES = 15;

/**
 * The session that `--resume` and others name. `wanted`: an id, `last` for the latest session of this folder, or words of a title.
 * Rejects with an Error that lists the matches when there is not exactly one.
 */
export async function findSession(agent: ClientContext, wanted: string, cwd: string): Promise<string> {
  if (isSessionId(wanted)) return wanted;
  if (wanted === "last") {
    const { sessions } = await agent.request(methods.agent.session.list, { cwd });
    const [last] = sessions;
    return last?.sessionId ?? movedSession(agent, cwd);
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

/** The latest session of a folder that is gone and had the same name: the project has moved. */
async function movedSession(agent: ClientContext, cwd: string): Promise<string> {
  const { sessions } = await agent.request(methods.agent.session.list, {});
  const gone = sessions.filter((session) => !existsSync(session.cwd));
  const moved = gone.find((session) => basename(session.cwd) === basename(cwd));
  if (moved !== undefined) return moved.sessionId;
  // The user may be in a part of the project, or have renamed it.
  const around = sessions.find((session) => pathBelow(session.cwd, cwd) ?? pathBelow(cwd, session.cwd));
  const last = around ?? gone[0] ?? sessions[0];
  const advice = last ? ` The last one of ${last.cwd}: hermes --resume ${last.sessionId}.` : "";
  throw new Error(`There is no earlier session in ${cwd}.${advice}`);
}

/** Only a hit in a message has a position. */
async function titledWith(agent: ClientContext, query: string) {
  if (query.trim() === "") return { titled: [], building: undefined };
  const { hits, building } = await call(agent, sessionMethods.search, { query, limit: MAX_MATCHES });
  return { titled: hits.filter(({ position }) => position === undefined), building };
}
