/**
 * Names that the protocol's unstable version has and the library's stable schemas lack: plans with an id, sub-agents as
 * sessions, and MCP servers of the client. The schemas drop fields they do not know, so those of a request move into `_meta`.
 */
import {
  type AgentContext,
  type AnyMessage,
  type ClientCapabilities,
  methods,
  type PromptResponse,
  type SessionUpdate,
} from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import type { Carry } from "../mcp/server-config.ts";
import type { HermesTask } from "../protocol/delegation.ts";
import { call, endingWith } from "../protocol/method.ts";
import type { UsageSum } from "../sessions/usage-ledger.ts";
import { noticeAsThought } from "./conversation-updates.ts";

const acpServer = z.object({ type: z.literal("acp"), name: z.string(), serverId: z.string().min(1) });
export type AcpServer = z.infer<typeof acpServer>;

/** `_meta` of a request whose fields have moved there. */
const MovedMeta = z.object({
  next: z.object({ plan: z.unknown(), subagents: z.unknown(), servers: z.array(acpServer).exactOptional() }).partial(),
});

/** The message as the library's schemas keep it. */
export function withMovedFields(message: AnyMessage): AnyMessage {
  if (!("method" in message) || message.params == null) return message;
  const { clientCapabilities, mcpServers, prompt } = Object(message.params);
  if (Array.isArray(prompt)) return { ...message, params: { ...message.params, prompt: prompt.map(wholeBlock) } };
  if (clientCapabilities != null) {
    const { plan, subagents } = Object(clientCapabilities);
    const moved = withNext(clientCapabilities, { plan, subagents });
    return { ...message, params: { ...message.params, clientCapabilities: moved } };
  }
  if (!OPENING.test(message.method) || (mcpServers != null && !Array.isArray(mcpServers))) return message;
  const all: readonly unknown[] = mcpServers ?? [];
  const servers = all.filter((server) => acpServer.safeParse(server).success);
  const others = all.filter((server) => !servers.includes(server));
  const params = { ...message.params, mcpServers: others.map(withLists) };
  return { ...message, params: servers.length === 0 ? params : withNext(params, { servers }) };
}

/** Requests with servers. Some editors leave the list out, and the lists in its servers. */
const OPENING = /^session\/(?:new|load|resume|fork)$/;

function withLists(server: unknown): unknown {
  if (typeof server !== "object" || server === null) return server;
  return "command" in server ? { args: [], env: [], ...server } : { headers: [], ...server };
}

/** Some editors leave the name of a link out, and give a picture by its address alone, without its type, or as a data URL. */
function wholeBlock(block: unknown): unknown {
  const { type, uri, data = "" } = Object(block);
  if (type === "image" && data === "" && typeof uri === "string") return { type: "resource_link", uri, name: uri };
  if (type === "image") {
    const base64 = String(data)
      .replace(/^data:[^,]*;base64,/, "")
      .replaceAll("-", "+")
      .replaceAll("_", "/");
    return { mimeType: "", ...Object(block), data: base64 };
  }
  return type === "resource_link" ? { name: String(uri), ...Object(block) } : block;
}

function withNext(holder: object, next: object): object {
  return { ...holder, _meta: { ...Object(holder)._meta, next } };
}

function movedTo(meta: unknown): z.infer<typeof MovedMeta>["next"] {
  return MovedMeta.safeParse(meta).data?.next ?? {};
}

/** MCP servers that the client has itself, from `_meta` of a request that opens a session. */
export function acpServers(meta: unknown): readonly AcpServer[] {
  return movedTo(meta).servers ?? [];
}

const mcpMessage = { name: "mcp/message", params: z.unknown(), result: z.unknown() };

/** Requests to an MCP server of the client. The session's id, which the standard does not need, leads to its connection. */
export function carryTo(client: AgentContext, sessionId: string, serverId: string): Carry {
  return ({ id, method, params }, signal) =>
    call(client, mcpMessage, { sessionId, serverId, requestId: String(id), method, params }, endingWith(signal));
}

/** Updates of a replay that may be unsent at the same time. */
const SENT_AT_ONCE = 64;

/** Updates of a session on their way to its client, in the form that the client has declared. */
export class ClientUpdates {
  readonly #client: AgentContext;
  readonly #sessionId: string;
  /** The client shows notices; other clients get thoughts. */
  readonly #showsNotices: boolean;
  readonly #hasPlans: boolean;
  readonly #hasSubagents: boolean;
  /** Last update of each sub-agent. */
  readonly #subagents = new Map<string, string>();

  constructor(client: AgentContext, sessionId: string, { session, _meta: meta }: ClientCapabilities) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.#showsNotices = session?.notices != null;
    const { plan, subagents } = movedTo(meta);
    this.#hasPlans = plan != null;
    this.#hasSubagents = subagents != null;
  }

  /** Settles when the update has left. Never rejects: a closed connection drops it. */
  async send(sent: SessionUpdate): Promise<void> {
    const shown = sent.sessionUpdate === "notice" && !this.#showsNotices ? noticeAsThought(sent) : sent;
    if (shown === undefined) return;
    const notified = this.#forms(shown).map((update) =>
      this.#client.notify(methods.client.session.update, { sessionId: this.#sessionId, update }),
    );
    await Promise.all(notified).catch(() => undefined);
  }

  /** Sends many updates, no faster than the client reads them. */
  async sendAll(updates: Iterable<SessionUpdate>): Promise<void> {
    let count = 0;
    for (const update of updates) {
      const sent = this.send(update);
      count += 1;
      if (count % SENT_AT_ONCE === 0) await sent;
    }
  }

  /** A form of the unstable protocol in place of the stable one, or beside it. */
  #forms(update: SessionUpdate): readonly SessionUpdate[] {
    if (update.sessionUpdate === "plan" && this.#hasPlans) return [planOf(update.entries)];
    if (update.sessionUpdate !== "tool_call_update" || !this.#hasSubagents) return [update];
    const { tasks } = Object(update._meta?.["hermes"]);
    return Array.isArray(tasks) ? [...this.#announce(tasks), update] : [update];
  }

  #announce(tasks: readonly HermesTask[]): readonly SessionUpdate[] {
    return tasks.flatMap(({ sessionId, goal: title, status }) => {
      if (sessionId === undefined) return [];
      const state = { state: status === "running" || status === "checking" ? "running" : "idle" };
      const update = { sessionUpdate: "subagent_update", sessionId, title, state };
      const isKnown = this.#subagents.get(sessionId) === JSON.stringify(update);
      this.#subagents.set(sessionId, JSON.stringify(update));
      return isKnown ? [] : [unstable(update)];
    });
  }
}

/** The session has one plan. */
const PLAN_ID = "todo";

function planOf(entries: readonly unknown[]): SessionUpdate {
  if (entries.length === 0) return unstable({ sessionUpdate: "plan_removed", planId: PLAN_ID });
  return unstable({ sessionUpdate: "plan_update", plan: { type: "items", planId: PLAN_ID, entries } });
}

/** The library sends what its types do not have. */
function unstable(update: object): SessionUpdate {
  return update as unknown as SessionUpdate;
}

/** The response to a prompt with the tokens of its turn: input from the provider's cache counts separately. */
export function withUsage(response: PromptResponse, before: UsageSum, after: UsageSum): PromptResponse {
  const cachedReadTokens = after.cachedInputTokens - before.cachedInputTokens;
  const inputTokens = Math.max(0, after.inputTokens - before.inputTokens - cachedReadTokens);
  const outputTokens = after.outputTokens - before.outputTokens;
  const totalTokens = inputTokens + cachedReadTokens + outputTokens;
  if (totalTokens === 0) return response; // the server counts nothing
  const thoughtTokens = after.reasoningTokens - before.reasoningTokens;
  const usage = { totalTokens, inputTokens, outputTokens, cachedReadTokens, thoughtTokens };
  return { ...response, ...{ usage } };
}
