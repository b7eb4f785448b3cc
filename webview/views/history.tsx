/** The list of stored sessions, with a search. */
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { HistoryItem, HistoryPage } from "../../agent-core/protocol/panel-events.ts";
import { t } from "../texts.ts";
import { useFocusKept } from "./focus-kept.ts";
import { dayHeading } from "./format.ts";
import { HistoryRow } from "./history-row.tsx";
import { BackButton, Button, Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

/** Rows in a block; the browser lays out only blocks in view. */
const BLOCK = 50;
/** Distance from the end of the list at which the next page is requested. */
const AHEAD = "600px";

export function History({ page }: { readonly page: HistoryPage }) {
  const panel = usePanel();
  const rows = useFocusKept<HTMLDivElement>(page.sessions, ".history-name", ".history-search input");
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.preventDefault();
      panel.closeSessions();
      return;
    }
    const step = STEPS[event.key];
    const isTyping = event.target instanceof HTMLInputElement;
    if (step === undefined || (isTyping && (step < 0 || event.target.type !== "search"))) return;
    const names = [...(rows.current?.querySelectorAll<HTMLElement>(".history-name") ?? [])];
    const place = names.findIndex((name) => name.closest(".history-row")?.contains(document.activeElement));
    const next = names[place + step];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <section class="history" aria-labelledby="history-title" onKeyDown={onKeyDown}>
      <div class="history-head">
        <BackButton act={() => panel.closeSessions()} />
        <h1 id="history-title">{t("Sessions")}</h1>
        {page.isLoading && <Icon name="loading" spin />}
      </div>
      <Search page={page} />
      <div class="history-rows" ref={rows}>
        {page.error !== undefined && (
          <p class="notice notice-error">
            <Icon name="error" /> {page.error}
          </p>
        )}
        {page.building && (
          <p class="history-building">
            <Icon name="loading" spin />
            {t("The index is being built: {0} of {1} sessions.", page.building.done, page.building.total)}
          </p>
        )}
        <Days page={page} />
        {page.hasMore && <More sessions={page.sessions} />}
      </div>
    </section>
  );
}

/**
 * Requests the next page when the end of the list comes near; the button does the same. A list that was loaded again
 * requests it anew, because the host drops pages of the list before it.
 */
function More({ sessions }: Pick<HistoryPage, "sessions">) {
  const { post } = usePanel();
  const button = useRef<HTMLButtonElement>(null);
  const more = (): void => post({ type: "history-more" });
  useEffect(() => {
    if (button.current === null) return;
    const root = button.current.closest(".history-rows");
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && more(), {
      root,
      rootMargin: AHEAD,
    });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [sessions]);
  return (
    <Button class="history-more" ref={button} onClick={more}>
      {t("Show More")}
    </Button>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

const SCOPES = [
  { name: "everywhere", label: t("All Folders") },
  { name: "isArchive", label: t("Archived") },
] as const;

function Search({ page }: { readonly page: HistoryPage }) {
  const panel = usePanel();
  const { searchFocus } = panel.store.shown.value.route;
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), [searchFocus]);
  return (
    <div class="history-search">
      <input
        ref={field}
        type="search"
        dir="auto"
        placeholder={t("Search sessions…")}
        aria-label={t("Search sessions")}
        value={page.query}
        onInput={(event) => panel.searchSessions({ query: event.currentTarget.value })}
      />
      {SCOPES.map(({ name, label }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={page[name]}
            onChange={(event) => panel.searchSessions({ [name]: event.currentTarget.checked })}
          />{" "}
          {label}
        </label>
      ))}
    </div>
  );
}

/** Search results by rank; other sessions under the days of their last use, after the pinned ones. */
function Days({ page: { sessions, query, everywhere, isArchive, isLoading, error } }: { readonly page: HistoryPage }) {
  const panel = usePanel();
  if (sessions.length === 0) {
    if (isLoading || error !== undefined) return null;
    return (
      <p class="history-none">
        {noneText(query !== "", everywhere, isArchive)}{" "}
        {!everywhere && <Button onClick={() => panel.searchSessions({ everywhere: true })}>{t("All Folders")}</Button>}
      </p>
    );
  }
  if (query !== "") return <Rows sessions={sessions} />;
  const now = Date.now();
  const days = Map.groupBy(sessions, ({ shelf, updatedAt }) =>
    shelf === "pinned" ? t("Pinned") : dayHeading(updatedAt, now),
  );
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <div key={day}>
          <h2>{day}</h2>
          <Rows sessions={ofDay} />
        </div>
      ))}
    </>
  );
}

function noneText(isSearch: boolean, everywhere: boolean, isArchive: boolean): string {
  if (isSearch) return everywhere ? t("Nothing found.") : t("Nothing found in this folder.");
  if (isArchive) return everywhere ? t("No archived sessions.") : t("No archived sessions in this folder.");
  return everywhere ? t("No sessions yet.") : t("No sessions in this folder yet.");
}

/** Rows in blocks: Preact compares only the rows of changed blocks. */
function Rows({ sessions }: BlockProps) {
  const starts = Array.from({ length: Math.ceil(sessions.length / BLOCK) }, (_, index) => index * BLOCK);
  return (
    <>
      {starts.map((start) => (
        <Block key={start} sessions={sessions.slice(start, start + BLOCK)} />
      ))}
    </>
  );
}

type BlockProps = { readonly sessions: readonly HistoryItem[] };

const Block = memo(
  ({ sessions }: BlockProps) => (
    <ul class="history-list">
      {sessions.map((item) => (
        <HistoryRow key={item.sessionId} item={item} />
      ))}
    </ul>
  ),
  (before: BlockProps, now: BlockProps) =>
    before.sessions.length === now.sessions.length && now.sessions.every((item, at) => item === before.sessions[at]),
);
