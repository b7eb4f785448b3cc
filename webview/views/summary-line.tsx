/** Older messages that the model gets a summary of: one line, which opens to the summary and the messages themselves. */
import { useMemo } from "preact/hooks";
import type { SummaryEntry } from "../state/state.ts";
import { appendText, emptyText } from "../state/streamed-text.ts";
import { Icon } from "./icon.tsx";
import { MarkdownView } from "./markdown-view.tsx";
import { usePanel } from "./panel-context.ts";
import { formatCount } from "./words.ts";

export function SummaryLine({ entry }: { readonly entry: SummaryEntry }) {
  const { store } = usePanel();
  const { key, messages, tokensBefore, tokensAfter, summary } = entry;
  const isOpen = useMemo(() => store.select(({ openSummaries }) => openSummaries.includes(key)), [store, key]);
  const text = useMemo(() => appendText(emptyText, summary), [summary]);
  return (
    <div class="entry summary">
      <button
        type="button"
        class="fold-summary"
        aria-expanded={isOpen.value}
        title="The agent goes on with a summary of these messages; they stay here."
        onClick={() => store.apply([{ kind: "toggle-summary", key }])}
      >
        <Icon name="fold" />
        <span class="tool-title">
          {messages} {messages === 1 ? "message" : "messages"} summarised
        </span>
        <Icon name={isOpen.value ? "chevron-down" : "chevron-right"} />
      </button>
      {isOpen.value && (
        <div class="summary-text">
          <p class="summary-tokens">
            {formatCount(tokensBefore)} → {formatCount(tokensAfter)} tokens
          </p>
          {summary !== "" && <MarkdownView text={text} growing={false} />}
        </div>
      )}
    </div>
  );
}
