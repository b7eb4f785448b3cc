/**
 * Memory of the gateway across restarts, in one file of JSON lines: messages that came in, messages that go out, and chats.
 * One line is one step, so that a kill leaves every step done or not done. A shortened copy replaces the file at each start.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { hasCode } from "../agent-core/platform/errors.ts";
import { parseJson } from "../agent-core/platform/json.ts";
import { makeFolder } from "../agent-core/platform/make-folder.ts";
import { incoming } from "./adapters/adapter.ts";

/** Ids of ended events that are kept, to drop doubles. For each platform. */
const KEPT_EVENTS = 4_096;
/** Bytes after which the file is shortened. */
const MAX_WRITTEN = 32_000_000;
/** Earlier sessions of a chat that `/resume` lists. */
const KEPT_SESSIONS = 20;

const outgoing = z.object({
  id: z.string(),
  platform: z.string(),
  chat: z.string(),
  isGroup: z.boolean(),
  /** Milliseconds since 1970. */
  at: z.number(),
  /** Place among the messages of the chat. */
  order: z.number(),
  /** Markdown. */
  text: z.string(),
  /** Id of the message that this one replaces. */
  replaces: z.string().exactOptional(),
  /** Path of a file to send. */
  file: z.string().exactOptional(),
  buttons: z.array(z.object({ label: z.string(), data: z.string() })),
  /** The outcome of an earlier try is not known. */
  isDoubtful: z.boolean(),
  tries: z.number(),
});
export type OutgoingEntry = z.infer<typeof outgoing>;

const chat = z.object({
  /** Platform, chat, and in groups the person. */
  key: z.string(),
  platform: z.string(),
  chat: z.string(),
  isGroup: z.boolean(),
  name: z.string(),
  /** The person who wrote last. */
  user: z.string(),
  sessionId: z.string().exactOptional(),
  /** Earlier ones, newest first. */
  earlier: z.array(z.string()),
  /** Time of the last message; milliseconds since 1970. */
  at: z.number(),
});
export type ChatRecord = z.infer<typeof chat>;

const step = z.object({
  came: z.object({ platform: z.string(), event: incoming, chat: z.string() }).exactOptional(),
  /** A turn began with these events. `runs`: how often one has begun. `preview`: message that it edits. */
  began: z
    .object({ events: z.array(z.string()), runs: z.number(), preview: z.string().exactOptional() })
    .exactOptional(),
  /** These events are dealt with. */
  done: z.array(z.string()).exactOptional(),
  out: z.array(outgoing).exactOptional(),
  /** A message is being sent, or it is sent or given up. */
  sending: z.string().exactOptional(),
  sent: z.string().exactOptional(),
  chat: chat.exactOptional(),
  state: z.object({ platform: z.string(), text: z.string() }).exactOptional(),
  /** Ids of ended events, in a shortened file. */
  known: z.array(z.string()).exactOptional(),
});
type Step = z.infer<typeof step>;

/** An event that is not dealt with. `id`: platform and id. */
export type OpenEvent = {
  readonly id: string;
  readonly platform: string;
  readonly chat: string;
  readonly event: z.infer<typeof incoming>;
  readonly runs: number;
  /** First event of the turn that began with this one. */
  readonly turn: string | undefined;
  readonly preview: string | undefined;
};

export class GatewayJournal {
  readonly events = new Map<string, OpenEvent>();
  readonly outgoing = new Map<string, OutgoingEntry>();
  readonly chats = new Map<string, ChatRecord>();
  readonly states = new Map<string, string>();
  readonly #known = new Map<string, Set<string>>();
  readonly #path: string;
  #file: number;
  /** Bytes since the file was shortened. */
  #written = 0;

  /** Reads and shortens the file. Throws the system's error when it cannot be written. */
  constructor(folder: string) {
    makeFolder(folder, 0o700);
    this.#path = join(folder, "journal.jsonl");
    for (const line of textOf(this.#path).split("\n")) {
      const parsed = step.safeParse(parseJson(line)); // a killed process may leave a part of a line
      if (parsed.success) this.#apply(parsed.data);
    }
    this.#file = this.#shorten();
  }

  /** Replaces the file by one without what is over. Returns its descriptor. */
  #shorten(): number {
    const shortened = `${this.#path}.new`;
    const lines = this.#steps().map((each) => `${JSON.stringify(each)}\n`);
    writeFileSync(shortened, lines.join(""), { mode: 0o600 });
    renameSync(shortened, this.#path);
    syncFolder(dirname(this.#path));
    this.#written = 0;
    return openSync(this.#path, "a", 0o600);
  }

  /** False for an event that is known. */
  add(platform: string, chatKey: string, event: OpenEvent["event"]): OpenEvent | undefined {
    const id = eventId(platform, event.id);
    if (this.#known.get(platform)?.has(id) === true) return undefined;
    this.#write({ came: { platform, event, chat: chatKey } });
    return this.events.get(id);
  }

  began(events: readonly string[], runs: number, preview?: string): void {
    this.#write({ began: { events: [...events], runs, ...(preview !== undefined && { preview }) } });
  }

  /** Ends events together with the messages that answer them. */
  end(events: readonly string[], out: readonly OutgoingEntry[] = []): void {
    if (events.length === 0 && out.length === 0) return;
    this.#write({ ...(events.length > 0 && { done: [...events] }), ...(out.length > 0 && { out: [...out] }) });
  }

  /** Stores messages once for each id. False for a known id. */
  addOnce(id: string, out: readonly OutgoingEntry[]): boolean {
    if (this.#known.get(platformOf(id))?.has(id) === true) return false;
    this.#write({ known: [id], out: [...out] });
    return true;
  }

  sending(id: string): void {
    this.#write({ sending: id });
  }

  sent(id: string): void {
    this.#write({ sent: id });
  }

  keepChat(record: ChatRecord): void {
    this.#write({ chat: { ...record, earlier: record.earlier.slice(0, KEPT_SESSIONS) } });
  }

  keepState(platform: string, text: string): void {
    if (this.states.get(platform) !== text) this.#write({ state: { platform, text } });
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(written: Step): void {
    this.#written += writeSync(this.#file, `${JSON.stringify(written)}\n`);
    this.#apply(written);
    if (this.#written < MAX_WRITTEN) return;
    closeSync(this.#file);
    this.#file = this.#shorten();
  }

  #apply({ came, began, done = [], out = [], sending, sent, chat: record, state, known = [] }: Step): void {
    if (came !== undefined) {
      const id = eventId(came.platform, came.event.id);
      this.#know(id);
      this.events.set(id, {
        id,
        platform: came.platform,
        chat: came.chat,
        event: came.event,
        runs: 0,
        turn: undefined,
        preview: undefined,
      });
    }
    for (const id of began?.events ?? []) {
      const event = this.events.get(id);
      const { runs = 0, events: [turn] = [], preview = event?.preview } = began ?? {};
      if (event) this.events.set(id, { ...event, runs, turn, preview });
    }
    for (const id of done) this.events.delete(id);
    for (const entry of out) this.outgoing.set(entry.id, entry);
    const tried = this.outgoing.get(sending ?? "");
    if (tried) this.outgoing.set(tried.id, { ...tried, isDoubtful: true, tries: tried.tries + 1 });
    if (sent !== undefined) this.outgoing.delete(sent);
    if (record !== undefined) this.chats.set(record.key, record);
    if (state !== undefined) this.states.set(state.platform, state.text);
    for (const id of known) this.#know(id);
  }

  #know(id: string): void {
    const platform = platformOf(id);
    const known = this.#known.get(platform) ?? new Set();
    known.add(id);
    if (known.size > KEPT_EVENTS * 2) this.#known.set(platform, new Set([...known].slice(-KEPT_EVENTS)));
    else this.#known.set(platform, known);
  }

  #steps(): readonly Step[] {
    const open = [...this.events.values()];
    return [
      ...[...this.#known.values()].map((ids) => ({ known: [...ids].slice(-KEPT_EVENTS) })),
      ...[...this.chats.values()].map((each) => ({ chat: each })),
      ...[...this.states].map(([platform, text]) => ({ state: { platform, text } })),
      ...open.map(({ platform, event, chat: key }) => ({ came: { platform, event, chat: key } })),
      ...open
        .filter(({ id, turn }) => id === turn)
        .map(({ id, runs, preview }) => {
          const events = open.filter(({ turn }) => turn === id).map((event) => event.id);
          return { began: { events, runs, ...(preview !== undefined && { preview }) } };
        }),
      ...[...this.outgoing.values()].map((entry) => ({ out: [entry] })),
    ];
  }
}

function eventId(platform: string, id: string): string {
  return `${platform}:${id}`;
}

function platformOf(id: string): string {
  return id.slice(0, id.indexOf(":"));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return ""; // the first start
    throw error;
  }
}

/** Makes a rename outlast a power cut, where the system can. */
function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, "r");
    fsyncSync(handle);
    closeSync(handle);
  } catch {
    // Windows cannot open folders
  }
}
