/** The agent of an interactive session, in this process and over ACP like every editor's. */
import {
  type ClientCapabilities,
  type ClientContext,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  methods,
  type NewSessionResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type ResumeSessionResponse,
  type SessionNotification,
  type SetSessionConfigOptionResponse,
  type StopReason,
} from "@zed-industries/agent-client-protocol";
import { MODEL_OPTION } from "../../agent-core/acp/config-options.ts";
import type { Environment } from "../../agent-core/config/home.ts";
import { CLIENT_INFO, connectLocally, localAgent, localClient } from "../../agent-core/entry/local-agent.ts";
import { nearestNames } from "../../agent-core/platform/names.ts";
import { steerMethod, waitsMethod } from "../../agent-core/protocol/conversation.ts";
import { extensionMethods, openUrlMethod } from "../../agent-core/protocol/extensions.ts";
import { invalidParams, onAgentRequest } from "../../agent-core/protocol/handle.ts";
import { call, notify } from "../../agent-core/protocol/method.ts";
import { type HermesPasswordQuestion, passwordMethod } from "../../agent-core/protocol/processes.ts";
import { forkMethod, type HermesContext, sessionMethods } from "../../agent-core/protocol/sessions.ts";

/** Messages of an earlier session that are shown again. */
const REPLAYED = 20;

/** The signals end with the request. */
export type ChatEvents = {
  update(notification: SessionNotification): void;
  permission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  question(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse>;
  /** Null: no password. */
  password(question: HermesPasswordQuestion, signal: AbortSignal): Promise<string | null>;
  openPage(url: string): void;
  /** Takes a line of the agent's log. Default: standard error. */
  log?(line: string): void;
};

const DRAWN: ClientCapabilities = {
  session: { notices: {} },
  elicitation: { form: {} },
  _meta: { hermes: { openUrl: true, grants: true, compressions: true, passwords: true } },
};

export type OpenedSession = Pick<NewSessionResponse, "sessionId" | "modes" | "configOptions">;

export type ChosenSession = {
  /** Absolute. */
  readonly cwd: string;
  /** As `--resume`; default: a new session. */
  readonly resume?: string | undefined;
  readonly model?: string | undefined;
  readonly mode?: string | undefined;
  /** Names of skills that the first message asks for; others are refused. */
  readonly skills?: readonly string[] | undefined;
};

/** Runs `work` with a connected agent, and ends its sessions afterwards. `settings`: variables of this start alone. */
export function withChatAgent<T>(
  events: ChatEvents,
  work: (agent: ChatAgent) => Promise<T>,
  settings: Environment,
  capabilities: ClientCapabilities = DRAWN,
): Promise<T> {
  const us = localClient(CLIENT_INFO.name, events.update)
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => events.permission(params, signal))
    .onRequest(methods.client.elicitation.create, ({ params, signal }) => events.question(params, signal));
  onAgentRequest(us, openUrlMethod, ({ params: { url } }) => {
    events.openPage(url);
    return { opened: true };
  });
  onAgentRequest(us, passwordMethod, async ({ params, signal }) => ({
    password: await events.password(params, signal),
  }));
  return connectLocally(localAgent(settings, events.log), us, { capabilities }, (agent) => work(new ChatAgent(agent)));
}

export class ChatAgent {
  readonly client: ClientContext;

  constructor(agent: ClientContext) {
    this.client = agent;
  }

  /** Opens a new or an earlier session, whose last messages are replayed. Rejects with an Error in one line. */
  async open({ cwd, resume, model, mode, skills = [] }: ChosenSession, replayed = REPLAYED): Promise<OpenedSession> {
    const opened = resume === undefined ? await this.#new(cwd) : await this.#load(resume, cwd, replayed);
    const { sessionId } = opened;
    if (skills.length > 0) await this.#checkSkills(sessionId, skills);
    if (mode !== undefined) await this.setMode(sessionId, mode);
    if (model === undefined) return opened;
    const choice = { sessionId, configId: MODEL_OPTION, value: model };
    const changed = await this.client.request(methods.agent.session.setConfigOption, choice);
    return { ...opened, ...(changed as SetSessionConfigOptionResponse) }; // the sender is our own agent
  }

  #new(cwd: string): Promise<OpenedSession> {
    return this.client.request(methods.agent.session.new, { cwd, mcpServers: [] });
  }

  async #load(wanted: string, cwd: string, replayed: number): Promise<OpenedSession> {
    const { findSession } = await import("./find-session.ts");
    const sessionId = await findSession(this.client, wanted, cwd);
    const place = { cwd, mcpServers: [], sessionId };
    const _meta = { hermes: { tail: replayed } };
    const response = await (replayed === 0
      ? this.client.request(methods.agent.session.resume, place)
      : this.client.request(methods.agent.session.load, { ...place, _meta }));
    return { ...(response as ResumeSessionResponse), sessionId }; // the sender is our own agent
  }

  /** Rejects with the protocol's error for a name that no usable skill has. */
  async #checkSkills(sessionId: string, skills: readonly string[]): Promise<void> {
    const { items } = await call(this.client, extensionMethods.list, { sessionId });
    const names = items.filter(({ kind, state }) => kind === "skill" && state === "on").map(({ name }) => name);
    for (const name of skills.filter((each) => !names.includes(each))) {
      const near = nearestNames(name, names, 3).join(", ") || "none";
      throw invalidParams("--skills", `there is no skill ${name}. Near names: ${near}. hermes skills list shows all`);
    }
  }

  async prompt(sessionId: string, prompt: ContentBlock[]): Promise<StopReason> {
    return (await this.client.request(methods.agent.session.prompt, { sessionId, prompt })).stopReason;
  }

  cancel(sessionId: string): void {
    void this.client.notify(methods.agent.session.cancel, { sessionId });
  }

  async steer(sessionId: string, prompt: ContentBlock[]): Promise<void> {
    await this.client.request(steerMethod.name, { sessionId, prompt });
  }

  /** The next turn of a goal comes after a message that waits here. */
  announceQueue(sessionId: string, waits: boolean): void {
    notify(this.client, waitsMethod, { sessionId, waits });
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    await this.client.request(methods.agent.session.setMode, { sessionId, modeId });
  }

  context(sessionId: string): Promise<HermesContext> {
    return call(this.client, sessionMethods.context, { sessionId });
  }

  async transcript(sessionId: string): Promise<string> {
    return (await call(this.client, sessionMethods.export, { sessionId, format: "markdown" })).text;
  }

  /** Removes the messages from a position on. */
  async rewind(sessionId: string, position: number): Promise<string> {
    return (await call(this.client, sessionMethods.rewind, { sessionId, position })).prompt ?? "";
  }

  /** A copy of the session, which does not change it. */
  async fork(sessionId: string, cwd: string): Promise<string> {
    return (await call(this.client, forkMethod, { sessionId, cwd, mcpServers: [] })).sessionId;
  }

  async delete(sessionId: string): Promise<void> {
    await this.client.request(methods.agent.session.delete, { sessionId });
  }

  async close(sessionId: string): Promise<void> {
    await this.client.request(methods.agent.session.close, { sessionId });
  }
}
