/** Diff of an edit: counts, and the changed lines with some context. */
import { structuredPatch } from "diff";
import { useMemo } from "preact/hooks";
import { t } from "../texts.ts";
import { useOpen } from "./fold.tsx";
import { Button, Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

/** Lines that are shown before the user asks for the rest. */
const SHOWN_LINES = 60;
const CONTEXT_LINES = 2;
/** Limit for the comparison of large, different texts: about 300 ms. */
const MAX_CHANGED_LINES = 1_500;

export type DiffViewProps = {
  /** Name of the panel's memory for `all lines are shown`. */
  readonly id: string;
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
};

export function DiffView({ id, path, oldText, newText }: DiffViewProps) {
  const { post } = usePanel();
  const [all, showAll] = useOpen(id, false);
  const summary = useMemo(() => diffSummary(oldText ?? "", newText), [oldText, newText]);
  const lines = summary?.lines ?? [];
  const shown = all ? lines : lines.slice(0, SHOWN_LINES);
  const name = path.split(/[\\/]/).at(-1);
  return (
    <div class="diff">
      <button
        type="button"
        class="diff-head"
        title={t("{0}: open the diff", path)}
        onClick={() => post({ type: "open-review", path, before: oldText ?? "" })}
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
        {summary === undefined && (
          <div class="diff-line">{t("The change is too large to show here. Open the diff.")}</div>
        )}
        {shown.map((line, index) => (
          <div key={index} class={`diff-line diff-${line.type}`}>
            <span class="diff-number">{line.type === "gap" ? "⋯" : line.number}</span>
            <span class="diff-text">{line.text}</span>
          </div>
        ))}
      </div>
      {shown.length < lines.length && (
        <Button data-hides onClick={() => showAll(true)}>
          {t("Show {0} More Lines", lines.length - shown.length)}
        </Button>
      )}
    </div>
  );
}

export type DiffLine = {
  readonly type: "added" | "removed" | "context" | "gap";
  readonly text: string;
  /** From 1, in the new text; in the old text for removed lines; undefined for a gap. */
  readonly number: number | undefined;
};

export type DiffSummary = { readonly lines: readonly DiffLine[]; readonly added: number; readonly removed: number };

/** Undefined when the texts differ too much. */
export function diffSummary(oldText: string, newText: string): DiffSummary | undefined {
  const patch = structuredPatch("", "", oldText, newText, "", "", {
    context: CONTEXT_LINES,
    maxEditLength: MAX_CHANGED_LINES,
  });
  if (patch === undefined) return undefined;
  const lines = patch.hunks.flatMap((hunk, index): DiffLine[] => {
    const shown = hunkLines(hunk);
    return index === 0 ? shown : [{ type: "gap", text: "", number: undefined }, ...shown];
  });
  return {
    lines,
    added: lines.filter(({ type }) => type === "added").length,
    removed: lines.filter(({ type }) => type === "removed").length,
  };
}

type Hunk = { readonly oldStart: number; readonly newStart: number; readonly lines: readonly string[] };

function hunkLines({ oldStart, newStart, lines }: Hunk): DiffLine[] {
  let [oldLine, newLine] = [oldStart, newStart];
  return lines.flatMap((line): DiffLine[] => {
    const text = line.slice(1).replace(/\r$/, "");
    switch (line[0]) {
      case "+":
        return [{ type: "added", text, number: newLine++ }];
      case "-":
        return [{ type: "removed", text, number: oldLine++ }];
      case " ":
        oldLine += 1;
        return [{ type: "context", text, number: newLine++ }];
      default:
        return []; // "\ No newline at end of file"
    }
  });
}
