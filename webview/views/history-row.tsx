/** A stored session in the list: open, pin, archive, rename, fork, export, delete. */
import { useComputed } from "@preact/signals";
import { Fragment } from "preact";
import { memo } from "preact/compat";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { HistoryItem } from "../../agent-core/protocol/panel-events.ts";
import type { HermesShelf } from "../../agent-core/protocol/sessions.ts";
import { t } from "../texts.ts";
import { formatCost, shortTime } from "./format.ts";
import { Button, Icon, type IconAction, IconButton, IconButtons } from "./icon.tsx";
import { onKeys } from "./keys.ts";
import { usePanel } from "./panel-context.ts";

type Stage = "shown" | "renaming" | "deleting";

type RowProps = { readonly item: HistoryItem };
type StageProps = RowProps & { readonly onDone: () => void };

/** Renders again only with another item: a page of a long list adds only its own rows. */
export const HistoryRow = memo(Row);

function Row({ item }: RowProps) {
  const [stage, setStage] = useState<Stage>("shown");
  const name = useRef<HTMLButtonElement>(null);
  const { post } = usePanel();
  const shelve = (shelf: HermesShelf): void =>
    post({ type: "session-shelve", sessionId: item.sessionId, shelf: item.shelf === shelf ? null : shelf });
  const done = (): void => setStage("shown");
  const keys = {
    F2: () => setStage("renaming"),
    Delete: () => setStage("deleting"),
    p: () => shelve("pinned"),
    e: () => shelve("archived"),
  };
  useReturningFocus(name, stage);
  switch (stage) {
    case "renaming":
      return <Renaming item={item} onDone={done} />;
    case "deleting":
      return <Deleting item={item} onDone={done} />;
    case "shown":
      return (
        <li class={`history-row${item.isCurrent ? " history-current" : ""}`} data-row={item.sessionId}>
          <Name item={item} field={name} onKey={item.agent === undefined ? keys : NO_KEYS} />
          {item.agent === undefined && (
            <Actions
              item={item}
              onShelve={shelve}
              onRename={() => setStage("renaming")}
              onDelete={() => setStage("deleting")}
            />
          )}
        </li>
      );
  }
}

/** Another agent's session: ACP lets a client only open it. */
const NO_KEYS = {};

/** Returns the focus to the row after renaming, or after a deletion was declined. */
function useReturningFocus(name: { readonly current: HTMLButtonElement | null }, stage: Stage): void {
  const before = useRef<Stage>(stage);
  useLayoutEffect(() => {
    if (stage === "shown" && before.current !== "shown") name.current?.focus();
    before.current = stage;
  }, [stage]);
}

function countText(messages: number): string {
  return messages === 1 ? t("1 message") : t("{0} messages", messages);
}

type NameProps = RowProps & {
  readonly field: { current: HTMLButtonElement | null };
  readonly onKey: Readonly<Record<string, () => void>>;
};

function Name({ item, field, onKey }: NameProps) {
  const panel = usePanel();
  const { sessionId, title, updatedAt, messages, costUsd, folder, isCurrent, shelf, snippet, agent } = item;
  const marks = [...(shelf === undefined ? [] : [SHELVES[shelf]]), ...(item.isJob === true ? [JOB] : [])];
  const facts = [
    agent,
    updatedAt === 0 ? undefined : shortTime(updatedAt, Date.now()),
    messages === undefined ? undefined : countText(messages),
    formatCost(costUsd),
    // A narrow panel would show the beginning of the path, which all have, as those of all worktrees do.
    folder?.replace(/^.*(?:\.worktrees[\\/]|[\\/](?=[^\\/]+[\\/][^\\/]+$))/, ""),
  ];
  return (
    <button
      type="button"
      class="history-name"
      ref={field}
      aria-current={isCurrent ? "true" : undefined}
      aria-keyshortcuts={agent === undefined ? "F2 Delete P E" : undefined}
      title={folder === undefined ? title : `${title}\n${folder}`}
      onClick={() => panel.openSession(sessionId)}
      onKeyDown={onKeys(onKey)}
    >
      <span class="history-title" dir="auto">
        {marks.map(({ icon, text }) => (
          <Fragment key={icon}>
            <Icon name={icon} /> <span class="visually-hidden">{text}</span>
          </Fragment>
        ))}
        {title}
      </span>
      {!isCurrent && <BackgroundState item={item} />}
      {snippet && <Snippet text={snippet.text} marks={snippet.marks} />}
      <span class="history-facts">{facts.filter((fact) => fact !== undefined).join(" · ")}</span>
    </button>
  );
}

const SHELVES = {
  pinned: { icon: "pinned", text: t("Pinned") },
  archived: { icon: "archive", text: t("Archived") },
} as const;

const JOB = { icon: "history", text: t("Planned job") };

const STATES = {
  asks: { icon: "bell-dot", text: t("asks for your answer") },
  working: { icon: "loading", text: t("working") },
  done: { icon: "pass", text: t("finished") },
} as const;

/** Badge of a session that this panel does not show: working, asks, done. */
function BackgroundState({ item: { sessionId, state: elsewhere } }: RowProps) {
  const { store } = usePanel();
  const here = useComputed(
    () => store.shown.value.facts.background.find((session) => session.sessionId === sessionId)?.state,
  ).value;
  const state = here ?? elsewhere;
  if (state === undefined) return null;
  const { icon, text } = STATES[state];
  return (
    <span class={`history-state history-${state}`}>
      <Icon name={icon} spin={state === "working"} /> {text}
    </span>
  );
}

function Snippet({ text, marks }: NonNullable<HistoryItem["snippet"]>) {
  const pieces = marks.map(([start, end], index) => (
    <>
      {text.slice(marks[index - 1]?.[1] ?? 0, start)}
      <mark key={start}>{text.slice(start, end)}</mark>
    </>
  ));
  return (
    <span class="history-snippet" dir="auto">
      {pieces}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </span>
  );
}

type ActionsProps = RowProps & {
  /** Takes the session from the shelf if it is there. */
  readonly onShelve: (shelf: HermesShelf) => void;
  readonly onRename: () => void;
  readonly onDelete: () => void;
};

/** The rarer actions take the place of the others: all of them would cover the title in a narrow panel. */
function Actions(props: ActionsProps) {
  const [isMore, setMore] = useState(false);
  return (
    <span class="history-actions">
      <IconButtons key={isMore} of={isMore ? rareActions(props) : commonActions(props)} />
      <IconButton
        icon={isMore ? "chevron-left" : "ellipsis"}
        name={isMore ? t("Fewer Actions for {0}", props.item.title) : t("More Actions for {0}", props.item.title)}
        title={isMore ? t("Back") : t("More")}
        act={() => setMore(!isMore)}
      />
    </span>
  );
}

function commonActions({ item: { sessionId, title, shelf }, onShelve, onDelete }: ActionsProps): readonly IconAction[] {
  const [pin, archive] = [() => onShelve("pinned"), () => onShelve("archived")];
  return [
    shelf === "pinned"
      ? ["pinned", t("Unpin {0}", title), t("Unpin (P)"), pin]
      : ["pin", t("Pin {0}", title), t("Pin (P)"), pin],
    shelf === "archived"
      ? ["inbox", t("Unarchive {0}", title), t("Unarchive (E)"), archive]
      : ["archive", t("Archive {0}", title), t("Archive (E)"), archive],
    ["multiple-windows", t("Open {0} in an Editor Tab", title), IN_TAB, { type: "session-open-tab", sessionId }],
    ["trash", t("Delete {0}", title), t("Delete…"), onDelete],
  ];
}

const IN_TAB = t("Open in an Editor Tab");
const FORK = t("Fork: a new session that begins with this one");

function rareActions({ item: { sessionId, title }, onRename }: ActionsProps): readonly IconAction[] {
  return [
    ["edit", t("Rename {0}", title), t("Rename (F2)"), onRename],
    ["repo-forked", t("Fork {0}", title), FORK, { type: "session-fork", sessionId }],
    ["save-as", t("Export {0}", title), t("Export…"), { type: "session-export", sessionId }],
  ];
}

function Renaming({ item: { sessionId, title }, onDone }: StageProps) {
  const { post } = usePanel();
  const [draft, setDraft] = useState(title);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.select(), []);
  const save = (): void => {
    const wanted = draft.trim();
    if (wanted !== "" && wanted !== title) post({ type: "session-rename", sessionId, title: wanted });
    onDone();
  };
  return (
    <li class="history-row history-editing" data-row={sessionId}>
      <input
        ref={field}
        dir="auto"
        aria-label={t("Title of the session")}
        maxLength={200}
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={onKeys({ Enter: save, Escape: onDone })}
      />
      <IconButton icon="check" name={t("Save the Title")} title={t("Save (Enter)")} act={save} />
      <IconButton icon="discard" name={t("Cancel Renaming")} title={t("Cancel (Escape)")} act={onDone} />
    </li>
  );
}

function Deleting({ item: { sessionId, title, isCurrent }, onDone }: StageProps) {
  const panel = usePanel();
  const keep = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => keep.current?.focus(), []);
  const remove = (): void => {
    // The open session is going: the user continues with the search for another one.
    if (isCurrent) panel.showSessions();
    panel.post({ type: "session-delete", sessionId });
  };
  return (
    <li class="history-row history-editing" data-row={sessionId} onKeyDown={onKeys({ Escape: onDone })}>
      <span class="history-question" dir="auto">
        {t("Delete “{0}” permanently?", title)}
      </span>
      <span class="ask-buttons">
        <Button kind="primary" onClick={remove}>
          {t("Delete")}
        </Button>
        <Button kind="secondary" ref={keep} onClick={onDone}>
          {t("Keep")}
        </Button>
      </span>
    </li>
  );
}
