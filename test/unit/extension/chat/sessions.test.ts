import { methods } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import type { HostMessage, PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";
import { type AgentConnection, HERMES_OFFERS } from "../../../../extension/agent/agent-connection.ts";
import { PanelConnection } from "../../../../extension/chat/panel-connection.ts";
import { SessionRouter, Sessions, type SessionsOptions } from "../../../../extension/chat/sessions.ts";

// Several sessions of one window: the panel shows one of them, each has a log of its own.
type Request = { readonly method: string; readonly sessionId: string | undefined };

/** An agent whose turns end when the test says so. */
class FakeAgent {
  readonly requests: Request[] = [];
  readonly turns = new Map<string, PromiseWithResolvers<unknown>>();
  readonly busy = new Set<string>();
  #count = 0;

  async request(method: string, params: { readonly sessionId?: string }): Promise<unknown> {
    const { sessionId = "" } = params;
    this.requests.push({ method, sessionId: params.sessionId });
    if (method === methods.agent.session.new) {
      this.#count += 1;
      return { sessionId: `s${this.#count}` };
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
    ...{ name: undefined, title: "Hermes", offers: HERMES_OFFERS },
    agent: (async () => agent) as unknown as AgentConnection["agent"],
    explain: (error) => Promise.resolve(String(error)),
    signIn: () => Promise.resolve(false),
  };
}

function window(last?: string, running: readonly string[] = []) {
  const agent = new FakeAgent();
  const panel = new PanelConnection(true);
  const router = new SessionRouter();
  const memory: { last: string | undefined; running: readonly string[] } = { last, running };
  const options: SessionsOptions = {
    agentOf: () => connectionTo(agent),
    diskEdits: NO_DISK_EDITS,
    warnings: () => [],
    promptBlocks: async ({ text }) => [{ type: "text", text }],
    place: async () => ({ cwd: "/w", additionalDirectories: [], mcpServers: [], _meta: { hermes: { trusted: true } } }),
    rememberModel: () => undefined,
    opened: () => undefined,
    lastShown: {
      get: () => memory.last,
      set: (sessionId) => {
        memory.last = sessionId;
      },
    },
    running: {
      get: () => memory.running,
      set: (sessionIds) => {
        memory.running = sessionIds;
      },
    },
  };
  const sent: HostMessage[] = [];
  panel.attach((message) => sent.push(message), "", 0);
  return { agent, panel, router, memory, sent, sessions: new Sessions(options, panel, router) };
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
  const { agent, router, sent, sessions } = window();
  await sessions.shown.open();
  const first = sessions.shown;
  agent.busy.add("s1");
  first.prompt({ text: "go" });
  await settled();
  sessions.showNew();
  await settled();
  const count = sent.length;
  router.update(answer("s1", "still here"));
  router.emit("s1", { kind: "notice", severity: "info", text: "noticed" });
  await settled();
  expect([sent.length, first.isRunning]).toEqual([count, true]);
  agent.turns.get("s1")?.resolve({ stopReason: "cancelled" });
  await settled();
  expect(shown(sent).map(({ kind }) => kind)).toEqual(["session", "queue"]);
  sessions.showStored("s1");
  await settled();
  expect(sessions.shown).toBe(first);
  expect(shown(sent).map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(["session", "prompt", "update", "notice", "turn-end"]),
  );
  expect(agent.count(methods.agent.session.load, "s1")).toBe(0);
});

test("a session that is left closes when it is idle, but not while background processes run", async () => {
  const { agent, memory, sessions } = window();
  await sessions.shown.open();
  sessions.showNew();
  await settled();
  expect([agent.count("session/cancel", "s1"), agent.count("session/close", "s1")]).toEqual([0, 1]);
  expect(memory.last).toBe("s2");
  agent.busy.add("s2");
  sessions.showNew();
  await settled();
  expect(agent.count("session/close", "s2")).toBe(0);
});

test("a turn continues in the background: it works, asks, is done, and is shown live again", async () => {
  const { agent, panel, sessions } = window();
  await sessions.shown.open();
  const first = sessions.shown;
  first.prompt({ text: "go" });
  await settled();
  sessions.showNew();
  await settled();
  const states = () => panel.facts.background.map(({ sessionId, state }) => `${sessionId} ${state}`);
  expect([states(), agent.count("session/cancel", "s1")]).toEqual([["s1 working"], 0]);
  sessions.setAsking(["s1"]);
  expect(states()).toEqual(["s1 asks"]);
  sessions.setAsking([]);
  agent.turns.get("s1")?.resolve({ stopReason: "end_turn" });
  await settled();
  expect(states()).toEqual(["s1 done"]);
  sessions.showStored("s1");
  await settled();
  expect([states(), sessions.shown === first, agent.count("session/load", "s1")]).toEqual([[], true, 0]);
});

test("a session that is closing is loaded only after it was closed", async () => {
  const { agent, sessions } = window();
  await sessions.shown.open();
  sessions.showNew();
  sessions.showStored("s1");
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
  const { agent, sent, sessions } = window();
  await sessions.shown.open();
  sessions.showNew();
  sessions.shown.prompt({ text: "for the new one" });
  await settled();
  expect(agent.count("session/prompt", "s2")).toBe(1);
  expect(shown(sent).map(({ kind }) => kind)).toEqual(["session", "queue", "prompt"]);
});

test("a turn in the background leaves the panel alone, and an acknowledged result loses its badge", async () => {
  const { agent, panel, sessions } = window();
  await sessions.shown.open();
  const events: PanelEvent[] = [];
  const session = sessions.startInBackground({ text: "close the menu" });
  const stopObserving = session.log.observe((event) => events.push(event));
  await settled();
  expect(sessions.shown.sessionId).toBe("s1");
  expect(panel.facts.background).toEqual([{ sessionId: "s2", state: "working" }]);
  agent.turns.get("s2")?.resolve({ stopReason: "end_turn" });
  await settled();
  expect(events.at(-1)).toEqual({ kind: "turn-end", stopReason: "end_turn" });
  expect(panel.facts.background).toEqual([{ sessionId: "s2", state: "done" }]);
  sessions.acknowledge(session);
  expect(panel.facts.background).toEqual([]);
  expect(agent.count(methods.agent.session.close, "s2")).toBe(0);
  stopObserving();
  session.log.push({ kind: "interrupted" });
  expect(events.at(-1)?.kind).toBe("turn-end");
});
