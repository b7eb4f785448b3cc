import { methods } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import type { HostMessage, PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";
import { type AgentConnection, HERMES_OFFERS } from "../../../../extension/agent/agent-connection.ts";
import { Panels } from "../../../../extension/chat/panels.ts";
import { SessionRouter, Sessions, type SessionsOptions } from "../../../../extension/chat/sessions.ts";

// Several sessions of one window: the panel shows one of them, each has a log of its own.
type Request = { readonly method: string; readonly sessionId: string | undefined };

const MODES = ["ask", "plan"].map((value) => ({ value, name: value }));
const modeOption = (currentValue: string) => ({
  configOptions: [{ id: "mode", name: "Mode", type: "select", category: "mode", currentValue, options: MODES }],
});

/** An agent whose turns end when the test says so. */
class FakeAgent {
  readonly requests: Request[] = [];
  readonly turns = new Map<string, PromiseWithResolvers<unknown>>();
  readonly busy = new Set<string>();
  /** Folders whose new sessions begin in a worktree, as with `worktree: true`. */
  readonly separate = new Set<string>();
  readonly folders: unknown[] = [];
  #count = 0;

  async request(
    method: string,
    params: { readonly sessionId?: string; readonly cwd?: string; readonly value?: string },
  ): Promise<unknown> {
    const { sessionId = "", cwd = "", value = "" } = params;
    this.requests.push({ method, sessionId: params.sessionId });
    if (method === methods.agent.session.setConfigOption) return modeOption(value);
    if (method === methods.agent.session.new) {
      this.#count += 1;
      this.folders.push(cwd);
      const hermes = { sandbox: null, startsInWorktree: this.separate.has(cwd) };
      return { sessionId: `s${this.#count}`, ...modeOption("ask"), _meta: { hermes } };
    }
    if (method === methods.agent.session.prompt) {
      const turn = Promise.withResolvers<unknown>();
      this.turns.set(sessionId, turn);
      return turn.promise;
    }
    if (method !== "_hermes/process/list") return {};
    const process = { id: "p1", command: "c", startedAt: 0, state: "running" };
    return { processes: this.busy.has(sessionId) ? [process] : [] };
  }

  async notify(method: string, params: { readonly sessionId?: string }): Promise<void> {
    this.requests.push({ method, sessionId: params.sessionId });
  }

  count(method: string, sessionId: string): number {
    return this.requests.filter((request) => request.method === method && request.sessionId === sessionId).length;
  }
}

const NO_DISK_EDITS: SessionsOptions["diskEdits"] = {
  begin: () => Promise.resolve(),
  collect: () => Promise.resolve(),
  end: () => Promise.resolve(),
};

function connectionTo(agent: FakeAgent): AgentConnection {
  return {
    name: undefined,
    title: "Hermes",
    offers: HERMES_OFFERS,
    agent: (async () => agent) as unknown as AgentConnection["agent"],
    explain: (error) => Promise.resolve(String(error)),
    signIn: () => Promise.resolve(false),
  };
}

function window(last?: string, running: readonly string[] = []) {
  const agent = new FakeAgent();
  const panels = new Panels(true, () => undefined);
  const router = new SessionRouter();
  const memory: { last: string | undefined; running: readonly string[] } = { last, running };
  const made: string[] = [];
  const options: SessionsOptions = {
    agentOf: () => connectionTo(agent),
    diskEdits: NO_DISK_EDITS,
    warnings: () => [],
    observed: () => undefined,
    promptBlocks: async ({ text }) => [{ type: "text", text }],
    worktree: async ({ cwd, name }) => {
      if (name === "fail") throw new Error("the disk is full");
      made.push(name);
      return {
        path: `${cwd}.worktrees/${made.length}`,
        branch: "hermes/x",
        base: cwd,
        problems: ["npm ci: exit code 1"],
      };
    },
    place: async (folder = "/w") => ({
      cwd: folder,
      additionalDirectories: [],
      mcpServers: [],
      _meta: { hermes: { trusted: true } },
    }),
    rememberModel: () => undefined,
    opened: () => undefined,
    lastShown: {
      get: () => memory.last,
      set: (sessionId) => {
        memory.last = sessionId;
      },
    },
    editors: { get: () => undefined, set: () => undefined },
    running: {
      get: () => memory.running,
      set: (sessionIds) => {
        memory.running = sessionIds;
      },
    },
  };
  const sent: HostMessage[] = [];
  panels.sideBar.connection.attach((message) => sent.push(message), "", 0);
  return { agent, made, panels, router, memory, sent, sessions: new Sessions(options, panels, router) };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Events that the panel got since it was last reset. */
function shown(sent: readonly HostMessage[]): readonly PanelEvent[] {
  const batches = sent.filter((message) => message.type === "events");
  const last = batches.slice(batches.findLastIndex(({ reset }) => reset));
  return last.flatMap(({ events }) => (typeof events === "string" ? (JSON.parse(events) as PanelEvent[]) : events));
}

const answer = (sessionId: string, text: string) => ({
  sessionId,
  update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } as const,
});

test("updates of a session that is not shown reach its own log only", async () => {
  const { agent, panels, router, sent, sessions } = window();
  await sessions.shown.open();
  const first = sessions.shown;
  agent.busy.add("s1");
  first.prompt({ text: "go" });
  await settled();
  sessions.showNew(panels.sideBar);
  await settled();
  const count = sent.length;
  router.update(answer("s1", "still here"));
  router.emit("s1", { kind: "notice", severity: "info", text: "noticed" });
  await settled();
  expect([sent.length, first.isRunning]).toEqual([count, true]);
  agent.turns.get("s1")?.resolve({ stopReason: "cancelled" });
  await settled();
  expect(shown(sent).map(({ kind }) => kind)).toEqual(["session", "queue"]);
  sessions.showStored(panels.sideBar, "s1");
  await settled();
  expect(sessions.shown).toBe(first);
  expect(shown(sent).map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(["session", "prompt", "update", "notice", "turn-end"]),
  );
  expect(agent.count(methods.agent.session.load, "s1")).toBe(0);
});

test("a session that is left closes when it is idle, but not while background processes run", async () => {
  const { agent, memory, panels, sessions } = window();
  await sessions.shown.open();
  sessions.showNew(panels.sideBar);
  await settled();
  expect([agent.count("session/cancel", "s1"), agent.count("session/close", "s1")]).toEqual([0, 1]);
  expect(memory.last).toBe("s2");
  agent.busy.add("s2");
  sessions.showNew(panels.sideBar);
  await settled();
  expect(agent.count("session/close", "s2")).toBe(0);
});

test("a turn continues in the background: it works, asks, is done, and is shown live again", async () => {
  const { agent, panels, sessions } = window();
  await sessions.shown.open();
  const first = sessions.shown;
  first.prompt({ text: "go" });
  await settled();
  sessions.showNew(panels.sideBar);
  await settled();
  const states = () => panels.facts.background.map(({ sessionId, state }) => `${sessionId} ${state}`);
  expect([states(), agent.count("session/cancel", "s1")]).toEqual([["s1 working"], 0]);
  sessions.setAsking(["s1"]);
  expect(states()).toEqual(["s1 asks"]);
  sessions.setAsking([]);
  agent.turns.get("s1")?.resolve({ stopReason: "end_turn" });
  await settled();
  expect(states()).toEqual(["s1 done"]);
  sessions.showStored(panels.sideBar, "s1");
  await settled();
  expect([states(), sessions.shown === first, agent.count("session/load", "s1")]).toEqual([[], true, 0]);
});

test("a session that is closing is loaded only after it was closed", async () => {
  const { agent, panels, sessions } = window();
  await sessions.shown.open();
  sessions.showNew(panels.sideBar);
  sessions.showStored(panels.sideBar, "s1");
  await settled();
  const order = agent.requests.filter(({ sessionId }) => sessionId === "s1").map(({ method }) => method);
  expect(order.slice(-3)).toEqual(["_hermes/process/list", "session/close", "session/load"]);
});

test("a turn that ends with its window is offered for continuation in the next one", async () => {
  const { agent, memory, sessions } = window();
  await sessions.shown.open();
  sessions.shown.prompt({ text: "go" });
  await settled();
  sessions.freeze();
  agent.turns.get("s1")?.resolve({ stopReason: "cancelled" });
  await settled();
  expect(memory.running).toEqual(["s1"]);
  const next = window("s1", memory.running);
  await next.sessions.shown.open();
  await settled();
  expect(shown(next.sent).map(({ kind }) => kind)).toContain("interrupted");
  next.sessions.shown.prompt({ text: "Continue." });
  await settled();
  next.agent.turns.get("s1")?.resolve({ stopReason: "end_turn" });
  await settled();
  expect(next.memory.running).toEqual([]);
});

test("the window starts with the session that it showed last", async () => {
  const { agent, sessions } = window("old");
  await sessions.shown.open();
  expect([sessions.shown.sessionId, agent.count("session/load", "old")]).toEqual(["old", 1]);
});

test("a prompt that is sent while a session is being replaced goes into the new one", async () => {
  const { agent, panels, sent, sessions } = window();
  await sessions.shown.open();
  sessions.showNew(panels.sideBar);
  sessions.shown.prompt({ text: "for the new one" });
  await settled();
  expect(agent.count("session/prompt", "s2")).toBe(1);
  expect(shown(sent).map(({ kind }) => kind)).toEqual(["session", "queue", "prompt"]);
});

test("a turn in the background leaves the panel alone, and an acknowledged result loses its badge", async () => {
  const { agent, panels, sessions } = window();
  await sessions.shown.open();
  const events: PanelEvent[] = [];
  const session = sessions.startInBackground({ text: "close the menu" });
  const stopObserving = session.log.observe((event) => events.push(event));
  await settled();
  expect(sessions.shown.sessionId).toBe("s1");
  expect(panels.facts.background).toEqual([{ sessionId: "s2", state: "working", isInSight: false }]);
  agent.turns.get("s2")?.resolve({ stopReason: "end_turn" });
  await settled();
  expect(events.at(-1)).toEqual({ kind: "turn-end", stopReason: "end_turn" });
  expect(panels.facts.background).toEqual([{ sessionId: "s2", state: "done", isInSight: false }]);
  sessions.acknowledge(session);
  expect(panels.facts.background).toEqual([]);
  expect(agent.count(methods.agent.session.close, "s2")).toBe(0);
  stopObserving();
  session.log.push({ kind: "interrupted" });
  expect(events.at(-1)?.kind).toBe("turn-end");
});

/** A tab of the editor whose page runs. */
function openTab(panels: Panels) {
  const seen: string[] = [];
  const tab = panels.addTab(() => seen.push("revealed"));
  const sent: HostMessage[] = [];
  tab.connection.attach((message) => sent.push(message), "", 0);
  return { tab, sent, seen };
}

test("the session of the side bar moves into a tab with its turn, and back when the tab returns it", async () => {
  const { agent, memory, panels, router, sent, sessions } = window();
  await sessions.shown.open();
  const first = sessions.shown;
  first.prompt({ text: "go" });
  await settled();
  const { tab, sent: toTab } = openTab(panels);
  sessions.moveToTab(tab);
  await settled();
  router.update(answer("s1", "in the tab"));
  await settled();
  expect([tab.shown === first, panels.sideBar.shown.sessionId, memory.last]).toEqual([true, "s2", "s2"]);
  expect(shown(toTab).map(({ kind }) => kind)).toEqual(["session", "queue", "prompt", "update"]);
  expect(shown(sent).map(({ kind }) => kind)).toEqual(["session", "queue"]);
  sessions.moveToSideBar(tab);
  sessions.closeTab(tab);
  router.update(answer("s1", "in the side bar"));
  await settled();
  expect([panels.sideBar.shown === first, memory.last, agent.count("session/close", "s1")]).toEqual([true, "s1", 0]);
  expect(
    shown(sent)
      .map(({ kind }) => kind)
      .at(-1),
  ).toBe("update");
  expect(agent.count("session/close", "s2")).toBe(1);
});

test("a session is in one panel: opening it elsewhere reveals that panel", async () => {
  const { agent, panels, sessions } = window();
  await sessions.shown.open();
  const { tab, seen } = openTab(panels);
  sessions.showNew(tab);
  await settled();
  sessions.showStored(panels.sideBar, "s2");
  expect([seen, panels.sideBar.shown.sessionId, agent.count("session/load", "s2")]).toEqual([["revealed"], "s1", 0]);
});

test("a closed tab leaves its session: an idle one closes, a running turn continues in the background", async () => {
  const { agent, panels, sessions } = window();
  await sessions.shown.open();
  const [idle, busy] = [openTab(panels).tab, openTab(panels).tab];
  sessions.showNew(idle);
  await settled();
  sessions.showNew(busy);
  await settled();
  busy.shown.prompt({ text: "go" });
  await settled();
  sessions.closeTab(idle);
  sessions.closeTab(busy);
  await settled();
  expect([agent.count("session/close", "s2"), agent.count("session/close", "s3")]).toEqual([1, 0]);
  expect(panels.facts.background).toEqual([{ sessionId: "s3", state: "working", isInSight: false }]);
});

test("a restored tab loads its session, and gets a new one when another panel has it", async () => {
  const { agent, panels, sessions } = window("old");
  await sessions.shown.open();
  const [restored, taken] = [openTab(panels).tab, openTab(panels).tab];
  sessions.restoreTab(restored, "kept");
  sessions.restoreTab(taken, "old");
  await settled();
  expect([restored.shown.sessionId, agent.count("session/load", "kept")]).toEqual(["kept", 1]);
  expect([taken.shown.sessionId, agent.count("session/load", "old")]).toEqual(["s1", 1]);
});

test("a turn in a hidden tab is done until the user sees the tab, and its requests are out of sight", async () => {
  const { agent, panels, sessions } = window();
  await sessions.shown.open();
  const { tab } = openTab(panels);
  sessions.showNew(tab);
  await settled();
  tab.shown.prompt({ text: "go" });
  tab.connection.detach();
  sessions.setAsking(["s2"]);
  expect([sessions.stateOf(tab.shown), panels.isInSight(tab.shown)]).toEqual(["asks", false]);
  sessions.setAsking([]);
  await settled();
  agent.turns.get("s2")?.resolve({ stopReason: "end_turn" });
  await settled();
  expect(sessions.stateOf(tab.shown)).toBe("done");
  tab.connection.attach(() => undefined, "", 0);
  expect([sessions.stateOf(tab.shown), panels.isInSight(tab.shown)]).toEqual([undefined, true]);
});

test("facts reach every panel, and commands the panel that the user used last", async () => {
  const { panels, sent, sessions } = window();
  const { tab, sent: toTab } = openTab(panels);
  sessions.showNew(tab);
  const commands = (messages: readonly HostMessage[]) => messages.filter(({ type }) => type === "command").length;
  panels.setFacts({ undone: 3 });
  expect([sent.at(-1), toTab.at(-1)]).toMatchObject([{ facts: { undone: 3 } }, { facts: { undone: 3 } }]);
  panels.active = tab;
  panels.command({ kind: "show-setup" });
  expect([commands(sent), commands(toTab), sessions.shown === tab.shown]).toEqual([0, 1, true]);
  sessions.closeTab(tab);
  panels.command({ kind: "show-setup" });
  expect([commands(sent), commands(toTab), sessions.shown === panels.sideBar.shown]).toEqual([1, 1, true]);
});

test("the first message of a session begins in a worktree of its own, with the mode that was chosen before", async () => {
  const { agent, made, panels, sent, sessions } = window();
  agent.separate.add("/w");
  sessions.showNew(panels.sideBar);
  const { shown: session } = sessions;
  await session.open();
  await session.setConfig("mode", "plan");
  session.prompt({ text: "/model other" });
  await settled();
  expect([made, session.folder]).toEqual([[], undefined]);
  agent.turns.get(session.sessionId ?? "")?.resolve({ stopReason: "end_turn" });
  await settled();
  const before = session.sessionId;
  session.prompt({ text: "Fix the flaky test" });
  await settled();
  expect([made, session.folder, agent.folders.at(-1)]).toEqual([
    ["Fix the flaky test"],
    "/w.worktrees/1",
    "/w.worktrees/1",
  ]);
  expect([session.option("mode")?.currentValue, agent.count("session/close", before ?? "")]).toEqual(["plan", 1]);
  const events = shown(sent);
  expect(events.flatMap((event) => (event.kind === "notice" ? event.text : []))).toEqual([
    expect.stringContaining("This session works in /w.worktrees/1."),
    "npm ci: exit code 1",
  ]);
  expect(events.filter(({ kind }) => kind === "prompt")).toHaveLength(1);
  agent.turns.get(session.sessionId ?? "")?.resolve({ stopReason: "end_turn" });
  await settled();
  session.prompt({ text: "And the docs" });
  await settled();
  expect(made).toEqual(["Fix the flaky test"]);
});

test.each(["早い者勝ち", "?!", "fail"])(
  "a message %j before its session is open waits for the worktree",
  async (text) => {
    const { agent, made, panels, sent, sessions } = window();
    agent.separate.add("/w");
    const session = sessions.withoutPanel();
    session.prompt({ text });
    sessions.show(panels.sideBar, session);
    await settled();
    const failures = shown(sent).flatMap((event) => (event.kind === "turn-end" ? (event.error ?? []) : []));
    const name = text === "?!" ? "session" : text;
    expect([made, failures.join()]).toEqual(text === "fail" ? [[], "Error: the disk is full"] : [[name], ""]);
    expect(agent.folders.filter((folder) => folder !== "/w")).toHaveLength(made.length);
  },
);
