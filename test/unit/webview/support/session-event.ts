import type { PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";

/** The event with which a panel begins to show a session. */
export function sessionEvent(sessionId: string): Extract<PanelEvent, { kind: "session" }> {
  return { kind: "session", sessionId, agentName: "Hermes", configOptions: [], commands: [] };
}
