/** The agent of an interactive session, in this process and over ACP like every editor's. */
import {
  type ClientContext,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  type NewSessionResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SetSessionConfigOptionResponse,
  type StopReason,
} from "@zed-industries/agent-client-protocol";
import { MODEL_OPTION } from "../../agent-core/acp/config-options.ts";
import type { Environment } from "../../agent-core/config/home.ts";
import { CLIENT_INFO, localAgent } from "../../agent-core/entry/local-agent.ts";
import { steerMethod } from "../../agent-core/protocol/conversation.ts";
import { openUrlMethod } from "../../agent-core/protocol/extensions.ts";
import { onAgentRequest } from "../../agent-core/protocol/handle.ts";
import { call, readMeta } from "../../agent-core/protocol/method.ts";
import { type HermesPasswordQuestion, passwordMethod } from "../../agent-core/protocol/processes.ts";
import {
  forkMethod,
  type HermesContext,
  HermesListedSession,
  sessionMethods,
} from "../../agent-core/protocol/sessions.ts";
import { findSession } from "./find-session.ts";

/** Messages of an earlier session that are shown again. */
const REPLAYED = 20;

/** The signals end with the request. */
export type ChatEvents = {
  update(notification: SessionNotification): void;
  permission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  question(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse>;
  /** Null: no password. */
  password(question: HermesPasswordQuestion, signal: AbortSignal): Promise<string | null>;
  /** A line for the user, such as an address to open. */
  note(line: string): void;
};

export type OpenedSession = Pick<NewSessionResponse, "sessionId" | "modes" | "configOptions">;

export type ChosenSession = {
  /** Absolute. */
  readonly cwd: string;
  /** As `--resume`; default: a new session. */
  readonly resume?: string | undefined;
  readonly model?: string | undefined;
  readonly mode?: string | undefined;
};

export type ListedSession = {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly updatedAt: string;
  /** A turn runs in some process. */
  readonly state: HermesListedSession["state"] | undefined;
};

/** Runs `work` with a connected agent, and ends its sessions afterwards. `settings`: variables of this start alone. */
export async function withChatAgent<T>(
  events: ChatEvents,
  work: (agent: ChatAgent) => Promise<T>,
  settings: Environment,
): Promise<T> {
  const { app, dispose } = localAgent(settings, (line) => events.note(line));
  const us = client({ name: CLIENT_INFO.name });
  onAgentRequest(us, openUrlMethod, ({ params: { url } }) => {
    events.note(`Open ${url} in a browser.`);
    return { opened: true };
  });
  onAgentRequest(us, passwordMethod, async ({ params, signal }) => ({
    password: await events.password(params, signal),
  }));
  try {
    return await us
      .onNotification(methods.client.session.update, asSent, ({ params }) => events.update(params))
      .onRequest(methods.client.session.requestPermission, ({ params, signal }) => events.permission(params, signal))
      .onRequest(methods.client.elicitation.create, ({ params, signal }) => events.question(params, signal))
      .connectWith(app, async (agent) => {
        await agent.request(methods.agent.initialize, {
          protocolVersion: 1,
          clientInfo: CLIENT_INFO,
          clientCapabilities: {
            session: { notices: {} },
            elicitation: { form: {} },
            _meta: { hermes: { openUrl: true, grants: true, compressions: true, passwords: true } },
          },
        });
        return work(new ChatAgent(agent));
      });
  } finally {
    await dispose();
  }
}

/** Skips the library's check: the sender is our own agent. */
function asSent(params: unknown): SessionNotification {
  return params as SessionNotification;
}

export class ChatAgent {
  readonly #agent: ClientContext;

  constructor(agent: ClientContext) {
    this.#agent = agent;
  }

  /** Opens a new or an earlier session, which replays its last messages. Rejects with an Error in one line. */
  async open({ cwd, resume, model, mode }: ChosenSession): Promise<OpenedSession> {
    const opened = resume === undefined ? await this.#new(cwd) : await this.#load(resume, cwd);
    const { sessionId } = opened;
    if (mode !== undefined) await this.setMode(sessionId, mode);
    if (model === undefined) return opened;
    const choice = { sessionId, configId: MODEL_OPTION, value: model };
    const changed = await this.#agent.request(methods.agent.session.setConfigOption, choice);
    return { ...opened, ...(changed as SetSessionConfigOptionResponse) }; // the sender is our own agent
  }

  #new(cwd: string): Promise<OpenedSession> {
    return this.#agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  }

  async #load(wanted: string, cwd: string): Promise<OpenedSession> {
    const sessionId = await findSession(this.#agent, wanted, cwd);
    const tail = { hermes: { tail: REPLAYED } };
    const place = { cwd, mcpServers: [], sessionId, _meta: tail };
    return { ...(await this.#agent.request(methods.agent.session.load, place)), sessionId };
  }

  async prompt(sessionId: string, prompt: ContentBlock[]): Promise<StopReason> {
    return (await this.#agent.request(methods.agent.session.prompt, { sessionId, prompt })).stopReason;
  }

  cancel(sessionId: string): void {
    void this.#agent.notify(methods.agent.session.cancel, { sessionId });
  }

  async steer(sessionId: string, prompt: ContentBlock[]): Promise<void> {
    await this.#agent.request(steerMethod.name, { sessionId, prompt });
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    await this.#agent.request(methods.agent.session.setMode, { sessionId, modeId });
  }

  context(sessionId: string): Promise<HermesContext> {
    return call(this.#agent, sessionMethods.context, { sessionId });
  }

  async transcript(sessionId: string): Promise<string> {
    return (await call(this.#agent, sessionMethods.export, { sessionId, format: "markdown" })).text;
  }

  /** Removes the messages from a position on. */
  async rewind(sessionId: string, position: number): Promise<string> {
    return (await call(this.#agent, sessionMethods.rewind, { sessionId, position })).prompt ?? "";
  }

  /** A copy of the session, which does not change it. */
  async fork(sessionId: string, cwd: string): Promise<string> {
    return (await call(this.#agent, forkMethod, { sessionId, cwd, mcpServers: [] })).sessionId;
  }

  async delete(sessionId: string): Promise<void> {
    await this.#agent.request(methods.agent.session.delete, { sessionId });
  }

  async close(sessionId: string): Promise<void> {
    await this.#agent.request(methods.agent.session.close, { sessionId });
  }

  /** The latest sessions of all folders. */
  async sessions(): Promise<readonly ListedSession[]> {
    const { sessions } = await this.#agent.request(methods.agent.session.list, {});
    return sessions.map(({ sessionId: id, title, cwd, updatedAt, _meta }) => ({
      ...{ id, cwd },
      title: title ?? "Untitled",
      updatedAt: updatedAt ?? "",
      state: readMeta(HermesListedSession, _meta)?.state,
    }));
  }
}
