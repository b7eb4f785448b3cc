import { expect, test } from "vitest";
import { PanelMemory } from "../../../webview/panel-memory.ts";
import type { PanelEvent } from "../../../webview/panel-protocol.ts";
import { reduceAll } from "../../../webview/state/reduce.ts";
import { emptyState } from "../../../webview/state/state.ts";

const WISHES: readonly PanelEvent[] = [
  { kind: "compose", id: "a", text: "what waited" },
  { kind: "compose", id: "b" },
];

/** What VS Code keeps for a panel, whatever becomes of it. */
function keeper(value?: unknown) {
  let kept = value;
  return {
    getState: () => kept,
    setState: (state: unknown) => {
      kept = structuredClone(state);
    },
  };
}

test("wishes that come together are all fulfilled, and a panel that is drawn anew fulfils none again", () => {
  const kept = keeper();
  const memory = new PanelMemory(kept);
  const { wishes } = reduceAll(emptyState, WISHES, 0);
  expect(wishes.filter(({ id }) => !memory.isFulfilled(id))).toEqual([
    { id: "a", text: "what waited" },
    { id: "b", text: undefined },
  ]);
  for (const { id } of wishes) memory.fulfil(id);
  const later: PanelEvent = { kind: "compose", id: "c", text: "new" };
  const anew = new PanelMemory(kept);
  const again = reduceAll(emptyState, [...WISHES, later], 0).wishes;
  expect(again.filter(({ id }) => !anew.isFulfilled(id))).toEqual([{ id: "c", text: "new" }]);
});

test.each([undefined, null, 7, { fulfilled: "a" }, { fulfilled: [1, { id: "a" }] }])(
  "what is kept in another form is left out: %j",
  (value) => expect(new PanelMemory(keeper(value)).isFulfilled("a")).toBe(false),
);
