import { expect, test } from "vitest";
import type { HermesExtensionItem } from "../../../agent-core/protocol/extensions.ts";
import { attentionKey, attentionText, extensionsOf, needingAttention } from "../../../webview/state/extensions.ts";
import { reduce, type StateEvent } from "../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../webview/state/state.ts";
import { sessionEvent } from "./support/session-event.ts";

const item = (name: string, state: HermesExtensionItem["state"]): HermesExtensionItem => ({
  id: `mcp ${name}`,
  kind: "mcp",
  name,
  source: "config.yaml",
  state,
  detail: "npx",
  actions: [],
});
const items = (...all: readonly HermesExtensionItem[]): StateEvent => ({
  type: "facts",
  facts: { ...emptyState.facts, extensions: [{ sessionId: "s", items: all }] },
});
const play = (...events: readonly StateEvent[]): PanelState =>
  [sessionEvent("s"), ...events].reduce((state, event) => reduce(state, event, 0), emptyState);

test("only the extensions of the session shown are listed", () => {
  expect(extensionsOf(play(items(item("git", "on"))))).toEqual([item("git", "on")]);
  expect(extensionsOf(play(items(item("git", "on")), sessionEvent("other")))).toEqual([]);
});

test("an extension that fails or needs the user is named once, until its state changes", () => {
  expect(attentionText(needingAttention(play(items(item("git", "on"), item("db", "off")))))).toBeUndefined();
  const failed = play(items(item("git", "failed"), item("db", "on")));
  expect(attentionText(needingAttention(failed))).toBe("git has failed");
  expect(failed.announcement.text).toBe("git has failed");
  const seen = reduce(failed, { kind: "extensions-seen", keys: [attentionKey(item("git", "failed"))] }, 0);
  expect(needingAttention(seen)).toEqual([]);
  expect(needingAttention(reduce(seen, sessionEvent("s"), 0))).toEqual([]);
  const both = reduce(seen, items(item("git", "needs-sign-in"), item("db", "needs-consent")), 0);
  expect(attentionText(needingAttention(both))).toBe("2 extensions need your attention");
});

test("an action is shown as running, then with its outcome, which a screen reader hears", () => {
  const asked = play({ kind: "extension-asked", id: "mcp git" });
  expect(asked.extensionActs.get("mcp git")).toEqual({ isRunning: true });
  const acted = { id: "mcp git", message: "git was restarted.", isError: false };
  const done = reduce(asked, { type: "extension-acted", acted }, 0);
  expect(done.extensionActs.get("mcp git")).toEqual({ isRunning: false, text: "git was restarted.", isError: false });
  expect(done.announcement.text).toBe("git was restarted.");
});
