import { expect, test, vi } from "vitest";
import type { HermesExtensionItem } from "../../../agent-core/protocol/extensions.ts";
import type { HistoryPage, HostMessage, PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../../../agent-core/protocol/panel-messages.ts";
import { Panel } from "../../../webview/panel.ts";
import { sessionEvent } from "./support/session-event.ts";

// The panel alone decides which page it shows; commands of the host are run once.
const list: HistoryPage = {
  query: "",
  everywhere: false,
  isArchive: false,
  sessions: [],
  hasMore: false,
  isLoading: false,
};

class FakeHost {
  readonly posted: PanelMessage[] = [];
  #kept: unknown;
  #epochs = 0;

  getState = (): unknown => this.#kept;
  setState = (value: unknown): void => {
    this.#kept = structuredClone(value);
  };
  postMessage = (message: PanelMessage): void => {
    this.posted.push(message);
  };

  /** A panel that paints at once. */
  open(): Panel {
    const panel = new Panel(this, { now: () => 0, nextFrame: (paint) => paint() });
    panel.start();
    return panel;
  }

  begins(sessionId: string): HostMessage {
    this.#epochs += 1;
    return { type: "events", epoch: String(this.#epochs), first: 0, reset: true, events: [sessionEvent(sessionId)] };
  }

  take(): readonly PanelMessage[] {
    return this.posted.splice(0).filter(({ type }) => type !== "ack" && type !== "ready");
  }
}

test("the list of sessions stays open, and its search keeps the focus, when the open session is replaced", () => {
  const host = new FakeHost();
  const panel = host.open();
  panel.receive(host.begins("s1"));
  panel.receive({ type: "command", id: "c1", command: { kind: "show-sessions" } });
  panel.receive({ type: "history", update: { kind: "page", page: list } });
  const { route } = panel.store.shown.value;
  host.take();
  panel.receive({ type: "command", id: "c2", command: { kind: "replace-session" } });
  expect(host.take()).toEqual([{ type: "new-session" }, { type: "command-done", id: "c2" }]);
  panel.receive(host.begins("s2"));
  expect(panel.store.shown.value).toMatchObject({ sessionId: "s2", route, history: list });
});

test("the list closes when the session chosen in it begins, not before", () => {
  const host = new FakeHost();
  const panel = host.open();
  panel.receive(host.begins("s1"));
  panel.showSessions();
  panel.receive({ type: "facts", facts: panel.store.state.facts });
  panel.openSession("s2");
  expect(panel.store.shown.value.route.sessions).toBe(true);
  panel.receive(host.begins("s2"));
  expect(panel.store.shown.value.route.sessions).toBe(false);
  panel.showSessions();
  host.take();
  panel.openSession("s2");
  expect(panel.store.shown.value.route.sessions).toBe(false);
  expect(host.take()).toEqual([{ type: "history-close" }]);
});

test("the list opens without the query and the results of the last time", () => {
  const host = new FakeHost();
  const panel = host.open();
  panel.showSessions();
  panel.searchSessions({ query: "old" });
  panel.receive({ type: "history", update: { kind: "page", page: { ...list, query: "old" } } });
  panel.showSessions();
  expect(panel.store.shown.value.history.query).toBe("old");
  panel.closeSessions();
  panel.showSessions();
  expect(panel.store.shown.value.history).toMatchObject({ query: "", sessions: [], isLoading: true });
});

test("a message that is sent closes the list; a panel that is drawn again shows the page it showed", () => {
  const host = new FakeHost();
  host.open().showSessions();
  host.take();
  const panel = host.open();
  expect(panel.store.shown.value.route.sessions).toBe(true);
  expect(host.take()).toEqual([{ type: "history-search", query: "", everywhere: false, isArchive: false }]);
  const prompt: PanelEvent = { kind: "prompt", id: "p", text: "go" };
  panel.receive({ type: "events", epoch: "e", first: 0, reset: true, events: [sessionEvent("s"), prompt] });
  expect(panel.store.shown.value.route.sessions).toBe(false);
});

test("text for the composer goes before the draft, and stays there when the panel is drawn again", () => {
  const host = new FakeHost();
  const panel = host.open();
  panel.write("typed");
  panel.receive({ type: "command", id: "a", command: { kind: "compose", text: "queued" } });
  panel.receive({ type: "command", id: "b", command: { kind: "compose" } });
  expect([panel.draft.value.text, panel.composerFocus.value]).toEqual(["queued\n\ntyped", 2]);
  expect(host.take()).toEqual([
    { type: "command-done", id: "a" },
    { type: "command-done", id: "b" },
  ]);
  const again = host.open();
  expect([again.draft.value.text, again.composerFocus.value]).toEqual(["queued\n\ntyped", 0]);
});

test("an unsent message leaves the composer for the panel that its session moves to", () => {
  const host = new FakeHost();
  const panel = host.open();
  panel.write("not sent yet");
  host.take();
  panel.receive({ type: "command", id: "1", command: { kind: "give-draft" } });
  expect(host.take()).toEqual([
    { type: "draft", text: "not sent yet", attachments: [] },
    { type: "command-done", id: "1" },
  ]);
  expect(panel.draft.value).toEqual({ text: "", attachments: [] });
});

test("the page of extensions is requested when it opens, and what it showed is not mentioned again", () => {
  const host = new FakeHost();
  const panel = host.open();
  panel.receive(host.begins("s1"));
  const failed: HermesExtensionItem = {
    id: "mcp git",
    kind: "mcp",
    name: "git",
    source: "config.yaml",
    state: "failed",
    detail: "npx",
    actions: [],
  };
  const { facts } = panel.store.state;
  panel.receive({ type: "facts", facts: { ...facts, extensions: [{ sessionId: "s1", items: [failed] }] } });
  host.take();
  panel.receive({ type: "command", id: "c1", command: { kind: "show-extensions" } });
  expect(host.take()).toEqual([{ type: "extensions-list" }, { type: "command-done", id: "c1" }]);
  panel.closeExtensions();
  expect(panel.store.shown.value).toMatchObject({ route: { extensions: false }, seenExtensions: ["failed mcp git"] });
  expect(host.open().store.shown.value.seenExtensions).toEqual(["failed mcp git"]);
});

test("the host gets a search after a pause in typing, and pages of an earlier search are dropped", () => {
  vi.useFakeTimers();
  try {
    const host = new FakeHost();
    const panel = host.open();
    const shown = () => panel.store.shown.value.history;
    panel.showSessions();
    panel.receive({ type: "history", update: { kind: "page", page: list } });
    host.take();
    panel.searchSessions({ query: "tw" });
    panel.searchSessions({ query: "two" });
    expect([host.take(), shown().query, shown().isLoading]).toEqual([[], "two", true]);
    vi.advanceTimersByTime(1_000);
    const search = { query: "two", everywhere: false, isArchive: false };
    expect(host.take()).toEqual([{ type: "history-search", ...search }]);
    panel.searchSessions({ isArchive: true });
    panel.receive({ type: "history", update: { kind: "page", page: { ...list, ...search, hasMore: true } } });
    expect(shown()).toMatchObject({ ...search, isArchive: true, hasMore: false });
  } finally {
    vi.useRealTimers();
  }
});

test("a search still in its pause is not sent after the list was closed", () => {
  vi.useFakeTimers();
  try {
    const host = new FakeHost();
    const panel = host.open();
    panel.showSessions();
    panel.searchSessions({ query: "two" });
    panel.closeSessions();
    panel.showSessions();
    host.take();
    vi.advanceTimersByTime(1_000);
    expect([host.take(), panel.store.shown.value.history.query]).toEqual([[], ""]);
  } finally {
    vi.useRealTimers();
  }
});
