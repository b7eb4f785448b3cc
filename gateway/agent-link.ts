/** The agent of all chats: an ACP client in the same process, as the command line is one. */
import {
  type ClientContext,
  type ContentBlock,
  methods,
  type NewSessionRequest,
  type PermissionOption,
  type SessionUpdate,
  type StopReason,
  type ToolCallContent,
} from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { type AgentService, connectLocally, localClient } from "../agent-core/entry/local-agent.ts";
import { VERSION } from "../agent-core/entry/version.ts";
import { CHAT_GATEWAY } from "../agent-core/protocol/capabilities.ts";
import { steerMethod } from "../agent-core/protocol/conversation.ts";
import { call } from "../agent-core/protocol/method.ts";
import { sessionMethods } from "../agent-core/protocol/sessions.ts";

/** Answers of a session's user. Undefined: nobody answered. */
export type SessionUser = {
  update(update: SessionUpdate): void;
  /** Resolves to the id of an option. */
  permit(request: PermissionRequest): Promise<string | undefined>;
  /** Resolves to the text of the answer. */
  answer(question: string, choices: readonly string[]): Promise<string | undefined>;
};

export type PermissionRequest = {
  readonly title: string;
  /** Command, reasons and scope, as Markdown. */
  readonly text: string;
  readonly options: readonly PermissionOption[];
};

/** Facts of a chat's session that the agent gets with its start. */
export type SessionFacts = { readonly cwd: string; readonly context: string; readonly model: string | undefined };

/** The part of a question's schema that is read. */
const choicesSchema = z.object({ properties: z.object({ choice: z.object({ enum: z.array(z.string()) }) }) });

export class AgentLink {
  readonly #agent: Promise<ClientContext>;
  readonly #ended = Promise.withResolvers<void>();
  readonly #closed: Promise<void>;
  readonly #users = new Map<string, SessionUser>();

  constructor(service: AgentService) {
    const { promise, resolve, reject } = Promise.withResolvers<ClientContext>();
    this.#agent = promise;
    const us = localClient(CHAT_GATEWAY, ({ sessionId, update }) => this.#users.get(sessionId)?.update(update))
      .onRequest(methods.client.session.requestPermission, async ({ params: { sessionId, toolCall, options } }) => {
        const [first] = (toolCall.content ?? []).flatMap(textOf);
        const request = { title: toolCall.title ?? "a tool call", text: first ?? "", options };
        const optionId = await this.#users.get(sessionId)?.permit(request);
        return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
      })
      .onRequest(methods.client.elicitation.create, async ({ params }) => {
        const user = "sessionId" in params ? this.#users.get(String(params.sessionId)) : undefined;
        if (params.mode !== "form" || user === undefined) return { action: "cancel" };
        const choices = choicesSchema.safeParse(params.requestedSchema).data?.properties.choice.enum ?? [];
        const text = await user.answer(params.message, choices);
        return text === undefined ? { action: "cancel" } : { action: "accept", content: { other: text } };
      });
    const capabilities = { session: { notices: {} }, elicitation: { form: {} } };
    const work = (agent: ClientContext): Promise<void> => {
      resolve(agent);
      return this.#ended.promise;
    };
    const info = { name: CHAT_GATEWAY, title: "a chat", version: VERSION };
    this.#closed = connectLocally(service, us, { capabilities, info }, work);
    this.#closed.catch(reject);
    this.#agent.catch(() => undefined); // the first request reports it
  }

  /** Opens a session, an earlier one if `id` names it. Rejects with the agent's error. */
  async open(id: string | undefined, { cwd, context, model }: SessionFacts, user: SessionUser): Promise<string> {
    const agent = await this.#agent;
    const hermes = { trusted: true, context, ...(model !== undefined && { model }) };
    const params: NewSessionRequest = { cwd, mcpServers: [], _meta: { hermes } };
    if (id !== undefined) this.#users.set(id, user);
    if (id !== undefined) await agent.request(methods.agent.session.resume, { ...params, sessionId: id });
    const sessionId = id ?? (await agent.request(methods.agent.session.new, params)).sessionId;
    this.#users.set(sessionId, user);
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: "code" });
    return sessionId;
  }

  async prompt(sessionId: string, prompt: ContentBlock[]): Promise<StopReason> {
    const agent = await this.#agent;
    return (await agent.request(methods.agent.session.prompt, { sessionId, prompt })).stopReason;
  }

  async cancel(sessionId: string): Promise<void> {
    await (await this.#agent).notify(methods.agent.session.cancel, { sessionId });
  }

  /** False when no turn runs. */
  async steer(sessionId: string, text: string): Promise<boolean> {
    const prompt = [{ type: "text" as const, text }];
    return call(await this.#agent, steerMethod, { sessionId, prompt }).then(
      () => true,
      () => false,
    );
  }

  /** Titles by id; an unknown session has none. */
  async titles(ids: readonly string[]): Promise<Readonly<Record<string, string>>> {
    return (await call(await this.#agent, sessionMethods.titles, { ids: [...ids] })).titles;
  }

  async close(sessionId: string): Promise<void> {
    this.#users.delete(sessionId);
    await (await this.#agent).request(methods.agent.session.close, { sessionId });
  }

  async dispose(): Promise<void> {
    this.#ended.resolve();
    await this.#closed.catch(() => undefined);
  }
}

function textOf(content: ToolCallContent): readonly string[] {
  return content.type === "content" && content.content.type === "text" ? [content.content.text] : [];
}
