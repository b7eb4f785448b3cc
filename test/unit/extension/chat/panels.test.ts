import { expect, test } from "vitest";
import type { HostMessage } from "../../../../agent-core/protocol/panel-events.ts";
import type { ChatSession } from "../../../../extension/chat/chat-session.ts";
import { EventLog } from "../../../../extension/chat/event-log.ts";
import { type ChatPanel, Panels } from "../../../../extension/chat/panels.ts";

const sideBar = (panels = new Panels(true, () => undefined)) => panels.sideBar;

const attach = (panel: ChatPanel): HostMessage[] => {
  const sent: HostMessage[] = [];
  panel.attach((message) => sent.push(message), "", 0);
  return sent;
};
const commands = (sent: readonly HostMessage[]) => sent.filter((message) => message.type === "command");

test("a command waits for a panel and is sent until a panel has run it", () => {
  const panel = sideBar();
  panel.command({ kind: "compose", text: "one" });
  const first = attach(panel);
  panel.command({ kind: "show-sessions" });
  expect(commands(first).map(({ command }) => command.kind)).toEqual(["compose", "show-sessions"]);
  panel.commandDone(commands(first)[0]?.id ?? "");
  panel.detach();
  const second = attach(panel);
  expect(commands(second)).toEqual([commands(first)[1]]);
  panel.commandDone(commands(second)[0]?.id ?? "");
  expect(commands(attach(panel))).toEqual([]);
});

test("a new panel gets the facts before the events, and facts outlive a session's log", () => {
  const log = new EventLog();
  const panels = new Panels(false, () => undefined);
  const panel = sideBar(panels);
  panel.show({ log } as ChatSession);
  const process = { id: "p1", command: "npm run dev", startedAt: 0, state: "running" } as const;
  panels.setProcesses({ sessionId: "s1", processes: [process] });
  log.clear();
  const sent = attach(panel);
  expect(sent.map(({ type }) => type)).toEqual(["facts", "events"]);
  expect(sent[0]).toMatchObject({
    facts: { isTrusted: false, processes: [{ sessionId: "s1", processes: [process] }] },
  });
  panels.setFacts({ isTrusted: true });
  expect(sent.at(-1)).toMatchObject({ type: "facts", facts: { isTrusted: true, processes: [{ sessionId: "s1" }] } });
  panels.setProcesses({ sessionId: "s1", processes: [] });
  expect(panels.facts.processes).toEqual([]);
});
