/** One entry of the conversation, by its kind. */
import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import type { Entry, TextEntry } from "../../state/state.ts";
import { placeOfThought } from "../../state/thought-place.ts";
import { Fold } from "../fold.tsx";
import { Icon } from "../icon.tsx";
import { MarkdownView } from "../markdown-view.tsx";
import { usePanel } from "../panel-context.ts";
import { RestoreLine } from "../restore-line.tsx";
import { SummaryLine } from "../summary-line.tsx";
import { ToolCard } from "../tool-card.tsx";
import { UserMessage } from "../user-message/user-message.tsx";
import { formatDuration } from "../words.ts";

export const EntryView = memo(function EntryView({ entry }: { readonly entry: Entry }) {
  switch (entry.type) {
    case "user":
      return <UserMessage entry={entry} />;
    case "answer":
      return (
        <div class="entry answer">
          <MarkdownView text={entry.text} growing={entry.growing} />
        </div>
      );
    case "thought":
      return <Thought entry={entry} />;
    case "tool":
      return (
        <div class="entry">
          <ToolCard entry={entry} />
        </div>
      );
    case "notice":
      return (
        <div class={`entry notice notice-${entry.severity}`}>
          <Icon name={entry.severity} /> <span dir="auto">{entry.text}</span>
        </div>
      );
    case "restored":
      return <RestoreLine entry={entry} />;
    case "summary":
      return <SummaryLine entry={entry} />;
    case "turn-end":
      return (
        <div class={`entry turn-end turn-end-${entry.tone}`} role={entry.tone === "error" ? "alert" : undefined}>
          {entry.tone === "error" && <Icon name="error" />} <span dir="auto">{entry.text}</span>
        </div>
      );
  }
});

function Thought({ entry }: { readonly entry: TextEntry }) {
  const panel = usePanel();
  const { store } = panel;
  const fold = useMemo(() => {
    const { sessionId, entries } = store.shown.peek();
    const place = placeOfThought(entries, entry.key);
    // Where nobody knows the place, the fold is remembered as long as the key means this thought.
    return `thought:${sessionId ?? ""}:${place ?? `${panel.epoch}.${entry.key}`}`;
  }, [store, entry.key]);
  const time = entry.durationMs === undefined ? "Thoughts" : `Thought for ${formatDuration(entry.durationMs)}`;
  const summary = (
    <>
      <Icon name="lightbulb" />
      <span class="tool-title">{entry.growing ? "Thinking…" : time}</span>
    </>
  );
  return (
    <div class="entry">
      <Fold id={fold} openByDefault={entry.growing} summary={summary} class="thought">
        <MarkdownView text={entry.text} growing={entry.growing} />
      </Fold>
    </div>
  );
}
