/** Says that the agent is at work where nothing else does. */
import { useLayoutEffect } from "preact/hooks";
import type { PanelState } from "../../state/state.ts";
import { Icon } from "../icon.tsx";

export function Working({ state, onChange }: { readonly state: PanelState; readonly onChange: () => void }) {
  const { running, open, permissions, questions, entries } = state;
  const last = entries.at(-1);
  const busyCard = last?.type === "tool" && (last.status === "in_progress" || last.status === "pending");
  const isShown = running && !open && permissions.length === 0 && questions.length === 0 && !busyCard;
  useLayoutEffect(onChange, [isShown]);
  if (!isShown) return null;
  return (
    <div class="working">
      <Icon name="loading" spin /> Working…
    </div>
  );
}
