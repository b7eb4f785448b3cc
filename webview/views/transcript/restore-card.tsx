/** Under a message: what going back to before it would do, and the choice of what goes back. */
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { RestoreFile, RestorePreview } from "../../../agent-core/protocol/panel-events.ts";
import type { RestoredEntry } from "../../state/state.ts";
import { Icon } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";

const icons: Readonly<Record<RestoreFile["change"], string>> = {
  restore: "history",
  remove: "trash",
  recreate: "new-file",
};

const words: Readonly<Record<RestoreFile["change"], string>> = {
  restore: "goes back",
  remove: "is removed: the agent made it",
  recreate: "comes back",
};

/** Nothing while the card of another message, or none, is shown. */
export function RestoreCard({ position }: { readonly position: number }) {
  const { store } = usePanel();
  const restore = useMemo(
    () => store.select((state) => (state.restore?.position === position ? state.restore.preview : undefined)),
    [store, position],
  );
  return restore.value === undefined ? null : <Card position={position} preview={restore.value} />;
}

/** Cards that have been on screen: one that comes back into the page takes no focus. */
const seen = new WeakSet<RestorePreview>();

type CardProps = { readonly position: number; readonly preview: RestorePreview };

function Card({ position, preview }: CardProps) {
  const { files, messages } = preview;
  const { post } = usePanel();
  const changing = files.filter(({ leftAlone }) => leftAlone === undefined);
  const card = useRef<HTMLElement>(null);
  const isEmpty = changing.length === 0;
  // Not a button of it: what is held down a moment too long must not restore anything.
  useEffect(() => {
    if (!seen.has(preview)) card.current?.focus();
    seen.add(preview);
  }, []);
  const close = (): void => {
    post({ type: "restore-close" });
    card.current?.closest(".user")?.querySelector<HTMLElement>(".message-actions button")?.focus();
  };
  const restore = (parts: { readonly files: boolean; readonly conversation: boolean }): void =>
    post({ type: "restore", position, ...parts });
  return (
    <section
      ref={card}
      class="restore-card"
      tabIndex={-1}
      aria-label="Restore to here"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <div class="ask-title">
        <Icon name="history" /> Restore to before this message?
      </div>
      {files.length === 0 && <div class="restore-note">No files were changed since.</div>}
      {files.length > 0 && (
        <ul class="restore-list">
          {files.map((file) => (
            <FileLine key={file.path} file={file} />
          ))}
        </ul>
      )}
      <div class="restore-note">
        With the conversation, {messages === 1 ? "1 message is" : `${messages} messages are`} taken back.
        {!isEmpty && (
          <>
            {" "}
            <button type="button" class="link-button" onClick={() => post({ type: "restore-changes", position })}>
              Show changes
            </button>
          </>
        )}
      </div>
      <div class="ask-buttons">
        {!isEmpty && (
          <>
            <button
              type="button"
              class="button button-primary"
              onClick={() => restore({ files: true, conversation: true })}
            >
              Both
            </button>
            <button
              type="button"
              class="button button-secondary"
              onClick={() => restore({ files: true, conversation: false })}
            >
              Files
            </button>
          </>
        )}
        <button
          type="button"
          class={`button ${isEmpty ? "button-primary" : "button-secondary"}`}
          onClick={() => restore({ files: false, conversation: true })}
        >
          Conversation
        </button>
        <button type="button" class="button button-secondary" onClick={close}>
          Cancel
        </button>
      </div>
    </section>
  );
}

function FileLine({ file: { path, label, change, added, removed, leftAlone } }: { readonly file: RestoreFile }) {
  return (
    <li class={leftAlone === undefined ? "restore-file" : "restore-file restore-left"} title={path}>
      <Icon name={leftAlone === undefined ? icons[change] : "circle-slash"} />
      <span class="tool-title" dir="auto">
        {label}
      </span>
      {leftAlone === undefined && <span class="visually-hidden">{words[change]}</span>}
      {added !== undefined && <span class="count-added">+{added}</span>}
      {removed !== undefined && <span class="count-removed">−{removed}</span>}
      {leftAlone !== undefined && <span class="restore-why">Left alone: {leftAlone}</span>}
    </li>
  );
}

/** What a restore did to files, with the way back. */

/** Lines that have been on screen: one that comes back into the page takes no focus. */
const announced = new WeakSet<RestoredEntry>();

export function RestoreLine({ entry }: { readonly entry: RestoredEntry }) {
  const { key, text, leftAlone, restoreId } = entry;
  const { store, post } = usePanel();
  const line = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (announced.has(entry) || store.shown.value.entries.at(-1)?.key !== key) return;
    announced.add(entry);
    // The button that had the focus is gone.
    if (document.hasFocus() && document.activeElement === document.body) line.current?.querySelector("button")?.focus();
  }, []);
  return (
    <div class="entry notice restore-line" ref={line}>
      <Icon name="history" /> <span>{text}</span>
      {restoreId !== undefined && (
        <>
          {" · "}
          <button type="button" class="link-button" onClick={() => post({ type: "restore-undo", restoreId })}>
            Undo
          </button>
        </>
      )}
      {leftAlone.map(({ path, label, leftAlone: why }) => (
        <div key={path} class="restore-why" title={path} dir="auto">
          {label} left alone: {why}
        </div>
      ))}
    </div>
  );
}
