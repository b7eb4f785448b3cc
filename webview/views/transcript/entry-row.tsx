/** Row of an entry: its number for screen readers, the keyboard focus, and the view of its kind. */
import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import { visibleText } from "../../../agent-core/platform/visible-text.ts";
import { MarkdownView } from "../../markdown/markdown-view.tsx";
import type { Entry, GroupEntry, NoticeEntry, SummaryEntry, TextEntry } from "../../state/state.ts";
import { appendText, emptyText } from "../../state/streamed-text.ts";
import { thoughtId } from "../../state/summaries.ts";
import { formatNumber, t } from "../../texts.ts";
import { useNow } from "../elapsed.tsx";
import { Fold, FoldHead } from "../fold.tsx";
import { formatDuration, retryLine, SHOWN_DURATION_MS } from "../format.ts";
import { Icon, Words } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";
import { MemoryUndo, ToolCard } from "../tool-card.tsx";
import { RestoreLine } from "./restore-card.tsx";
import { AnswerActions, TurnEnd } from "./turn-end.tsx";
import { UserMessage } from "./user-message.tsx";

const KEY_ATTRIBUTE = "data-entry";

type EntryRowProps = {
  readonly entry: Entry;
  /** From 1. */
  readonly position: number;
  /** -1: unknown, because earlier entries are not loaded. */
  readonly count: number;
};

export function EntryRow({ entry, position, count }: EntryRowProps) {
  return (
    <article
      class="row"
      tabIndex={-1}
      data-entry={entry.key}
      aria-label={entry.type === "tool" ? entry.title : LABELS[entry.type]}
      aria-posinset={position}
      aria-setsize={count}
    >
      <EntryView entry={entry} />
    </article>
  );
}

/** Row that contains `node`. */
export function rowAround(node: Node | null | undefined): HTMLElement | undefined {
  const element = node instanceof Element ? node : node?.parentElement;
  return element?.closest<HTMLElement>(`[${KEY_ATTRIBUTE}]`) ?? undefined;
}

export function keyOfRow(row: HTMLElement | undefined): string | undefined {
  return row?.getAttribute(KEY_ATTRIBUTE) ?? undefined;
}

/** Undefined while the virtual list has not mounted the row. */
export function findRow(list: HTMLElement, key: string): HTMLElement | undefined {
  return list.querySelector<HTMLElement>(`[${KEY_ATTRIBUTE}="${key}"]`) ?? undefined;
}

/** Labels for screen readers of entries that only their look identifies. */
const LABELS: Partial<Record<Entry["type"], string>> = {
  user: t("You"),
  answer: t("The agent's answer"),
  thought: t("Thoughts"),
};

const EntryView = memo(function EntryView({ entry }: { readonly entry: Entry }) {
  switch (entry.type) {
    case "user":
      return <UserMessage entry={entry} />;
    case "answer":
      return (
        <div class="entry answer">
          <MarkdownView text={entry.text} growing={entry.growing} />
          {!entry.growing && <AnswerActions entry={entry} />}
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
      return <Notice entry={entry} />;
    case "restored":
      return <RestoreLine entry={entry} />;
    case "summary":
      return <SummaryLine entry={entry} />;
    case "group":
      return <GroupLine entry={entry} />;
    case "turn-end":
      return <TurnEnd entry={entry} />;
  }
});

export function isNotice(entry: Entry): entry is NoticeEntry {
  return entry.type === "notice";
}

export function Notice({ entry }: { readonly entry: NoticeEntry }) {
  const { severity, text, retry, memoryCall } = entry;
  return (
    <div class={`entry notice notice-${severity}`}>
      <Icon name={severity} />{" "}
      <span dir="auto">
        {retry === undefined ? <Words text={text} /> : <RetryText entryKey={entry.key} retry={retry} />}
      </span>{" "}
      {memoryCall !== undefined && <MemoryUndo callId={memoryCall} />}
    </div>
  );
}

function RetryText({ entryKey, retry }: { readonly entryKey: string } & Required<Pick<NoticeEntry, "retry">>) {
  const panel = usePanel();
  const isOver = useComputed(() => {
    const { running, entries, open } = panel.store.shown.value;
    return !running || open !== undefined || entries.at(-1)?.key !== entryKey;
  }).value;
  return <>{retryLine(retry, isOver, useNow(panel.now, isOver))}</>;
}

function thoughtTitle(durationMs: number | undefined): string {
  if (durationMs === undefined) return t("Thoughts");
  return durationMs < SHOWN_DURATION_MS ? t("Thought briefly") : t("Thought for {0}", formatDuration(durationMs));
}

function Thought({ entry }: { readonly entry: TextEntry }) {
  const panel = usePanel();
  const { store } = panel;
  const fold = useMemo(() => {
    const { sessionId, entries } = store.shown.peek();
    const id = thoughtId(entries, entry.key);
    // Without an id the key identifies the thought as long as this log lives.
    return `thought:${sessionId ?? ""}:${id ?? `${panel.epoch}.${entry.key}`}`;
  }, [store, entry.key]);
  const summary = (
    <>
      <Icon name="lightbulb" />
      <span class="tool-title">{entry.growing ? t("Thinking…") : thoughtTitle(entry.durationMs)}</span>
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

/** A line over rows that it shows and hides, which the state knows by `key`. */
function useFoldLine(key: string): {
  readonly isOpen: boolean;
  line(icon: string, text: string, title: string): JSX.Element;
} {
  const { store } = usePanel();
  const isOpen = useComputed(() => store.shown.value.openSummaries.includes(key)).value;
  const toggle = (): void => store.apply([{ kind: "toggle-summary", key }]);
  return {
    isOpen,
    line: (icon, text, title) => (
      <FoldHead isOpen={isOpen} title={title} onToggle={toggle}>
        <Icon name={icon} />
        <span class="tool-title">{text}</span>
      </FoldHead>
    ),
  };
}

/** Finished reads and searches: one line that opens to their cards. */
function GroupLine({ entry: { key, calls } }: { readonly entry: GroupEntry }) {
  const { line } = useFoldLine(key);
  const reads = calls.filter(({ kind }) => kind === "read").length;
  const searches = calls.length - reads;
  const parts = [
    ...(reads > 0 ? [reads === 1 ? t("1 read") : t("{0} reads", reads)] : []),
    ...(searches > 0 ? [searches === 1 ? t("1 search") : t("{0} searches", searches)] : []),
  ];
  const titles = calls.map(({ title }) => visibleText(title)).join("\n");
  return (
    <div class="entry">
      <div class="tool-card tool-completed">{line("search", parts.join(", "), titles)}</div>
    </div>
  );
}

/** A summary: one line that opens to its text and the messages under it. */
function SummaryLine({ entry }: { readonly entry: SummaryEntry }) {
  const { key, messages, tokensBefore, tokensAfter, summary } = entry;
  const { isOpen, line } = useFoldLine(key);
  const text = useMemo(() => appendText(emptyText, summary), [summary]);
  const title = messages === 1 ? t("1 message summarised") : t("{0} messages summarised", messages);
  return (
    <div class="entry summary">
      {line("fold", title, t("The agent continues with a summary of these messages. They stay here."))}
      {isOpen && (
        <div class="summary-text">
          <p class="summary-tokens">{t("{0} → {1} tokens", formatNumber(tokensBefore), formatNumber(tokensAfter))}</p>
          {summary !== "" && <MarkdownView text={text} growing={false} />}
        </div>
      )}
    </div>
  );
}
