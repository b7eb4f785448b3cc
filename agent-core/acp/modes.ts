/** The modes of a session, as ACP's `modes` and as the config option that newer editors show. */
import type { SessionConfigOption, SessionMode, SessionModeState } from "@zed-industries/agent-client-protocol";
import type { ApprovalMode } from "../approval/policy.ts";

export const DEFAULT_MODE: ApprovalMode = "code";

const MODES: readonly (SessionMode & { readonly id: ApprovalMode })[] = [
  { id: "ask", name: "Ask", description: "Asks before every edit and every command that does more than read" },
  { id: "code", name: "Code", description: "Edits land for review; risky commands ask" },
  { id: "plan", name: "Plan", description: "Reads only, and ends in a plan to approve" },
  { id: "auto", name: "Auto", description: "Nothing asks but protected files; dangerous commands stay blocked" },
];

/** The mode with this id; undefined when there is none. */
export function modeOf(id: string): ApprovalMode | undefined {
  return MODES.find((mode) => mode.id === id)?.id;
}

/** Ids for an error message. */
export function modeIds(): string {
  return MODES.map((mode) => mode.id).join(", ");
}

export function modeState(current: ApprovalMode): SessionModeState {
  return { currentModeId: current, availableModes: [...MODES] };
}

export function modeOption(current: ApprovalMode): SessionConfigOption {
  return {
    type: "select",
    id: "mode",
    name: "Mode",
    description: "What asks for approval",
    category: "mode",
    currentValue: current,
    options: MODES.map(({ id, name, description }) => ({ value: id, name, description: description ?? null })),
  };
}
