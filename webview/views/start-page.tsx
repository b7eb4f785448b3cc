/** The page before the first message: suggestions made from the workspace, and the last sessions. */
import type { TargetedEvent } from "preact";
import type { HistoryItem, StartPage, Suggestion } from "../../agent-core/protocol/panel-events.ts";
import { isOffline } from "../state/config.ts";
import { t } from "../texts.ts";
import { shortTime } from "./format.ts";
import { Button, Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";
import { isNotice, Notice } from "./transcript/entry-row.tsx";

/** Requests that the built-in interpreter understands in every workspace. */
const OFFLINE: readonly Suggestion[] = [
  ["book", "What does this project do?"],
  ["list-flat", "list"],
  ["search", "find files named *.md"],
].map(([icon = "", label = ""]) => ({ icon, label, detail: "", prompt: label }));

export function StartPageView() {
  const panel = usePanel();
  const { store, post } = panel;
  const { agentName, configOptions, entries, facts } = store.shown.value;
  const offline = isOffline(configOptions);
  return (
    <section
      class="empty"
      aria-labelledby="start-title"
      onKeyDown={(event) => moveAmongButtons(event, () => panel.compose())}
    >
      <h1 id="start-title">{agentName}</h1>
      <p>
        {t(
          "Reads and edits files and runs commands in this workspace. You review each edit; risky commands ask first.",
        )}
      </p>
      {entries.filter(isNotice).map((entry) => (
        <Notice key={entry.key} entry={entry} />
      ))}
      {facts.start !== null && (
        <>
          <Suggestions start={facts.start} suggestions={offline ? OFFLINE : facts.start.suggestions} />
          <RecentSessions sessions={facts.start.recent} />
        </>
      )}
      <SandboxNote />
      {facts.start !== null && offline && (
        <p class="empty-note">
          {t(
            "You are using the built-in offline interpreter. It understands requests like these and is not a language model.",
          )}{" "}
          <Button onClick={() => post({ type: "open-setup" })}>{t("Set Up a Model")}</Button>
        </p>
      )}
    </section>
  );
}

/** The up and down keys move among the buttons of a page, and down from its last one to the message. */
export function moveAmongButtons(event: TargetedEvent<HTMLElement, KeyboardEvent>, compose: () => void): void {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const next = buttons.findIndex((button) => button === document.activeElement) + step;
  if (next >= buttons.length) compose();
  else buttons[Math.max(next, 0)]?.focus();
}

/** The page of a window without a folder on this disk. */
export function NoFolderPage() {
  const { store, post } = usePanel();
  const { agentName, facts } = store.shown.value;
  const about =
    facts.folder === "virtual"
      ? t(
          "The files of this workspace are not on a disk, so Hermes cannot search them or run commands there. Open a folder, or clone the repository.",
        )
      : t("Hermes works in a folder: it reads and edits the files there and runs commands.");
  return (
    <div class="empty">
      <h1>{agentName}</h1>
      <p>{about}</p>
      <div class="ask-buttons">
        <Button kind="primary" onClick={() => post({ type: "open-folder", recent: false })}>
          {t("Open Folder")}
        </Button>
        <Button kind="secondary" onClick={() => post({ type: "open-folder", recent: true })}>
          {t("Open Recent…")}
        </Button>
      </div>
    </div>
  );
}

function Suggestions({
  start,
  suggestions,
}: {
  readonly start: StartPage;
  readonly suggestions: readonly Suggestion[];
}) {
  const { post } = usePanel();
  return (
    <section class="start-list" aria-label={t("Suggestions")}>
      {suggestions.map(({ icon, label, detail, prompt, attachments }) => (
        <button
          key={label}
          type="button"
          class="start-row suggestion"
          title={prompt}
          onClick={() => post({ type: "prompt", text: prompt, inPlace: true, ...(attachments && { attachments }) })}
        >
          <Icon name={icon} />
          <span class="start-text">{label}</span>
          {detail !== "" && <span class="start-detail">{detail}</span>}
        </button>
      ))}
      {start.hasRepository && (
        <Button onClick={() => post({ type: "new-worktree" })}>{t("New Session in a Worktree…")}</Button>
      )}
    </section>
  );
}

function RecentSessions({ sessions }: { readonly sessions: readonly HistoryItem[] }) {
  const panel = usePanel();
  if (sessions.length === 0) return null;
  return (
    <section class="start-list" aria-labelledby="recent-sessions">
      <h2 id="recent-sessions">{t("Recent sessions")}</h2>
      {sessions.map(({ sessionId, title, updatedAt }) => (
        <button
          key={sessionId}
          type="button"
          class="start-row"
          title={title}
          onClick={() => panel.openSession(sessionId)}
        >
          <Icon name="comment-discussion" />
          <span class="start-text" dir="auto">
            {title}
          </span>
          <span class="start-detail">{shortTime(updatedAt, Date.now())}</span>
        </button>
      ))}
      <Button onClick={() => panel.showSessions()}>{t("All Sessions")}</Button>
    </section>
  );
}

/** Commands without a sandbox, and how to get one. */
function SandboxNote() {
  const { store, post } = usePanel();
  const { sandbox } = store.shown.value.facts;
  if (sandbox == null || sandbox.isOn) return null;
  return (
    <p class="empty-note sandbox-note">
      {t("Sandbox {0}. To enable it, {1}.", sandbox.text, sandbox.advice ?? "")}{" "}
      <Button onClick={() => post({ type: "extension-place", place: "config" })}>{t("Open config.yaml")}</Button>
    </p>
  );
}
