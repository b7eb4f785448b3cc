/** Lines of the dock that offer a few steps. The one of pending edits: keep or undo all of them, or file by file. */
import type { ComponentChildren } from "preact";
import type { ReviewedFile } from "../../agent-core/protocol/panel-events.ts";
import { t } from "../texts.ts";
import { useFocusKept } from "./focus-kept.ts";
import { Fold } from "./fold.tsx";
import { Button, Icon, IconButton } from "./icon.tsx";
import { onKeys } from "./keys.ts";
import { usePanel } from "./panel-context.ts";

export function ReviewBar() {
  const { store, post } = usePanel();
  const { review, undone } = store.shown.value.facts;
  const list = useFocusKept<HTMLUListElement>(review, ".review-file");
  if (review.length === 0) return undone > 0 ? <UndoneLine files={undone} /> : null;
  const added = review.reduce((sum, file) => sum + file.added, 0);
  const removed = review.reduce((sum, file) => sum + file.removed, 0);
  const waiting = review.filter((file) => file.isWaiting).length;
  const summary = (
    <>
      <Icon name="diff-multiple" />
      <span class={waiting > 0 ? "tool-title review-waiting" : "tool-title"} aria-live="polite">
        {barTitle(review.length, waiting)}
      </span>
      {waiting === 0 && (
        <>
          <span class="count-added">+{added}</span>
          <span class="count-removed">−{removed}</span>
        </>
      )}
    </>
  );
  const isProposed = waiting === review.length;
  return (
    <DockBar
      label={t("Edits to review")}
      steps={[
        { label: isProposed ? t("Accept") : t("Keep"), isPrimary: true, run: () => post({ type: "keep-all" }) },
        { label: isProposed ? t("Reject") : t("Undo"), run: () => post({ type: "undo-all" }) },
      ]}
    >
      <Fold id="review" openByDefault={false} summary={summary}>
        <ul class="review-list" ref={list}>
          {review.map((file) => (
            <ReviewLine key={`${file.isWaiting} ${file.path}`} file={file} />
          ))}
        </ul>
      </Fold>
    </DockBar>
  );
}

/** Offers to redo the last undo of whole files. */
function UndoneLine({ files }: { readonly files: number }) {
  const { post } = usePanel();
  return (
    <DockBar label={t("Undone edits")} steps={[{ label: t("Redo"), run: () => post({ type: "redo-undone" }) }]}>
      <DockText icon="discard">{files === 1 ? t("Undid 1 file") : t("Undid {0} files", files)}</DockText>
    </DockBar>
  );
}

function barTitle(files: number, waiting: number): string {
  if (waiting > 0) return waiting === 1 ? t("1 waits for you") : t("{0} wait for you", waiting);
  return files === 1 ? t("1 file") : t("{0} files", files);
}

function ReviewLine({ file: { path, label, isWaiting, added, removed } }: { readonly file: ReviewedFile }) {
  const { post } = usePanel();
  return (
    <li data-row={path}>
      <button
        type="button"
        class="review-file"
        title={isWaiting ? t("{0}: waits for your decision; open the diff", path) : t("{0}: open the diff", path)}
        onClick={() => post({ type: "open-review", path })}
      >
        {isWaiting && <Icon name="clock" />}
        <span class="tool-title path-end">
          <bdi>{label}</bdi>
        </span>
        <span class="count-added">+{added}</span>
        <span class="count-removed">−{removed}</span>
      </button>
      <IconButton
        icon="check"
        name={isWaiting ? t("Accept {0}", label) : t("Keep {0}", label)}
        title={isWaiting ? t("Accept") : t("Keep")}
        act={() => post({ type: "keep-file", path })}
      />
      <IconButton
        icon={isWaiting ? "close" : "discard"}
        name={isWaiting ? t("Reject {0}", label) : t("Undo {0}", label)}
        title={isWaiting ? t("Reject") : t("Undo")}
        act={() => post({ type: "undo-file", path })}
      />
    </li>
  );
}

export type DockStep = {
  readonly label: string;
  readonly title?: string;
  readonly isPrimary?: true;
  readonly run: () => void;
};

type DockBarProps = {
  readonly label: string;
  /** Before the steps; `DockText` for a plain text. */
  readonly children: ComponentChildren;
  readonly steps: readonly DockStep[];
};

export function DockBar({ label, children, steps }: DockBarProps) {
  const panel = usePanel();
  return (
    <section class="review" aria-label={label} onKeyDown={onKeys({ Escape: () => panel.compose() })}>
      <div class="review-head">
        {children}
        <span class="review-steps">
          {steps.map(({ label: name, title, isPrimary, run }) => (
            <Button key={name} kind={isPrimary ? "primary" : "secondary"} isSmall title={title} onClick={run}>
              {name}
            </Button>
          ))}
        </span>
      </div>
    </section>
  );
}

export function DockText({ icon, children }: { readonly icon: string; readonly children: ComponentChildren }) {
  return (
    <span class="review-undone" role="status">
      <Icon name={icon} /> {children}
    </span>
  );
}
