/** What an edit has broken: a line each, which opens the place. */
import type { ShownProblem } from "../state/problems-in.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export function ProblemList({ problems }: { readonly problems: readonly ShownProblem[] }) {
  const { post } = usePanel();
  const title = problems.length === 1 ? "1 new problem" : `${problems.length} new problems`;
  return (
    <section class="problems" aria-label={title}>
      <div class="problems-title">{title}</div>
      {problems.map(({ path, line, severity, text }, index) => (
        <button
          key={index}
          type="button"
          class="problem"
          title={text}
          onClick={() => post({ type: "open-location", path, line })}
        >
          <Icon name={severity} />
          <span class="problem-text">{text}</span>
        </button>
      ))}
    </section>
  );
}
