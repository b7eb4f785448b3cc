/**
 * The table of sessions above connections: it passes messages between the clients' connections and the agents of this process.
 * The agents know nothing of connections; each is a client's side of ACP in memory.
 */
import {
  type AnyMessage,
  type AnyNotification,
  type AnyRequest,
  type AnyResponse,
  methods,
  RequestError,
  type Stream,
} from "@zed-industries/agent-client-protocol";
import type { AgentServerOptions } from "../acp/agent-server.ts";
import { Deadline } from "../platform/deadline.ts";
import { messageOf } from "../platform/errors.ts";
import { invalidParams } from "../protocol/handle.ts";
import { readMeta } from "../protocol/method.ts";
import {
  fieldsOf,
  HermesRequestMeta,
  HermesResumeMeta,
  type HermesServeFacts,
  pingMethod,
  sessionOf,
  withMeta,
} from "../protocol/remote.ts";
import { forkMethod, HermesReplay, sessionMethods } from "../protocol/sessions.ts";
import { ClientLink } from "./client-link.ts";
import { HeldSession } from "./held-session.ts";
import type { Roots } from "./roots.ts";
import { type ClientKind, kindOf, SharedAgent } from "./shared-agent.ts";

const INVALID_REQUEST = -32600;
const UNAVAILABLE = -32000;
const CANCEL_REQUEST = "$/cancel_request";
/** Time for `initialize`. Milliseconds. */
const INITIALIZE_MS = 30_000;
/** Responses that are kept for clients that repeat a request. */
const KEPT_RESPONSES = 500;
/** Different kinds of clients: each has an agent of its own. */
const MAX_KINDS = 16;
const DRAINING = "The server is shutting down. Send the message again when it is back.";
const HELD_ELSEWHERE = "Another connection holds this session. Load or resume it to continue here.";
const TOO_MANY_KINDS = "The server has too many kinds of clients. Restart it to forget the old ones.";

const { session: sessionRequests } = methods.agent;
/** Requests whose result has the id of a session that they opened. */
const CREATING: ReadonlySet<string> = new Set([sessionRequests.new, forkMethod.name]);
const REOPENING: ReadonlySet<string> = new Set([sessionRequests.load, sessionRequests.resume]);
const CLOSING: ReadonlySet<string> = new Set([sessionRequests.close, sessionRequests.delete]);

export type SessionHubOptions = {
  readonly agent: AgentServerOptions;
  readonly machine: string;
  readonly roots: Roots;
  /** See `HeldSessionOptions`. */
  readonly graceMs: number;
  readonly unloadMs: number;
};

/** A request of a client. A client that repeats it takes the place of the first one. */
type Call = {
  readonly method: string;
  asker: ClientLink;
  id: AnyRequest["id"];
  agent: SharedAgent;
  agentId: number | undefined;
  /** Session that it opens, and the number of that session's last notification before it. */
  opens: { readonly session: HeldSession; readonly seq: number } | undefined;
  response: AnyResponse | undefined;
  readonly ended: PromiseWithResolvers<void>;
};

export class SessionHub {
  readonly #options: SessionHubOptions;
  readonly #agents = new Map<string, SharedAgent>();
  readonly #links = new Set<ClientLink>();
  readonly #sessions = new Map<string, HeldSession>();
  /** Calls by the id that their clients gave them. */
  readonly #repeatable = new Map<string, Call>();
  readonly #running = new Set<Call>();
  #isDraining: boolean = false;
  /** For the metrics. */
  readonly counts = { received: 0, sent: 0, prompts: 0 };

  constructor(options: SessionHubOptions) {
    this.#options = options;
  }

  get connections(): number {
    return this.#links.size;
  }

  get sessions(): readonly HeldSession[] {
    return [...this.#sessions.values()];
  }

  /** Serves a client until its stream ends. */
  connect(stream: Stream): { readonly closed: Promise<void> } {
    const link = new ClientLink(stream);
    this.#links.add(link);
    const timer = setTimeout(() => link.agent ?? link.close(), INITIALIZE_MS);
    const read = async (): Promise<void> => {
      for await (const message of link.messages) await this.#receive(link, message);
    };
    const ended = Promise.race([link.closed, read().catch(() => undefined)]).then(() => {
      clearTimeout(timer);
      link.close();
      this.#links.delete(link);
      for (const session of this.#sessions.values()) session.release(link);
    });
    return { closed: ended };
  }

  /** Refuses new prompts, waits for the running ones, and ends the sessions. Their journals are complete then. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    const deadline = new Deadline(timeoutMs);
    const prompts = [...this.#running].filter(({ method }) => method === sessionRequests.prompt);
    await deadline.waitFor(Promise.all(prompts.map(({ ended }) => ended.promise)));
    for (const session of this.#sessions.values()) session.dispose();
    await Promise.all([...this.#agents.values()].map((agent) => agent.dispose()));
    for (const link of this.#links) link.close();
  }

  async #receive(link: ClientLink, message: AnyMessage): Promise<void> {
    this.counts.received += 1;
    if (!("method" in message)) this.#receiveAnswer(link, message);
    else if (!("id" in message)) this.#receiveNotification(link, message);
    else if (message.method === methods.agent.initialize) await this.#initialize(link, message);
    else if (message.method === pingMethod.name) link.answer(message.id, { result: {} });
    else if (link.agent === undefined) link.refuse(message.id, INVALID_REQUEST, "Send initialize first.");
    else this.#receiveRequest(link, link.agent, message);
  }

  async #initialize(link: ClientLink, { id, params }: AnyRequest): Promise<void> {
    const agent = link.agent === undefined ? this.#agentFor(kindOf(params)) : undefined;
    if (agent === undefined) {
      const reason = link.agent === undefined ? TOO_MANY_KINDS : "This connection is initialised already.";
      link.refuse(id, INVALID_REQUEST, reason);
      return;
    }
    const response = await agent.facts;
    if ("error" in response) {
      link.answer(id, { error: response.error });
      return;
    }
    link.agent = agent;
    const result = fieldsOf(response.result);
    const { machine, roots } = this.#options;
    const serve: HermesServeFacts = { machine, roots: [...roots.folders] };
    const agentCapabilities = withFacts(fieldsOf(result["agentCapabilities"]), { serve });
    link.answer(id, { result: { ...result, agentCapabilities } });
  }

  #agentFor(kind: ClientKind): SharedAgent | undefined {
    const key = JSON.stringify(kind);
    const known = this.#agents.get(key);
    if (known !== undefined || this.#agents.size >= MAX_KINDS) return known;
    const agent = new SharedAgent(kind, this.#options.agent, {
      request: (from, message) => this.#askClient(from, message),
      notification: (from, message) => this.#publish(from, message),
    });
    this.#agents.set(key, agent);
    return agent;
  }

  #receiveRequest(link: ClientLink, agent: SharedAgent, message: AnyRequest): void {
    const { id, method } = message;
    const requestId = readMeta(HermesRequestMeta, fieldsOf(message.params)["_meta"])?.requestId;
    const earlier = requestId === undefined ? undefined : this.#repeatable.get(requestId);
    if (earlier !== undefined) {
      this.#repeat(earlier, link, id);
      return;
    }
    const call: Call = {
      method,
      asker: link,
      id,
      agent,
      agentId: undefined,
      opens: undefined,
      response: undefined,
      ended: Promise.withResolvers(),
    };
    this.#running.add(call);
    if (requestId !== undefined) this.#remember(requestId, call);
    this.#start(call, message).catch((error: unknown) => {
      const code = error instanceof RequestError ? error.code : UNAVAILABLE;
      this.#finish(call, { error: { code, message: messageOf(error) } });
    });
  }

  /** Rejects with the reason why the request is refused. */
  async #start(call: Call, message: AnyRequest): Promise<void> {
    const { method, asker } = call;
    if (this.#isDraining && method === sessionRequests.prompt) throw new Error(DRAINING);
    const checked = message.params === undefined ? message : { ...message, params: this.#checked(message.params) };
    const sessionId = sessionOf(checked.params);
    if (REOPENING.has(method) && sessionId !== undefined) return this.#reopen(call, checked, sessionId);
    const session = sessionId === undefined ? undefined : this.#sessions.get(sessionId);
    if (session !== undefined && session.holder !== asker) throw new Error(HELD_ELSEWHERE);
    this.#forward(call, checked, session);
  }

  /** The parameters with real folders. Throws the protocol's error for a folder outside the roots. */
  #checked(params: unknown): unknown {
    try {
      return this.#options.roots.checked(fieldsOf(params));
    } catch (error) {
      throw invalidParams("cwd", messageOf(error));
    }
  }

  #forward(call: Call, { method, params }: AnyRequest, session: HeldSession | undefined): void {
    if (session !== undefined) call.agent = session.agent;
    const { agent } = call;
    const isPrompt = method === sessionRequests.prompt && session !== undefined;
    if (isPrompt) {
      session.promptSent();
      this.counts.prompts += 1;
    }
    call.agentId = agent.request(method, params, (response) => {
      if (isPrompt) session.promptEnded();
      if (!("result" in response)) return this.#finish(call, { error: response.error });
      const opened = CREATING.has(method) ? this.#created(call, params, response.result) : undefined;
      if (CLOSING.has(method) && session !== undefined) this.#drop(session);
      this.#finish(call, { result: opened ?? response.result });
    });
  }

  #created(call: Call, params: unknown, result: unknown): unknown {
    const id = sessionOf(result);
    if (id === undefined) return undefined;
    const session = this.#hold(id, call.agent, fieldsOf(params)["cwd"]);
    call.opens = { session, seq: session.seq };
    this.#give(session, call.asker);
    return this.#openedBy(session, result);
  }

  #hold(id: string, agent: SharedAgent, cwd: unknown): HeldSession {
    const { graceMs, unloadMs } = this.#options;
    const unload = (): void => void this.#close(session);
    const session = new HeldSession({ id, agent, cwd, graceMs, unloadMs, unload });
    this.#sessions.set(id, session);
    return session;
  }

  /** A connection that has ended meanwhile holds nothing. */
  #give(session: HeldSession, link: ClientLink): void {
    session.take(link);
    if (!link.isOpen) session.release(link);
  }

  #openedBy(session: HeldSession, result: unknown): Readonly<Record<string, unknown>> {
    session.opened = fieldsOf(result);
    return withFacts(session.opened, { seq: session.seq });
  }

  /** Loads or resumes a session: one that is open goes on, in the hands of another connection. */
  async #reopen(call: Call, request: AnyRequest, id: string): Promise<void> {
    const { asker: link, method } = call;
    const { cwd, _meta } = fieldsOf(request.params);
    let session = this.#sessions.get(id);
    if (session !== undefined && !(await session.opening)) session = undefined;
    const isElsewhere = session !== undefined && (session.agent !== call.agent || session.cwd !== cwd);
    if (session !== undefined && isElsewhere && !session.isRunning) {
      await this.#close(session);
      session = undefined;
    }
    if (session === undefined) return this.#openStored(call, request, id);
    this.#give(session, link);
    if (method === sessionRequests.load) {
      call.opens = { session, seq: session.seq };
      const seq = await session.replayAll((upTo) => this.#storedUpdates(session, upTo));
      call.opens = { session, seq };
      session.askAgain();
      return this.#finish(call, { result: withFacts(session.opened, { seq: session.seq }) });
    }
    const after = readMeta(HermesResumeMeta, _meta)?.after;
    const isComplete = after === undefined || session.catchUp(after);
    this.#finish(call, { result: withFacts(session.opened, { seq: session.seq, isComplete }) });
    session.askAgain();
  }

  async #storedUpdates({ id, agent }: HeldSession, upTo: number | undefined) {
    const params = { sessionId: id, ...(upTo !== undefined && { upTo }) };
    const response = await agent.ask(sessionMethods.replay.name, params);
    if ("error" in response) throw new Error(response.error.message);
    return HermesReplay.parse(response.result).updates;
  }

  #openStored(call: Call, { method, params }: AnyRequest, id: string): void {
    const { asker: link, agent } = call;
    const session = this.#hold(id, agent, fieldsOf(params)["cwd"]);
    const opening = Promise.withResolvers<boolean>();
    session.opening = opening.promise;
    call.opens = { session, seq: session.seq };
    this.#give(session, link);
    call.agentId = agent.request(method, params, (response) => {
      const isOpen = "result" in response;
      const outcome = isOpen ? { result: this.#openedBy(session, response.result) } : { error: response.error };
      if (!isOpen) this.#drop(session);
      opening.resolve(isOpen);
      this.#finish(call, outcome);
    });
  }

  async #close(session: HeldSession): Promise<void> {
    this.#drop(session);
    await session.agent.ask(sessionRequests.close, { sessionId: session.id });
  }

  #drop(session: HeldSession): void {
    session.dispose();
    if (this.#sessions.get(session.id) === session) this.#sessions.delete(session.id);
  }

  #remember(requestId: string, call: Call): void {
    this.#repeatable.set(requestId, call);
    if (this.#repeatable.size <= KEPT_RESPONSES) return;
    for (const [id, { response }] of this.#repeatable) {
      if (response === undefined) continue;
      this.#repeatable.delete(id);
      return;
    }
  }

  #repeat(call: Call, link: ClientLink, id: AnyRequest["id"]): void {
    call.asker = link;
    call.id = id;
    const { opens } = call;
    if (opens?.session.holder === undefined && opens !== undefined && this.#sessions.has(opens.session.id)) {
      this.#give(opens.session, link);
      opens.session.catchUp(opens.seq);
      opens.session.askAgain();
    }
    if (call.response !== undefined) link.send({ ...call.response, id });
  }

  #finish(
    call: Call,
    outcome: Pick<Extract<AnyResponse, { error: unknown }>, "error"> | { readonly result: unknown },
  ): void {
    call.response = { jsonrpc: "2.0", id: call.id, ...outcome };
    this.#running.delete(call);
    this.counts.sent += 1;
    call.asker.send(call.response);
    call.ended.resolve();
  }

  #receiveAnswer(link: ClientLink, response: AnyResponse): void {
    for (const session of this.#sessions.values()) if (session.answer(link, response)) return;
  }

  #receiveNotification(link: ClientLink, { method, params }: AnyNotification): void {
    if (link.agent === undefined) return;
    if (method === CANCEL_REQUEST) {
      const { requestId } = fieldsOf(params);
      const call = [...this.#running].find(({ asker, id }) => asker === link && id === requestId);
      if (call?.agentId === undefined) return;
      call.agent.send({ jsonrpc: "2.0", method, params: { requestId: call.agentId } });
      return;
    }
    const session = this.#sessions.get(sessionOf(params) ?? "");
    if (session !== undefined && session.holder !== link) return;
    (session?.agent ?? link.agent).send({ jsonrpc: "2.0", method, params });
  }

  #askClient(agent: SharedAgent, request: AnyRequest): void {
    const session = this.#sessions.get(sessionOf(request.params) ?? "");
    if (session !== undefined) {
      session.ask(request);
      return;
    }
    const error = { code: UNAVAILABLE, message: "A server asks its clients only about their sessions." };
    agent.send({ jsonrpc: "2.0", id: request.id, error });
  }

  #publish(agent: SharedAgent, message: AnyNotification): void {
    this.counts.sent += 1;
    if (message.method === CANCEL_REQUEST) {
      const requestId = fieldsOf(message.params)["requestId"] as AnyRequest["id"];
      const session = [...this.#sessions.values()].find((one) => one.agent === agent && one.withdraw(requestId));
      if (session !== undefined) return;
    }
    const sessionId = sessionOf(message.params);
    if (sessionId === undefined) {
      for (const link of this.#links) if (link.agent === agent) link.send(message);
      return;
    }
    this.#sessions.get(sessionId)?.publish(message);
  }
}

/** A record of the protocol with facts in `_meta.hermes`. */
function withFacts(record: Readonly<Record<string, unknown>>, facts: object): Readonly<Record<string, unknown>> {
  return withMeta({ params: record }, facts).params;
}
