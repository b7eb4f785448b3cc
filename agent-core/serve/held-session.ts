/**
 * An open session above connections. One connection holds it at a time; while none does, its turn goes on and the agent's
 * requests wait.
 */
import { randomInt } from "node:crypto";
import {
  type AnyNotification,
  type AnyRequest,
  type AnyResponse,
  methods,
  type SessionUpdate,
} from "@zed-industries/agent-client-protocol";
import { noticeAsThought, noticeUpdate } from "../acp/conversation-updates.ts";
import { newId } from "../platform/new-id.ts";
import { NUMBERS_PER_OPENING } from "../protocol/lasting-stream.ts";
import { fieldsOf, withMeta } from "../protocol/remote.ts";
import type { ClientLink } from "./client-link.ts";
import type { SharedAgent } from "./shared-agent.ts";

/** Updates that replace the earlier one of their kind. Another client gets the last one. */
const STATES: ReadonlySet<unknown> = new Set(["usage_update", "available_commands_update"]);

const TAKEN = "Another connection has taken this session over. Load or resume it to continue here.";

export type HeldSessionOptions = {
  readonly id: string;
  readonly agent: SharedAgent;
  /** Folder of the session, as the client gave it. */
  readonly cwd: unknown;
  /** Time that requests of the agent wait without a client. Milliseconds. */
  readonly graceMs: number;
  /** Time after which a session without a client closes. Milliseconds. */
  readonly unloadMs: number;
  /** Closes the session. */
  readonly unload: () => void;
};

/** A request of the agent, with the id that the clients see. */
type Waiting = { readonly request: AnyRequest; readonly agentId: AnyRequest["id"] };

export class HeldSession {
  readonly id: string;
  readonly agent: SharedAgent;
  readonly cwd: unknown;
  /** Response to the request that opened it, with the changes since. */
  opened: Readonly<Record<string, unknown>> = {};
  /** Settles when the agent has opened it; false when it could not. */
  opening: Promise<boolean> = Promise.resolve(true);
  readonly #options: HeldSessionOptions;
  readonly #waiting = new Map<AnyRequest["id"], Waiting>();
  readonly #states = new Map<unknown, AnyNotification>();
  #log = new UpdateLog();
  #holder: ClientLink | undefined;
  #grace: NodeJS.Timeout | undefined;
  #unloading: NodeJS.Timeout | undefined;
  /** Requests wait for no client any more. */
  #isGraceOver: boolean = false;
  #prompts = 0;
  /** Number of the last notification before the running turn. */
  #turnStart = 0;
  /** Position of the running turn's prompt in the conversation; undefined before the agent has stored it. */
  #promptPosition: number | undefined;
  /** A replay for the holder is on its way, and the notifications follow it. */
  #isReplaying: boolean = false;

  constructor(options: HeldSessionOptions) {
    this.id = options.id;
    this.agent = options.agent;
    this.cwd = options.cwd;
    this.#options = options;
  }

  get holder(): ClientLink | undefined {
    return this.#holder;
  }

  get seq(): number {
    return this.#log.seq;
  }

  get isRunning(): boolean {
    return this.#prompts > 0;
  }

  /** The connection holds the session from now on, and the former holder is notified. */
  take(link: ClientLink): void {
    const former = this.#holder;
    if (former === link) return;
    this.#stopTimers();
    this.#isGraceOver = false;
    this.#holder = link;
    if (former !== undefined) former.send(withMeta(this.#notice(TAKEN), { taken: true }));
  }

  /** The connection has ended. */
  release(link: ClientLink): void {
    if (this.#holder !== link) return;
    this.#holder = undefined;
    this.#grace = setTimeout(() => this.#endGrace(), this.#options.graceMs);
    this.#startUnloading();
  }

  dispose(): void {
    this.#stopTimers();
  }

  /** Sends the holder what is newer than `after`. False when some of it is gone. */
  catchUp(after: number): boolean {
    const newer = this.#log.after(after);
    for (const message of newer ?? []) this.#holder?.send(message);
    return newer !== undefined;
  }

  /** Sends the holder the requests that have no answer yet. */
  askAgain(): void {
    for (const { request } of this.#waiting.values()) this.#holder?.send(request);
  }

  publish(message: AnyNotification): void {
    const { update } = fieldsOf(message.params);
    const { sessionUpdate, configOptions, currentModeId, _meta } = fieldsOf(update);
    if (update === undefined) this.#states.set(message.method, message);
    else if (STATES.has(sessionUpdate)) this.#states.set(sessionUpdate, message);
    if (configOptions !== undefined) this.opened = { ...this.opened, configOptions };
    if (currentModeId !== undefined) {
      this.opened = { ...this.opened, modes: { ...fieldsOf(this.opened["modes"]), currentModeId } };
    }
    const { position } = fieldsOf(fieldsOf(_meta)["hermes"]);
    if (sessionUpdate === "session_info_update" && typeof position === "number") this.#turnBegins(position);
    const numbered = this.#log.append(message);
    if (!this.#isReplaying) this.#holder?.send(numbered);
  }

  promptSent(): void {
    this.#prompts += 1;
    if (this.#prompts > 1) return;
    this.#turnStart = this.#log.seq;
    this.#promptPosition = undefined;
  }

  promptEnded(): void {
    this.#prompts -= 1;
    if (this.#holder === undefined) this.#startUnloading();
  }

  /**
   * Sends the holder the conversation from its beginning: the stored part by `replay`, up to a position when a turn runs, then
   * the notifications of the running turn. Nothing that was sent before can be resumed afterwards. Resolves to the number before.
   */
  async replayAll(replay: (upTo: number | undefined) => Promise<readonly SessionUpdate[]>): Promise<number> {
    this.#isReplaying = true;
    const start = this.isRunning ? this.#turnStart : this.#log.seq;
    const updates = await replay(this.isRunning ? this.#promptPosition : undefined).finally(() => {
      this.#isReplaying = false;
    });
    const newer = this.#log.after(start) ?? [];
    this.#log = new UpdateLog();
    const { seq } = this.#log;
    this.#turnStart = seq + updates.length;
    const stored = updates.map((update) => this.#update(update));
    for (const message of [...stored, ...newer, ...this.#states.values()])
      this.#holder?.send(this.#log.append(message));
    return seq;
  }

  /** Passes a request of the agent on. */
  ask(request: AnyRequest): void {
    const waiting = { request: { ...request, id: `hermes-${newId()}` }, agentId: request.id };
    this.#waiting.set(waiting.request.id, waiting);
    if (this.#holder !== undefined) this.#holder.send(waiting.request);
    else if (this.#isGraceOver) this.#refuse(waiting);
  }

  /** Passes the holder's answer on. Any other answer is dropped. */
  answer(link: ClientLink, response: AnyResponse): boolean {
    const waiting = this.#waiting.get(response.id);
    if (waiting === undefined) return false;
    if (link === this.#holder) this.#settle(waiting, response);
    return true;
  }

  /** The agent no longer needs an answer. */
  withdraw(agentId: AnyRequest["id"]): boolean {
    const waiting = [...this.#waiting.values()].find((one) => one.agentId === agentId);
    if (waiting === undefined) return false;
    const params = { requestId: waiting.request.id };
    this.#holder?.send({ jsonrpc: "2.0", method: "$/cancel_request", params });
    return true;
  }

  #turnBegins(position: number): void {
    this.#turnStart = this.#log.seq;
    this.#promptPosition = position;
  }

  #settle({ request, agentId }: Waiting, response: AnyResponse): void {
    this.#waiting.delete(request.id);
    this.agent.send({ ...response, id: agentId });
  }

  #endGrace(): void {
    this.#isGraceOver = true;
    for (const waiting of [...this.#waiting.values()]) this.#refuse(waiting);
  }

  /** In words where the protocol has a place for them. */
  #refuse(waiting: Waiting): void {
    const minutes = this.#options.graceMs / 60_000;
    const reason = `Nobody answered: no client has been connected for ${minutes} minutes.`;
    const { id, method, params } = waiting.request;
    const result = refusalOf(method, params, reason);
    const outcome = result === undefined ? { error: { code: -32000, message: reason } } : { result };
    this.#settle(waiting, { jsonrpc: "2.0", id, ...outcome });
  }

  #startUnloading(): void {
    clearTimeout(this.#unloading);
    if (!this.isRunning) this.#unloading = setTimeout(this.#options.unload, this.#options.unloadMs);
  }

  #stopTimers(): void {
    clearTimeout(this.#grace);
    clearTimeout(this.#unloading);
  }

  #notice(text: string): AnyNotification {
    const notice = noticeUpdate("warning", text, undefined);
    return this.#update(this.agent.showsNotices ? notice : (noticeAsThought(notice) ?? notice));
  }

  #update(update: SessionUpdate): AnyNotification {
    return { jsonrpc: "2.0", method: methods.client.session.update, params: { sessionId: this.id, update } };
  }
}

/** Undefined for a request without a result that refuses. */
function refusalOf(method: string, params: unknown, reason: string): unknown {
  if (method === methods.client.elicitation.create) return { action: "cancel" };
  if (method !== methods.client.session.requestPermission) return undefined;
  const { options } = fieldsOf(params);
  const reject = (Array.isArray(options) ? options : []).map(fieldsOf).find(({ kind }) => kind === "reject_once");
  if (reject === undefined) return { outcome: { outcome: "cancelled" } };
  return { outcome: { outcome: "selected", optionId: reject["optionId"], _meta: { hermes: { reason } } } };
}

/** Older notifications are dropped beyond these limits. */
const MAX_ENTRIES = 10_000;
const MAX_CHARS = 32_000_000;
/** Openings have random numbers, so that a number of an earlier server is not taken for one of this one. */
const OPENINGS = 2 ** 20;

type Entry = { readonly seq: number; readonly message: AnyNotification; readonly chars: number };

/** Notifications with their numbers, for clients that come back. */
class UpdateLog {
  readonly #entries: Entry[] = [];
  #chars = 0;
  #seq = randomInt(OPENINGS) * NUMBERS_PER_OPENING;

  /** Number of the last notification. */
  get seq(): number {
    return this.#seq;
  }

  /** Returns the message with its number. */
  append(message: AnyNotification): AnyNotification {
    this.#seq += 1;
    const numbered = withMeta(message, { seq: this.#seq });
    const chars = charsOf(message.params);
    this.#entries.push({ seq: this.#seq, message: numbered, chars });
    this.#chars += chars;
    if (this.#entries.length > MAX_ENTRIES || this.#chars > MAX_CHARS) this.#shorten();
    return numbered;
  }

  /** Notifications after a number; undefined when some of them are gone, or the number is of another opening. */
  after(seq: number): readonly AnyNotification[] | undefined {
    const first = this.#seq - this.#entries.length;
    if (seq < first || seq > this.#seq) return undefined;
    return this.#entries.slice(seq - first).map(({ message }) => message);
  }

  /** Drops a tenth, so that the next notifications cost nothing. */
  #shorten(): void {
    const dropped = this.#entries.splice(0, Math.ceil(this.#entries.length / 10));
    for (const { chars } of dropped) this.#chars -= chars;
  }
}

/** Length of the texts in a value. */
function charsOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let chars = 0;
  for (const member of Object.values(value)) chars += charsOf(member);
  return chars;
}
