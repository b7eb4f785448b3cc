/** Going back to an earlier message: the card that shows what it would do, and what became of it. */
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { fieldsOf, hermesField, type Meta } from "./hermes-meta.ts";
import { rewindTo } from "./rewind.ts";
import type { PanelState, RestoredEntry } from "./state.ts";
import { announce } from "./state.ts";
import { addEntry } from "./transcript.ts";

/** Shows the card under the message that it belongs to, or takes it away. */
export function previewRestore(
  state: PanelState,
  { position, preview }: Extract<PanelEvent, { kind: "restore-preview" }>,
): PanelState {
  if (preview === null) return state.restore?.position === position ? { ...state, restore: undefined } : state;
  const shown = { ...state, restore: { position, preview } };
  const count = preview.files.filter(({ leftAlone }) => leftAlone === undefined).length;
  return announce(shown, `Restore to here: ${files(count)} would change`);
}

/** Adds the line that tells what was restored; only the last one can be undone. `at`: clock, milliseconds. */
export function addRestored(
  state: PanelState,
  { files: all, isUndo, restoreId }: Extract<PanelEvent, { kind: "restored" }>,
  at: number,
): PanelState {
  const leftAlone = all.filter((file) => file.leftAlone !== undefined);
  const entry: Omit<RestoredEntry, "key"> = {
    type: "restored",
    text: `${isUndo ? "Undid the restore of" : "Restored"} ${files(all.length - leftAlone.length)}`,
    leftAlone,
    restoreId,
  };
  const entries = state.entries.map((earlier) =>
    earlier.type === "restored" ? { ...earlier, restoreId: undefined } : earlier,
  );
  const left = leftAlone.length === 0 ? "" : `, ${files(leftAlone.length)} left alone`;
  return announce(addEntry({ ...state, entries, restore: undefined }, entry, at), `${entry.text}${left}`);
}

/** Takes messages back when `_meta.hermes.rewound` says so. */
export function rewound(state: PanelState, meta: Meta, at: number): PanelState {
  const { position } = fieldsOf(hermesField(meta, "rewound"));
  if (typeof position !== "number") return state;
  return { ...rewindTo(state, position, at), restore: undefined };
}

function files(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}
