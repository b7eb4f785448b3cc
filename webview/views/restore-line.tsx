/** What a restore did to files, with the way back. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { RestoredEntry } from "../state/state.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

/** Lines that have been on screen: one that comes back into the page takes no focus. */
const seen = new WeakSet<RestoredEntry>();

export function RestoreLine({ entry }: { readonly entry: RestoredEntry }) {
  const { key, text, leftAlone, restoreId } = entry;
  const { store, post } = usePanel();
  const line = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (seen.has(entry) || store.shown.value.entries.at(-1)?.key !== key) return;
    seen.add(entry);
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
