/** What a restore did to files, with the way back. */
import type { RestoredEntry } from "../state/state.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export function RestoreLine({ entry: { text, leftAlone, restoreId } }: { readonly entry: RestoredEntry }) {
  const { post } = usePanel();
  return (
    <div class="entry notice restore-line">
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
