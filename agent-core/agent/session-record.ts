/**
 * The memory of a session: its messages, title, plan and system prompt, each written to the journal as it changes.
 * Without a journal everything stays in memory.
 */
import type { Effect } from "../approval/decision.ts";
import type { Environment } from "../config/home.ts";
import { placeSaying } from "../memory/statement.ts";
import { type Message, ownWords, typedText } from "../messages/message.ts";
import { PLACE_HEAD } from "../prompt/system-prompt.ts";
import type { HermesSettled } from "../protocol/files.ts";
import { redact, secretsOf } from "../providers/redact.ts";
import { type Compression, Conversation, type PositionRange } from "../sessions/conversation.ts";
import type { EntryOf } from "../sessions/entry.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { StoredPlan, StoredSession } from "../sessions/read-journal.ts";
import { newSessionId } from "../sessions/session-files.ts";
import { titleLine } from "../sessions/titles.ts";
import { type Todo, TodoList } from "../tools/todo-list.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import type { Notifier } from "./notifier.ts";

export type RecordOptions = Pick<AIAgentOptions, "journal" | "stored" | "title"> & {
  /** Source of the secrets that stored tool output must not contain. */
  readonly environment: Environment;
  readonly notify: Pick<Notifier, "plan" | "title">;
};

export class SessionRecord {
  readonly conversation: Conversation;
  readonly todos: TodoList;
  readonly #options: RecordOptions;
  /** All versions of the plan, in order. */
  readonly #plans: StoredPlan[];
  /** Plan before the last rewind. */
  #planBefore: readonly Todo[] | undefined;
  #title: string | undefined;
  #systemPrompt: string | undefined;

  constructor(options: RecordOptions) {
    this.#options = options;
    const { stored } = options;
    this.conversation = stored?.conversation ?? new Conversation();
    this.#title = stored === undefined ? options.title : stored.title;
    this.#systemPrompt = stored?.systemPrompt;
    this.#plans = [...(stored?.plans ?? [])];
    this.todos = new TodoList((items) => {
      this.#plans.push({ position: this.conversation.next, items: [...items] });
      this.journal({ type: "todos", items: [...items] });
      options.notify.plan(items);
    });
    this.todos.restore(this.#plans.at(-1)?.items ?? []);
  }

  /** Undefined until the first turn has ended. */
  get title(): string | undefined {
    return this.#title;
  }

  /** Undefined until the first turn has begun. */
  get systemPrompt(): string | undefined {
    return this.#systemPrompt;
  }

  /** Folder that the model was told last; undefined before the first prompt. */
  get toldFolder(): string | undefined {
    const told = this.conversation.messages.flatMap(({ role, content, ...message }) =>
      role === "user" && "synthetic" in message && typeof content === "string" ? [content] : [],
    );
    const last = [this.systemPrompt ?? "", ...told].findLast((text) => text.includes(PLACE_HEAD));
    return last?.split(PLACE_HEAD).at(-1)?.split("\n", 1)[0];
  }

  add(message: Message): number {
    const { journal, environment } = this.#options;
    const position = this.conversation.next;
    const line = journal?.append({ type: "message", position, message: withoutSecrets(message, environment) });
    return this.conversation.append(message, position, line);
  }

  /** True when the model gets this text already. */
  isKnown(text: string): boolean {
    const { messages } = this.conversation;
    const isInMessage = messages.some(({ content }) => typeof content === "string" && content.includes(text));
    return isInMessage || this.systemPrompt?.includes(text) === true;
  }

  /**
   * True for an address on a host that the user wrote, and for one that a file or a page named before the model did: an
   * address that the model composed can hold what it has read.
   */
  names(address: string): boolean {
    if (!URL.canParse(address)) return false;
    const { host } = new URL(address);
    const exact = address.replace(/#.*$/s, "").replace(/\/$/, "");
    const { messages } = this.conversation;
    const tools = calledTools(messages);
    for (const message of messages) {
      const by = namedBy(message, { host, exact, tools });
      if (by !== undefined) return by === "session";
    }
    return false;
  }

  /** Marks a note of the memory that the output of a tool says, and the user does not, and a skill with a line of one. */
  withSource(effect: Effect): Effect {
    if ((effect.kind !== "memory" && effect.kind !== "skill") || effect.text === undefined) return effect;
    const { messages } = this.conversation;
    const typed = messages.flatMap((message) =>
      message.role === "user" && message.synthetic !== true ? [ownWords(typedText(message.content)).own] : [],
    );
    const own = typed.join("\n");
    const tools = calledTools(messages);
    const outputs = messages.flatMap((message) => {
      if (message.role !== "tool" || tools.get(message.tool_call_id) === "skill_view") return []; // read to be changed
      return [String(message.content).toLowerCase()];
    });
    const isCopied = (line: string): boolean =>
      line.length >= SHORTEST_COPY &&
      !own.toLowerCase().includes(line) &&
      outputs.some((output) => output.includes(line));
    const lines = effect.kind === "skill" ? effect.text.toLowerCase().split(/\s*\n[\s>*#\d.-]*/) : [];
    const isFromTools = lines.some(isCopied) || (effect.kind === "memory" && placeSaying(effect.text, own, outputs));
    return isFromTools ? { ...effect, isFromTools: true } : effect;
  }

  /** Appends an entry to the journal, if there is one. */
  journal(entry: NewEntry): void {
    this.#options.journal?.append(entry);
  }

  settle(decision: HermesSettled): void {
    this.journal({ type: "review", ...decision });
    this.#options.stored?.decide(decision);
  }

  /** Makes everything so far survive a power cut. */
  async sync(): Promise<void> {
    await this.#options.journal?.sync();
  }

  setTitle(text: string): void {
    const title = titleLine(text);
    this.#title = title;
    this.journal({ type: "title", title });
    this.#options.notify.title({ title });
  }

  /** Keeps the first system prompt of a session, so that the prefix of its requests never changes. */
  freezeSystemPrompt(text: string): void {
    this.#systemPrompt = text;
    this.journal({ type: "system-prompt", text });
  }

  /** Takes back the messages from position `keep` on, as Conversation. */
  rewind(keep: number, isRetry = false): void {
    this.conversation.rewind(keep, isRetry);
    this.journal({ type: "rewind", keep, ...(isRetry && { isRetry }) });
    this.#planBefore = this.todos.items;
    this.#changePlan(this.#plans.findLast(({ position }) => position <= keep)?.items ?? []);
  }

  /** Takes the last rewind back. Returns the first position that returned; undefined when a message came after it. */
  unrewind(): number | undefined {
    const returned = this.conversation.unrewind();
    const [first] = returned[0] ?? [];
    if (first === undefined) return undefined;
    this.journal({ type: "rewind", keep: first, returned: returned.map(([from, to]) => [from, to]) });
    if (this.#planBefore !== undefined) this.#changePlan(this.#planBefore);
    return first;
  }

  #changePlan(items: readonly Todo[]): void {
    if (JSON.stringify(items) !== JSON.stringify(this.todos.items)) this.todos.replace(items);
  }

  replaceHistory(messages: readonly Message[]): void {
    this.#clear();
    for (const message of messages) this.add(message);
  }

  /** Continues another session in this one. Throws when the other journal can no longer be read. */
  resumeFrom(stored: StoredSession): void {
    this.#clear();
    const positions = new Map<number, number>();
    for (const { position, message } of stored.conversation.transcript) {
      positions.set(position, this.add(message));
      for (const { id } of (message.role === "assistant" && message.tool_calls) || []) {
        const entry = stored.toolEntry(id);
        if (entry !== undefined) this.journal(entry);
      }
    }
    this.#resumeCompression(stored, positions);
    if (stored.todos.length === 0) return;
    this.todos.restore(stored.todos);
    this.journal({ type: "todos", items: [...stored.todos] });
  }

  #resumeCompression(stored: StoredSession, positions: ReadonlyMap<number, number>): void {
    const { compression } = stored.conversation;
    if (compression === undefined) return;
    const moved = atNewPositions(compression, positions);
    this.conversation.compress(moved);
    const made = stored.records.findLast((entry) => entry.type === "compression");
    const { strategy, tokensBefore, tokensAfter } = made ?? { strategy: "summary", tokensBefore: 0, tokensAfter: 0 };
    this.journal(compressionEntry(moved, { strategy, tokensBefore, tokensAfter }));
  }

  #clear(): void {
    if (this.conversation.transcript.length > 0) this.rewind(0);
  }
}

/** Journal entry of a compression, with a new id for the lineage. */
export function compressionEntry(
  { dropped, summary, shortened }: Compression,
  facts: Pick<EntryOf<"compression">, "strategy" | "tokensBefore" | "tokensAfter" | "refused">,
): NewEntry {
  return {
    type: "compression",
    child: newSessionId(Date.now()),
    dropped: dropped.map(([first, last]) => [first, last]),
    summary,
    shortened: [...shortened],
    ...facts,
  };
}

function atNewPositions(
  { dropped, summary, shortened }: Compression,
  positions: ReadonlyMap<number, number>,
): Compression {
  return {
    dropped: dropped.flatMap(([first, last]): PositionRange[] => {
      const moved = [...positions].filter(([old]) => old >= first && old <= last).map(([, position]) => position);
      const [start, end] = [moved[0], moved.at(-1)];
      return start === undefined || end === undefined ? [] : [[start, end]];
    }),
    summary,
    shortened: shortened.flatMap(({ position: old, content }) => {
      const position = positions.get(old);
      return position === undefined ? [] : [{ position, content }];
    }),
  };
}

/** Masks secrets in the output of a tool. Returns the same message when there are none. */
export function withoutSecrets(message: Message, environment: Environment): Message {
  if (message.role !== "tool") return message;
  const content = redact(message.content, secretsOf(environment));
  return content === message.content ? message : { ...message, content };
}

/** Tools whose results are text that is there without the model. */
const NAMING = new Set(["read_file", "search_files", "web_search", "web_extract"]);

/** Shorter lines, such as most commands, are alike without a copy. Characters. */
const SHORTEST_COPY = 40;

/** Names of the tools that the model called, by the ids of the calls. */
function calledTools(messages: readonly Message[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));
  return new Map(calls.map(({ id, function: { name } }) => [id, name]));
}

type Wanted = { readonly host: string; readonly exact: string; readonly tools: ReadonlyMap<string, string> };

/** Side that a message names the address for. */
function namedBy(message: Message, { host, exact, tools }: Wanted): "session" | "model" | undefined {
  switch (message.role) {
    case "user":
      if (message.synthetic === true) return undefined;
      return holdsWhole(typedText(message.content).toLowerCase(), host, LONGER_HOST) ? "session" : undefined;
    case "assistant":
      return JSON.stringify(message).replaceAll("\\\\/", "/").includes(exact) ? "model" : undefined;
    case "tool":
      return NAMING.has(tools.get(message.tool_call_id) ?? "") && holdsWhole(message.content, exact, LONGER_ADDRESS)
        ? "session"
        : undefined;
    default:
      return undefined;
  }
}

/** Text after a host, and after an address, that makes a longer one of it. */
const LONGER_HOST = /^(?:[\w-]|\.\w)/;
const LONGER_ADDRESS = /^(?:\/?[\w%&=?+~-]|\.\w)/;

/** True when `text` holds `part`, and not only a longer host or address around it. */
function holdsWhole(text: string, part: string, longer: RegExp): boolean {
  for (let at = text.indexOf(part); part !== "" && at >= 0; at = text.indexOf(part, at + 1)) {
    const end = at + part.length;
    if (!/[\w.-]/.test(text.slice(Math.max(0, at - 1), at)) && !longer.test(text.slice(end, end + 2))) return true;
  }
  return false;
}
