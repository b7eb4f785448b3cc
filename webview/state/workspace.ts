/** Facts of the workspace and the page shown: both outlive a change of session. */
import type { WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
import type { HermesProcess } from "../../agent-core/protocol/processes.ts";
import { announce, type PanelState, type Route } from "./state.ts";
import { type StreamedText, textFrom } from "./streamed-text.ts";

/** Length of the tail that is searched for the last line. Characters. */
const TAIL_CHARS = 2_000;

/** Takes over the facts and announces changes that need the user's attention. */
export function updateFacts(state: PanelState, { facts }: { readonly facts: WorkspaceFacts }): PanelState {
  const before = state.facts;
  const route = facts.setup === null ? { ...state.route, setup: false } : state.route;
  const next: PanelState = { ...state, facts, route };
  const news = [
    ...(facts.agent.state === before.agent.state ? [] : agentNews(facts.agent)),
    ...processNews(processesOf(state), processesOf(next)),
  ];
  return news.length === 0 ? next : announce(next, news.join(". "));
}

export function changeRoute(state: PanelState, { route }: { readonly route: Partial<Route> }): PanelState {
  const next: PanelState = { ...state, route: { ...state.route, ...route } };
  return route.setup === true ? announce(next, "Choose which model answers") : next;
}

/** Background processes of the session shown. */
export function processesOf({ facts, sessionId }: PanelState): readonly HermesProcess[] {
  return facts.processes.find((entry) => entry.sessionId === sessionId)?.processes ?? NONE;
}

/** The last line of `text` that is not blank, escape sequences included. */
export function lastLine(text: StreamedText): string {
  const lines = textFrom(text, text.length - TAIL_CHARS).split("\n");
  return lines.findLast((line) => line.trim() !== "") ?? "";
}

const NONE: readonly HermesProcess[] = [];

function agentNews({ state, message }: WorkspaceFacts["agent"]): readonly string[] {
  if (state === "failed") return [message ?? "The agent has stopped"];
  return state === "restarting" ? ["The agent is restarting"] : [];
}

function processNews(before: readonly HermesProcess[], now: readonly HermesProcess[]): readonly string[] {
  const known = new Map(before.map(({ id, state }) => [id, state]));
  return now.flatMap(({ id, command, state, note }) => {
    if (known.get(id) === state) return [];
    if (state === "waits-for-input") return [`${command} waits for input`];
    return state === "ended" ? [`${command} has ended: ${note ?? ""}`] : [];
  });
}
