/** Preview of a restore under its message, and the line about a finished restore. */
import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { RestoreFile, RestorePreview } from "../../../agent-core/protocol/panel-events.ts";
import type { RestoredEntry } from "../../state/state.ts";
import { t } from "../../texts.ts";
import { Button, Icon } from "../icon.tsx";
import { onKeys } from "../keys.ts";
import { usePanel } from "../panel-context.ts";

const looks: Readonly<Record<RestoreFile["change"], { readonly icon: string; readonly words: string }>> = {
  restore: { icon: "history", words: t("is restored") },
  remove: { icon: "trash", words: t("is removed: the agent created it") },
  recreate: { icon: "new-file", words: t("is created again") },
};

/** Preview of a restore to before the message at this position. */
export function useRestorePreview(position: number | undefined): RestorePreview | undefined {
  const { store } = usePanel();
  const restore = useComputed(() => store.shown.value.restore).value;
  return restore?.position === position ? restore?.preview : undefined;
}

export function RestoreCard({ position }: { readonly position: number }) {
  const preview = useRestorePreview(position);
  return preview === undefined || preview.forResend ? null : <Card position={position} preview={preview} />;
}

type RestoreProps = { readonly position: number; readonly preview: RestorePreview };

/** Files that a restore would change, and a link to the changes. */
export function RestoreFiles({ position, preview: { files } }: RestoreProps) {
  return (
    <>
      <div class="restore-note">
        {t("These files have changed since then.")} <ChangesLink position={position} />
      </div>
      <FileList files={files} />
    </>
  );
}

function ChangesLink({ position }: Pick<RestoreProps, "position">) {
  const { post } = usePanel();
  return <Button onClick={() => post({ type: "restore-changes", position })}>{t("Show Changes")}</Button>;
}

function FileList({ files }: Pick<RestorePreview, "files">) {
  return (
    <ul class="restore-list" aria-label={t("Files that changed since then")}>
      {files.map((file) => (
        <FileLine key={file.path} file={file} />
      ))}
    </ul>
  );
}

function skippedFirst(files: readonly RestoreFile[]): readonly RestoreFile[] {
  return files.toSorted((one, other) => Number(other.leftAlone !== undefined) - Number(one.leftAlone !== undefined));
}

/** Previews that have had the focus. A card that the virtual list mounts again does not take it. */
const focused = new WeakSet<RestorePreview>();

/** Parts that can be restored; without changed files only the conversation. */
const PARTS = [
  { label: t("Both"), files: true, conversation: true },
  { label: t("Files"), files: true, conversation: false },
  { label: t("Conversation"), files: false, conversation: true },
] as const;

function Card({ position, preview }: RestoreProps) {
  const { limits = [], messages } = preview;
  const files = useMemo(() => skippedFirst(preview.files), [preview]);
  const { post } = usePanel();
  const changing = files.filter(({ leftAlone }) => leftAlone === undefined);
  const card = useRef<HTMLElement>(null);
  const isEmpty = changing.length === 0;
  // No button gets the focus: a key that is held down too long must not restore anything.
  useEffect(() => {
    if (!focused.has(preview)) card.current?.focus();
    focused.add(preview);
  }, []);
  const close = (): void => {
    post({ type: "restore-close" });
    card.current?.closest(".user")?.querySelector<HTMLElement>(".message-actions button")?.focus();
  };
  return (
    <section
      ref={card}
      class="restore-card"
      tabIndex={-1}
      aria-label={t("Restore to Here")}
      onKeyDown={onKeys({ Escape: close })}
    >
      <div class="ask-title">
        <Icon name="history" /> {t("Restore to before this message?")}
      </div>
      {files.length === 0 && <div class="restore-note">{t("No files have changed since then.")}</div>}
      {files.length > 0 && <FileList files={files} />}
      {limits.map((limit) => (
        <div key={limit} class="restore-note">
          <Icon name="warning" /> {limit}
        </div>
      ))}
      <div class="restore-note">
        {messages === 1
          ? t("Restoring the conversation removes this message and its answer.")
          : t("Restoring the conversation removes {0} of your messages, with their answers.", messages)}
        {!isEmpty && (
          <>
            {" "}
            <ChangesLink position={position} />
          </>
        )}
      </div>
      <div class="ask-buttons">
        {PARTS.slice(isEmpty ? 2 : 0).map(({ label, ...parts }, index) => (
          <Button
            key={label}
            kind={index === 0 ? "primary" : "secondary"}
            onClick={() => post({ type: "restore", position, ...parts })}
          >
            {label}
          </Button>
        ))}
        <Button kind="secondary" onClick={close}>
          {t("Cancel")}
        </Button>
      </div>
    </section>
  );
}

function FileLine({ file: { path, label, change, added, removed, leftAlone } }: { readonly file: RestoreFile }) {
  return (
    <li class={leftAlone === undefined ? "restore-file" : "restore-file restore-left"} title={path}>
      <Icon name={leftAlone === undefined ? looks[change].icon : "circle-slash"} />
      <span class="tool-title path-end">
        <bdi>{label}</bdi>
      </span>
      {leftAlone === undefined && <span class="visually-hidden">{looks[change].words}</span>}
      {added !== undefined && <span class="count-added">+{added}</span>}
      {removed !== undefined && <span class="count-removed">−{removed}</span>}
      {leftAlone !== undefined && <span class="restore-why">{t("Skipped: {0}", leftAlone)}</span>}
    </li>
  );
}

/** Lines that have been shown. A line that the virtual list mounts again does not take the focus. */
const shownLines = new WeakSet<RestoredEntry>();

export function RestoreLine({ entry }: { readonly entry: RestoredEntry }) {
  const { key, text, leftAlone, limits, restoreId } = entry;
  const { store, post } = usePanel();
  const line = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (shownLines.has(entry) || store.shown.value.entries.at(-1)?.key !== key) return;
    shownLines.add(entry);
    // The focused button left with the card.
    if (document.hasFocus() && document.activeElement === document.body) line.current?.querySelector("button")?.focus();
  }, []);
  return (
    <div class="entry notice restore-line" ref={line}>
      <Icon name="history" /> <span>{text}</span>
      {restoreId !== undefined && (
        <Button onClick={() => post({ type: "restore-undo", restoreId })}>{t("Undo")}</Button>
      )}
      {leftAlone.map(({ path, label, leftAlone: why }) => (
        <div key={path} class="restore-why" title={path} dir="auto">
          {t("{0} skipped: {1}", label, why ?? "")}
        </div>
      ))}
      {limits.map((limit) => (
        <div key={limit} class="restore-why" dir="auto">
          {limit}
        </div>
      ))}
    </div>
  );
}
