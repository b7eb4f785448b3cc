/** An edit in a tool card: counts, and the changed lines in colour. */
import { useMemo, useState } from "preact/hooks";
import { diffSummary } from "../diff/diff-lines.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

const SHOWN_LINES = 60;

export type DiffViewProps = {
  /** Remembered under this name: whether all lines are shown. */
  readonly id: string;
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
};

export function DiffView({ id, path, oldText, newText }: DiffViewProps) {
  const { memory, post } = usePanel();
  const [all, showAll] = useState(memory.isOpen(id, false));
  const summary = useMemo(() => diffSummary(oldText ?? "", newText), [oldText, newText]);
  const lines = summary?.lines ?? [];
  const shown = all ? lines : lines.slice(0, SHOWN_LINES);
  const showRest = (): void => {
    memory.setOpen(id, true);
    showAll(true);
  };
  const name = path.split(/[\\/]/).at(-1);
  return (
    <div class="diff">
      <button
        type="button"
        class="diff-head"
        title={`${path}: open the diff`}
        onClick={() => post({ type: "open-review", path })}
      >
        <Icon name={oldText === null ? "new-file" : "diff"} />
        <span class="diff-name">{name}</span>
        {summary && (
          <>
            <span class="count-added">+{summary.added}</span>
            <span class="count-removed">−{summary.removed}</span>
          </>
        )}
      </button>
      <div class="diff-lines" dir="ltr">
        {summary === undefined && <div class="diff-line">Too large to show here; open the diff.</div>}
        {shown.map((line, index) => (
          // Lines of a finished diff never move.
          <div key={index} class={`diff-line diff-${line.type}`}>
            <span class="diff-number">{line.type === "gap" ? "⋯" : line.number}</span>
            <span class="diff-text">{line.text}</span>
          </div>
        ))}
      </div>
      {shown.length < lines.length && (
        <button type="button" class="text-button" onClick={showRest}>
          Show {lines.length - shown.length} more lines
        </button>
      )}
    </div>
  );
}
