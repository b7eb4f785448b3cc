import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { methods } from "@zed-industries/agent-client-protocol";
import { onTestFinished } from "vitest";
import type { HostMessage, PanelEvent } from "../../../../../agent-core/protocol/panel-events.ts";
import { type AgentConnection, HERMES_OFFERS } from "../../../../../extension/agent/agent-connection.ts";
import { Panels } from "../../../../../extension/chat/panels.ts";
import { Sessions, type SessionsOptions } from "../../../../../extension/chat/sessions.ts";

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
    if (method === "session/fork") this.folders.push(cwd);
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

export function window(last?: string, running: readonly string[] = []) {
  const agent = new FakeAgent();
  const panels = new Panels(true, () => undefined);
  const memory: { last: string | undefined; running: readonly string[] } = { last, running };
  const made: string[] = [];
  /** Folders of the worktrees that were made. */
  const places: string[] = [];
  const root = mkdtempSync(join(tmpdir(), "hermes-window-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const options: SessionsOptions = {
    agentOf: () => connectionTo(agent),
    diskEdits: NO_DISK_EDITS,
    warnings: () => [],
    observed: () => undefined,
    promptBlocks: async ({ text }) => [{ type: "text", text }],
    worktree: async ({ cwd, name }, signal) => {
      if (name === "fail") throw new Error("the disk is full");
      if (name === "slow")
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      made.push(name);
      const path = join(root, "w.worktrees", String(made.length));
      mkdirSync(path, { recursive: true });
      places.push(path);
      return { path, branch: "hermes/x", base: cwd, problems: ["npm ci: exit code 1"] };
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
  panels.sideBar.attach((message) => sent.push(message), "", 0);
  return { agent, made, places, panels, memory, sent, sessions: new Sessions(options, panels) };
}

export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Events that the panel got since it was last reset. */
export function shown(sent: readonly HostMessage[]): readonly PanelEvent[] {
  const batches = sent.filter((message) => message.type === "events");
  const last = batches.slice(batches.findLastIndex(({ reset }) => reset));
  return last.flatMap(({ events }) => (typeof events === "string" ? (JSON.parse(events) as PanelEvent[]) : events));
}

export const answer = (sessionId: string, text: string) => ({
  sessionId,
  update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } as const,
});
