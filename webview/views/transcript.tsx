/** The conversation, newest at the end; it follows what grows unless the user reads further up. */
import { memo } from "preact/compat";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entry, TextEntry } from "../state/state.ts";
import { isBlank } from "../state/streamed-text.ts";
import { visibleEntries } from "../state/summaries.ts";
import { Fold } from "./fold.tsx";
import { Icon } from "./icon.tsx";
import { MarkdownView } from "./markdown-view.tsx";
import { usePanel } from "./panel-context.ts";
import { RestoreLine } from "./restore-line.tsx";
import { SummaryLine } from "./summary-line.tsx";
import { ToolCard } from "./tool-card.tsx";
import { UserMessage } from "./user-message/user-message.tsx";
import { formatDuration } from "./words.ts";

/** Nearer to the end than this counts as being there. Pixels. */
const END_SLACK_PX = 40;

export function Transcript() {
  const { store } = usePanel();
  const { entries, open, running, agentName, permissions, questions } = store.shown.value;
  const scroller = useRef<HTMLDivElement>(null);
  const following = useRef(true as boolean);
  const [away, setAway] = useState(false);
  const toEnd = (): void => {
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  };
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (content.current === null || scroller.current === null) return;
    // Heights change after a drawing too: blocks come into view, code is coloured, a card is opened.
    const observer = new ResizeObserver(() => following.current && toEnd());
    observer.observe(content.current);
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);
  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    following.current = element.scrollHeight - element.scrollTop - element.clientHeight < END_SLACK_PX;
    setAway(!following.current);
  };
  const waits = permissions.length > 0 || questions.length > 0;
  const last = entries.at(-1);
  const busyCard = last?.type === "tool" && (last.status === "in_progress" || last.status === "pending");
  return (
    <div class="transcript-frame">
      <div
        class="transcript"
        role="log"
        aria-live="off"
        aria-label={`Conversation with ${agentName}`}
        ref={scroller}
        onScroll={onScroll}
      >
        <div ref={content}>
          {visibleEntries(store.shown.value).map((entry) => (
            <EntryView key={entry.key} entry={entry} />
          ))}
          {open && <EntryView key={open.key} entry={open} />}
          {running && !open && !waits && !busyCard && (
            <div class="working">
              <Icon name="loading" spin /> Working…
            </div>
          )}
        </div>
      </div>
      {away && (
        <button type="button" class="jump" title="Jump to the latest" aria-label="Jump to the latest" onClick={toEnd}>
          <Icon name="arrow-down" />
        </button>
      )}
    </div>
  );
}

const EntryView = memo(function EntryView({ entry }: { readonly entry: Entry }) {
  switch (entry.type) {
    case "user":
      return <UserMessage entry={entry} />;
    case "answer":
      return isBlank(entry.text) ? null : (
        <div class="entry answer">
          <MarkdownView text={entry.text} growing={entry.growing} />
        </div>
      );
    case "thought":
      return <Thought entry={entry} />;
    case "tool":
      // Keeping the plan is shown by the plan itself.
      return entry.kind === "think" && entry.status !== "failed" ? null : (
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
  const time = entry.durationMs === undefined ? "Thoughts" : `Thought for ${formatDuration(entry.durationMs)}`;
  const summary = (
    <>
      <Icon name="lightbulb" />
      <span class="tool-title">{entry.growing ? "Thinking…" : time}</span>
    </>
  );
  return (
    <div class="entry">
      <Fold id={`thought:${entry.key}`} openByDefault={entry.growing} summary={summary} class="thought">
        <MarkdownView text={entry.text} growing={entry.growing} />
      </Fold>
    </div>
  );
}
