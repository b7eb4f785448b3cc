/** A turn as a chat sees it: the answer in one message that grows, and the tool calls in another. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { Clock } from "../../agent-core/platform/clock.ts";
import { truncate } from "../../agent-core/platform/one-line.ts";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import { LiveMessage } from "../outbox/live-message.ts";
import type { Outbox, Place } from "../outbox/outbox.ts";

/** Calls that the message about them lists. */
const SHOWN_CALLS = 12;
const CALL_CHARS = 160;
/** Part of the longest message that a preview fills: marks of its Markdown need room. */
const PREVIEW_SHARE = 0.6;

export type ToolProgress = "off" | "new" | "all" | "verbose";

const marks: Readonly<Record<string, string>> = { completed: "✓", failed: "✗" };

type Call = { readonly title: string; readonly status: string; readonly parts: readonly string[] };

export type TurnViewOptions = {
  readonly outbox: Outbox;
  readonly place: Place;
  readonly clock: Clock;
  /** Time between edits; undefined where messages cannot be edited. Milliseconds. */
  readonly editMs: number | undefined;
  readonly textLength: number;
  readonly progress: ToolProgress;
  /** A message of an interrupted turn. */
  readonly preview: string | undefined;
  readonly onPreview: (id: string) => void;
};

export class TurnView {
  readonly #options: TurnViewOptions;
  readonly #answer: LiveMessage | undefined;
  readonly #progress: LiveMessage | undefined;
  readonly #calls = new Map<string, Call>();
  readonly #texts: string[] = [];
  #message: string | undefined;

  constructor(options: TurnViewOptions) {
    const { outbox, place, clock, editMs: everyMs, progress, preview: id, onPreview: onId } = options;
    this.#options = options;
    if (everyMs === undefined) return;
    this.#answer = new LiveMessage({ outbox, place, clock, everyMs, id, onId, isAnswer: true });
    if (progress !== "off") this.#progress = new LiveMessage({ outbox, place, clock, everyMs });
  }

  update(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        if (update.content.type === "text") this.#add(update.content.text, update.messageId ?? "");
        return;
      case "tool_call":
      case "tool_call_update":
        this.#call(update);
        return;
      case "notice":
        if (update.severity !== "info") this.#show(`! ${update.title}`);
        return;
      default:
    }
  }

  get text(): string {
    return this.#texts.join("\n\n").trim();
  }

  /** Ends the edits. Resolves to the id of the message that the whole answer replaces. */
  async end(): Promise<string | undefined> {
    const [preview] = await Promise.all([this.#answer?.end(), this.#progress?.end(this.#lines())]);
    return preview;
  }

  #add(text: string, message: string): void {
    if (message !== this.#message || this.#texts.length === 0) this.#texts.push("");
    this.#message = message;
    this.#texts.push((this.#texts.pop() ?? "") + text);
    const room = Math.floor(this.#options.textLength * PREVIEW_SHARE);
    const whole = this.text;
    // The start stays still while the end grows; of a long answer only the end is of interest.
    const shown = whole.length <= room ? whole : `… ${whole.slice(-room).replace(/^\S*\s/, "")}`;
    if (shown !== "") this.#answer?.show(shown);
  }

  #call({
    toolCallId: id,
    title,
    status,
    content,
    _meta: meta,
  }: Extract<SessionUpdate, { sessionUpdate: "tool_call" | "tool_call_update" }>): void {
    const earlier = this.#calls.get(id);
    const tasks = "tasks" in Object(meta?.["hermes"]);
    const texts = tasks
      ? (content ?? []).flatMap((each) =>
          each.type === "content" && each.content.type === "text" ? each.content.text.split("\n") : [],
        )
      : [];
    const parts = texts.length > 0 ? texts : (earlier?.parts ?? []);
    this.#calls.set(id, {
      title: title ?? earlier?.title ?? "a call",
      status: status ?? earlier?.status ?? "pending",
      parts,
    });
    this.#show(undefined);
  }

  #show(notice: string | undefined): void {
    if (notice !== undefined)
      this.#calls.set(`notice ${this.#calls.size}`, { title: notice, status: "notice", parts: [] });
    this.#progress?.show(this.#lines());
  }

  #lines(): string {
    const { progress } = this.#options;
    const all = [...this.#calls.values()];
    const shown = progress === "new" ? all.slice(-1) : all.slice(-SHOWN_CALLS);
    const lines = shown.flatMap(({ title, status, parts }) => [
      `${marks[status] ?? (status === "notice" ? "" : "…")} ${code(title)}`.trim(),
      ...parts.slice(0, progress === "verbose" ? parts.length : 6).map((part) => `   ${code(part)}`),
    ]);
    const earlier = all.length - shown.length;
    return [...(earlier > 0 ? [`… ${earlier} earlier`] : []), ...lines].join("\n");
  }
}

/** A title holds names of files and commands, which are no Markdown. */
function code(text: string): string {
  const line = visibleText(text.replaceAll(/\s+/g, " ").replaceAll("`", "'")).trim();
  return `\`${truncate(line, CALL_CHARS)}\``;
}
