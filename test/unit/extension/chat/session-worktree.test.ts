import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { settled, shown, window } from "./support/session-window.ts";

test("the first message of a session begins in a worktree of its own, with the mode that was chosen before", async () => {
  const { agent, made, places, panels, sent, sessions } = window();
  agent.separate.add("/w");
  sessions.showNew(panels.sideBar);
  const { shown: session } = sessions;
  await session.open();
  await session.setConfig("mode", "plan");
  session.prompt({ text: "/model other" }, { isTask: !session.worktree.isCommand("/model other") });
  await settled();
  expect([made, session.worktree.folder]).toEqual([[], undefined]);
  agent.turns.get(session.sessionId ?? "")?.resolve({ stopReason: "end_turn" });
  await settled();
  const before = session.sessionId;
  session.prompt({ text: "Fix the flaky test" }, { isTask: true });
  await settled();
  expect([made, session.worktree.folder, agent.folders.at(-1)]).toEqual([["Fix the flaky test"], places[0], places[0]]);
  expect([session.option("mode")?.currentValue, agent.count("session/close", before ?? "")]).toEqual(["plan", 1]);
  const events = shown(sent);
  expect(events.flatMap((event) => (event.kind === "notice" ? event.text : []))).toEqual(["npm ci: exit code 1"]);
  expect(events.filter(({ kind }) => kind === "worktree")).toEqual([{ kind: "worktree", name: "1" }]);
  expect(events.filter(({ kind }) => kind === "prompt")).toHaveLength(1);
  agent.turns.get(session.sessionId ?? "")?.resolve({ stopReason: "end_turn" });
  await settled();
  session.prompt({ text: "And the docs" }, { isTask: true });
  await settled();
  expect(made).toEqual(["Fix the flaky test"]);
});

test("a message that the user did not type stays in the folder of the window, and so do those after it", async () => {
  const { agent, made, sessions } = window();
  agent.separate.add("/w");
  const session = sessions.startInBackground({ text: "Change it here" });
  await settled();
  sessions.update({
    sessionId: "s1",
    update: { sessionUpdate: "session_info_update", _meta: { hermes: { position: 0 } } },
  });
  agent.turns.get("s1")?.resolve({ stopReason: "end_turn" });
  await settled();
  session.prompt({ text: "And the docs" }, { isTask: true });
  await settled();
  expect([made, agent.folders, agent.count("session/prompt", "s1")]).toEqual([[], ["/w"], 2]);
});

test("a message in a worktree that is gone reaches no agent, and one in the folders of the window and a fork do", async () => {
  const { agent, places, panels, sent, sessions } = window();
  agent.separate.add("/w");
  sessions.showNew(panels.sideBar);
  const { shown: session } = sessions;
  session.prompt({ text: "Fix it" }, { isTask: true });
  await settled();
  agent.turns.get(session.sessionId ?? "")?.resolve({ stopReason: "end_turn" });
  await settled();
  const before = session.sessionId ?? "";
  rmSync(places[0] ?? "", { recursive: true });
  session.prompt({ text: "And the docs" }, { isTask: true });
  await settled();
  const error = expect.stringContaining("The folder of this session is gone: w.worktrees/1");
  expect(shown(sent).at(-1)).toEqual({ kind: "turn-end", error, fault: "folder-gone" });
  expect(agent.count("session/prompt", before)).toBe(1);
  session.prompt({ text: "/compress" });
  await settled();
  expect(agent.count("session/prompt", before)).toBe(2); // a command needs no folder
  agent.turns.get(before)?.resolve({ stopReason: "end_turn" });
  await settled();
  session.dispatch({ type: "resend", position: 0, text: "Fix it well" });
  await settled();
  expect(agent.requests.filter(({ method }) => method === "_hermes/session/rewind")).toEqual([]);
  await sessions.fork(before).catch(() => undefined); // the fake agent forks nothing
  expect(agent.folders.at(-1)).toBe("/w");
  session.leaveFolder();
  session.prompt({ text: "And the docs" });
  await settled();
  expect([session.worktree.folder, agent.count("session/load", before), agent.count("session/prompt", before)]).toEqual(
    [undefined, 1, 3],
  );
});

test("commands are those that the agent knows, and any word after a slash before it has sent them", () => {
  const { sessions } = window();
  const { shown: session } = sessions;
  const texts = ["/help", "/memory undo", "／status", "/tmp is full", "/usr/bin is full", "Say /help", "/fix"];
  const commands = () => texts.filter((text) => session.worktree.isCommand(text));
  expect(commands()).toEqual(["/help", "/memory undo", "／status", "/tmp is full", "/fix"]);
  const availableCommands = ["help", "memory", "status"].map((name) => ({ name, description: name }));
  session.receive({ sessionUpdate: "available_commands_update", availableCommands });
  expect(commands()).toEqual(["/help", "/memory undo", "／status", "/fix"]);
});

test.each([true, false])("Stop ends the start of a worktree (session open before: %j)", async (isOpen) => {
  const { agent, made, places, panels, sent, sessions } = window();
  agent.separate.add("/w");
  const session = sessions.withoutPanel();
  if (isOpen) await session.open();
  session.worktree.isWanted = true;
  session.prompt({ text: "slow" }, { isTask: true });
  sessions.show(panels.sideBar, session);
  await settled();
  const ofTurn = () => shown(sent).flatMap((event) => (/prompt|turn-end/.test(event.kind) ? event.kind : []));
  expect([session.isRunning, ofTurn()]).toEqual([true, ["prompt"]]);
  session.dispatch({ type: "cancel" });
  await settled();
  expect([session.isRunning, ofTurn()]).toEqual([false, ["prompt", "turn-end"]]);
  expect(shown(sent).at(-1)).toEqual({ kind: "turn-end", stopReason: "cancelled" });
  session.prompt({ text: "Fix it" }, { isTask: true });
  await settled();
  expect([made, session.worktree.folder, ofTurn()]).toEqual([["Fix it"], places[0], ["prompt"]]);
});

test.each(["早い者勝ち", "?!", "fail"])(
  "a message %j before its session is open waits for the worktree",
  async (text) => {
    const { agent, made, panels, sent, sessions } = window();
    agent.separate.add("/w");
    const session = sessions.withoutPanel();
    session.prompt({ text }, { isTask: true });
    sessions.show(panels.sideBar, session);
    await settled();
    const failures = shown(sent).flatMap((event) => (event.kind === "turn-end" ? (event.error ?? []) : []));
    const name = text === "?!" ? "session" : text;
    expect([made, failures.join()]).toEqual(text === "fail" ? [[], "Error: the disk is full"] : [[name], ""]);
    expect(agent.folders.filter((folder) => folder !== "/w")).toHaveLength(made.length);
  },
);
