/** What a restore did to files, with the way back. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { RestoredEntry } from "../state/state.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export function RestoreLine({ entry: { key, text, leftAlone, restoreId } }: { readonly entry: RestoredEntry }) {
  const { store, post } = usePanel();
  const line = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // What it came from stood anywhere above; the button that had the focus is gone.
    if (store.shown.value.entries.at(-1)?.key !== key) return;
    line.current?.scrollIntoView({ block: "end" });
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
