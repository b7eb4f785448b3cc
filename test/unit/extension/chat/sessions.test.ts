import { methods } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import type { HostMessage, PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";
import type { Panels } from "../../../../extension/chat/panels.ts";
import { answer, settled, shown, window } from "./support/session-window.ts";

test("updates of a session that is not shown reach its own log only", async () => {
  const { agent, panels, sent, sessions } = window();
  await sessions.shown.open();
  const first = sessions.shown;
  agent.busy.add("s1");
  first.prompt({ text: "go" });
  await settled();
  sessions.showNew(panels.sideBar);
  await settled();
  const count = sent.length;
  sessions.update(answer("s1", "still here"));
  sessions.emit("s1", { kind: "notice", severity: "info", text: "noticed" });
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

test("a turn of the background that the side bar shows is there after a reload, and stays open when it ends", async () => {
  const { agent, memory, panels, sessions } = window();
  await sessions.shown.open();
  const session = sessions.startInBackground({ text: "plan it" });
  await settled();
  sessions.show(panels.sideBar, session);
  agent.turns.get("s2")?.resolve({ stopReason: "end_turn" });
  await settled();
  expect([memory.last, sessions.shown === session, agent.count("session/close", "s2")]).toEqual(["s2", true, 0]);
});

test("a session that its keeper prompts after it was closed gets the agent's answer", async () => {
  const { agent, panels, sessions } = window();
  const session = sessions.startInBackground({ text: "edit" });
  await settled();
  const id = session.sessionId ?? "";
  agent.turns.get(id)?.resolve({ stopReason: "end_turn" });
  await settled();
  sessions.acknowledge(session);
  agent.busy.add(id);
  sessions.showStored(panels.sideBar, id);
  await settled();
  sessions.showNew(panels.sideBar);
  await settled();
  agent.busy.delete(id);
  sessions.agentRestarted();
  await settled();
  expect(sessions.open.has(id)).toBe(false);
  const events: PanelEvent[] = [];
  session.log.observe((event) => events.push(event));
  sessions.startInBackground({ text: "follow up" }, session);
  await settled();
  const said = answer(id, "the answer");
  sessions.update(said);
  expect(events).toContainEqual({ kind: "update", update: said.update });
});

/** A tab of the editor whose page runs. */
function openTab(panels: Panels) {
  const seen: string[] = [];
  const tab = panels.add("tab", () => seen.push("revealed"));
  const sent: HostMessage[] = [];
  tab.attach((message) => sent.push(message), "", 0);
  return { tab, sent, seen };
}

test("the session of the side bar moves into a tab with its turn, and back when the tab returns it", async () => {
  const { agent, memory, panels, sent, sessions } = window();
  await sessions.shown.open();
  const first = sessions.shown;
  first.prompt({ text: "go" });
  await settled();
  const { tab, sent: toTab } = openTab(panels);
  sessions.moveToTab(tab);
  await settled();
  sessions.update(answer("s1", "in the tab"));
  await settled();
  expect([tab.shown === first, panels.sideBar.shown.sessionId, memory.last]).toEqual([true, "s2", "s2"]);
  expect(shown(toTab).map(({ kind }) => kind)).toEqual(["session", "queue", "prompt", "update"]);
  expect(shown(sent).map(({ kind }) => kind)).toEqual(["session", "queue"]);
  sessions.show(panels.sideBar, tab.shown);
  sessions.closeTab(tab);
  sessions.update(answer("s1", "in the side bar"));
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
  tab.detach();
  sessions.setAsking(["s2"]);
  expect([sessions.stateOf(tab.shown), panels.isInSight(tab.shown)]).toEqual(["asks", false]);
  sessions.setAsking([]);
  await settled();
  agent.turns.get("s2")?.resolve({ stopReason: "end_turn" });
  await settled();
  expect(sessions.stateOf(tab.shown)).toBe("done");
  tab.attach(() => undefined, "", 0);
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

test("the agent hears that a message waits for the end of the turn, and that none does any more", async () => {
  const { agent, panels, sessions } = window();
  sessions.showNew(panels.sideBar);
  const { shown: session } = sessions;
  session.prompt({ text: "one" });
  await settled();
  session.prompt({ text: "two" });
  await settled();
  const counts = () => ["_hermes/session/waits", "session/prompt"].map((method) => agent.count(method, "s1"));
  expect(counts()).toEqual([1, 1]);
  agent.turns.get("s1")?.resolve({ stopReason: "end_turn" });
  await settled();
  expect(counts()).toEqual([2, 2]);
});
