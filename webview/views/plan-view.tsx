/** The plan as a check list, one line while folded. */
import type { PlanEntry } from "@zed-industries/agent-client-protocol";
import { Fold } from "./fold.tsx";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

const icons = {
  pending: "circle-large-outline",
  in_progress: "circle-large-filled",
  completed: "pass-filled",
} as const;

export function PlanView() {
  const { store } = usePanel();
  const { plan } = store.shown.value;
  if (plan.length === 0) return null;
  const done = plan.filter(({ status }) => status === "completed").length;
  const current = plan.find(({ status }) => status === "in_progress");
  const summary = (
    <>
      <Icon name={done === plan.length ? "pass-filled" : "checklist"} />
      <span class="tool-title">
        {done} of {plan.length} {current ? `· ${current.content}` : "done"}
      </span>
    </>
  );
  return (
    <section class="plan" aria-label="Plan">
      <Fold id="plan" openByDefault={false} summary={summary}>
        <ol class="plan-list">
          {plan.map((entry, index) => (
            <PlanLine key={index} entry={entry} />
          ))}
        </ol>
      </Fold>
    </section>
  );
}

function PlanLine({ entry: { content, status } }: { readonly entry: PlanEntry }) {
  return (
    <li class={`plan-${status}`} data-plan-status={status}>
      <Icon name={icons[status]} /> <span dir="auto">{content}</span>
      <span class="visually-hidden">{status.replace("_", " ")}</span>
    </li>
  );
}
