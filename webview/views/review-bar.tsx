/** Pending edits: keep or undo all of them, or file by file. */
import type { ReviewedFile } from "../../agent-core/protocol/panel-events.ts";
import { Fold } from "./fold.tsx";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export function ReviewBar() {
  const { store, post } = usePanel();
  const { review, undone } = store.shown.value.facts;
  if (review.length === 0) return undone > 0 ? <UndoneLine files={undone} /> : null;
  const added = review.reduce((sum, file) => sum + file.added, 0);
  const removed = review.reduce((sum, file) => sum + file.removed, 0);
  const waiting = review.filter((file) => file.isWaiting).length;
  const summary = (
    <>
      <Icon name="diff-multiple" />
      <span class={waiting > 0 ? "tool-title review-waiting" : "tool-title"} role="status">
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
  return (
    <section class="review" aria-label="Edits to review">
      <div class="review-head">
        <Fold id="review" openByDefault={false} summary={summary}>
          <ul class="review-list">
            {review.map((file) => (
              <ReviewLine key={`${file.isWaiting} ${file.path}`} file={file} />
            ))}
          </ul>
        </Fold>
        <button type="button" class="button button-small button-primary" onClick={() => post({ type: "keep-all" })}>
          {waiting === review.length ? "Accept" : "Keep"}
        </button>
        <button type="button" class="button button-small button-secondary" onClick={() => post({ type: "undo-all" })}>
          {waiting === review.length ? "Reject" : "Undo"}
        </button>
      </div>
    </section>
  );
}

/** Offers to redo the last undo of whole files. */
function UndoneLine({ files }: { readonly files: number }) {
  const { post } = usePanel();
  return (
    <section class="review" aria-label="Undone edits">
      <div class="review-head">
        <span class="review-undone" role="status">
          <Icon name="discard" /> Undid {files === 1 ? "1 file" : `${files} files`}
        </span>
        <button
          type="button"
          class="button button-small button-secondary"
          onClick={() => post({ type: "redo-undone" })}
        >
          Redo
        </button>
      </div>
    </section>
  );
}

function barTitle(files: number, waiting: number): string {
  if (waiting > 0) return waiting === 1 ? "1 waits for you" : `${waiting} wait for you`;
  return files === 1 ? "1 file" : `${files} files`;
}

function ReviewLine({ file: { path, label, isWaiting, added, removed } }: { readonly file: ReviewedFile }) {
  const { post } = usePanel();
  return (
    <li>
      <button
        type="button"
        class="review-file"
        title={isWaiting ? `${path}: waits for your decision; open the diff` : `${path}: open the diff`}
        onClick={() => post({ type: "open-review", path })}
      >
        {isWaiting && <Icon name="clock" />}
        <span class="tool-title">{label}</span>
        <span class="count-added">+{added}</span>
        <span class="count-removed">−{removed}</span>
      </button>
      <button
        type="button"
        class="icon-button"
        title={isWaiting ? "Accept" : "Keep"}
        aria-label={`${isWaiting ? "Accept" : "Keep"} ${label}`}
        onClick={() => post({ type: "keep-file", path })}
      >
        <Icon name="check" />
      </button>
      <button
        type="button"
        class="icon-button"
        title={isWaiting ? "Reject" : "Undo"}
        aria-label={`${isWaiting ? "Reject" : "Undo"} ${label}`}
        onClick={() => post({ type: "undo-file", path })}
      >
        <Icon name={isWaiting ? "close" : "discard"} />
      </button>
    </li>
  );
}
