/** Updates of a session as lines: finished ones, which are printed once, and the live ones of work that goes on. */
import { truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { PlanEntry, SessionUpdate, ToolCallUpdate } from "@zed-industries/agent-client-protocol";
import { defined } from "../../agent-core/platform/defined.ts";
import { containedText } from "../../agent-core/platform/visible-text.ts";
import type { HermesUpdateMeta } from "../../agent-core/protocol/update-meta.ts";
import {
  callLine,
  type Drawing,
  duration,
  endedCallLines,
  indented,
  outputOf,
  planLines,
  type ShownCall,
  taskLines,
} from "./activity.ts";
import { MarkdownStream } from "./markdown-stream.ts";
import type { Theme } from "./theme.ts";

/** Lines of a running command's output that are live. */
const LIVE_OUTPUT = 3;
/** Part of a message that shows. */
const PROMPT_ROWS = 20;
const PROMPT_CHARS = 4_000;
/** Calls whose whole output `showHidden` prints. */
const KEPT_CALLS = 3;

export type Block = (drawing: Drawing) => readonly string[];
type Open = { call: ShownCall; readonly parent: string | undefined };

export class Transcript {
  theme: Theme;
  /** Prints whole outputs and thoughts. */
  isVerbose: boolean = false;
  readonly #finished: Block[] = [];
  #answer: MarkdownStream | undefined;
  #answerText = "";
  #lastAnswer = "";
  #message: string | null | undefined;
  #thought: { text: string; readonly startedAt: number } | undefined;
  readonly #calls = new Map<string, Open>();
  #hidden: Block[] = [];
  #wait: string | undefined;
  #plan: readonly PlanEntry[] = [];

  constructor(theme: Theme) {
    this.theme = theme;
  }

  /** Text of the last whole answer. */
  get lastAnswer(): string {
    return this.#answerText === "" ? this.#lastAnswer : this.#answerText;
  }

  /** An answer is being written. */
  get isAnswering(): boolean {
    return this.#answer !== undefined;
  }

  /** Shows the request about a call, with its diffs. */
  request(callId: string, block: Block): void {
    const open = this.#calls.get(callId);
    if (open !== undefined) open.call = { ...open.call, isShown: true };
    this.say(block);
  }

  /** Lines of the client itself, such as the banner. */
  say(block: Block): void {
    this.#endParts();
    this.#finished.push(block);
  }

  /** A line for the user; `mark` stands before it. */
  note(text: string, mark: "info" | "warning" | "error" = "info"): void {
    this.say(({ theme, width }) => {
      const paint = { info: theme.dim, warning: theme.warning, error: theme.bad }[mark];
      return wrapTextWithAnsi(containedText(text), Math.max(1, width - 2)).map((line) => paint(`  ${line}`));
    });
  }

  /** The user's message, as it was sent. Of a long one, such as a paste, the beginning shows. */
  prompt(text: string): void {
    const rows = text.split("\n");
    const shown = rows.slice(0, PROMPT_ROWS).join("\n").slice(0, PROMPT_CHARS);
    const rest = text.length - shown.length;
    this.say(({ theme, width }) => {
      const lines = wrapTextWithAnsi(containedText(shown), Math.max(1, width - 2));
      return [
        "",
        ...lines.map((line, index) => `${index === 0 ? theme.bold(theme.accent("❯")) : " "} ${theme.bold(line)}`),
        ...(rest > 0 ? [theme.dim(`  … ${rest.toLocaleString("en")} more characters`)] : []),
      ];
    });
  }

  /** An answer that is not a part of the conversation. */
  aside(title: string, markdown: string): void {
    const stream = new MarkdownStream(this.theme);
    stream.append(containedText(markdown));
    this.say(({ theme, width }) => {
      const lines = stream.end(Math.max(1, width - 4)).map((line) => `${theme.accent("  ▏ ")}${line}`);
      return ["", truncateToWidth(theme.dim(`  ▏ ${title}`), width, "…"), ...lines];
    });
  }

  update(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        if (update.content.type === "text") this.#write(update.content.text, update.messageId);
        break;
      case "agent_thought_chunk":
        if (update.content.type === "text") this.#think(update.content.text);
        break;
      case "user_message_chunk":
        if (update.content.type === "text") this.prompt(update.content.text);
        break;
      case "tool_call":
      case "tool_call_update":
        this.#updateCall(update);
        break;
      case "plan":
        this.#showPlan(update.entries);
        break;
      case "notice":
        if ("retry" in Object(update._meta?.["hermes"])) this.#wait = update.title;
        else this.note(`! ${update.title}`, update.severity === "info" ? "info" : "warning");
        break;
      case "session_info_update":
        this.#showCompression(update._meta?.["hermes"]);
        break;
      default:
        break;
    }
  }

  endTurn(): void {
    this.#endParts();
    this.#endPlan();
    this.#calls.clear();
    this.#wait = undefined;
  }

  /** Lines that never change again. `maxOpen`: rows that may stay live. */
  settle(drawing: Drawing, maxOpen: number): readonly string[] {
    const lines = this.#finished.splice(0).flatMap((block) => block(drawing));
    return this.#answer === undefined ? lines : [...lines, ...this.#answer.settle(drawing.width, maxOpen)];
  }

  live(drawing: Drawing): readonly string[] {
    const { theme, width } = drawing;
    const lines: string[] = this.#answer === undefined ? [] : [...this.#answer.open(width)];
    for (const { call, parent } of this.#calls.values()) {
      if (parent !== undefined) continue;
      lines.push(callLine(call, duration(Date.now() - call.startedAt), drawing));
      lines.push(
        ...indented(outputOf(call.content ?? []).slice(-LIVE_OUTPUT), drawing),
        ...taskLines(call.tasks ?? [], drawing),
      );
    }
    lines.push(...planLines(this.#plan, drawing));
    if (this.#wait !== undefined) lines.push(truncateToWidth(theme.warning(`  ! ${this.#wait}`), width, "…"));
    return lines;
  }

  /** Prints the outputs and thoughts that the last lines stand for. */
  showHidden(): void {
    const blocks = this.#hidden;
    this.say((drawing) =>
      blocks.length === 0 ? [drawing.theme.dim("  Nothing is hidden.")] : blocks.flatMap((block) => block(drawing)),
    );
  }

  #write(text: string, messageId: string | null | undefined): void {
    this.#endThought();
    this.#wait = undefined;
    if (this.#answer !== undefined && messageId !== this.#message) this.#endAnswer();
    if (this.#answer === undefined) {
      this.#answer = new MarkdownStream(this.theme);
      this.#finished.push(() => [""]);
      this.#message = messageId;
    }
    this.#answer.append(containedText(text));
    this.#answerText += text;
  }

  #endParts(): void {
    this.#endThought();
    this.#endAnswer();
  }

  #endAnswer(): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.#answer = undefined;
    this.#lastAnswer = this.#answerText;
    this.#answerText = "";
    this.#finished.push(({ width }) => answer.end(width));
  }

  #think(text: string): void {
    this.#endAnswer();
    this.#thought ??= { text: "", startedAt: Date.now() };
    this.#thought.text += text;
  }

  #endThought(): void {
    const thought = this.#thought;
    if (thought === undefined) return;
    this.#thought = undefined;
    const time = duration(Date.now() - thought.startedAt);
    const text: Block = ({ theme, width }) =>
      wrapTextWithAnsi(containedText(thought.text.trim()), Math.max(1, width - 7)).map((line) =>
        theme.dim(`  ┊    ${line}`),
      );
    this.#finished.push((drawing) => [
      drawing.theme.dim(`  ┊ 💭 ${"thought".padEnd(9)} ${time}`),
      ...(this.isVerbose ? text(drawing) : []),
    ]);
    this.#hide(text);
  }

  #hide(block: Block): void {
    this.#hidden = [...this.#hidden, block].slice(-KEPT_CALLS);
  }

  #updateCall(update: ToolCallUpdate): void {
    const known = this.#calls.get(update.toolCallId);
    const meta: HermesUpdateMeta = Object(update._meta?.["hermes"]);
    if (known === undefined && (update.title === undefined || update.title === null)) return;
    if (known === undefined) this.#endParts();
    this.#wait = undefined;
    const before: ShownCall = known?.call ?? { toolCallId: update.toolCallId, title: "", startedAt: Date.now() };
    const call: ShownCall = {
      ...before,
      ...defined({
        title: update.title ?? undefined,
        kind: update.kind ?? undefined,
        status: update.status ?? undefined,
        content: update.content ?? undefined,
        name: "name" in update ? (update.name ?? undefined) : undefined,
        durationMs: meta.durationMs,
        isRejected: meta.rejected,
        tasks: meta.tasks,
      }),
    };
    const parent = known?.parent ?? meta.parentToolCallId;
    this.#calls.set(call.toolCallId, { call, parent });
    if (call.status === "completed" || call.status === "failed") this.#endCall(call, parent);
  }

  #endCall(call: ShownCall, parent: string | undefined): void {
    this.#calls.delete(call.toolCallId);
    if (parent !== undefined && !this.isVerbose) return;
    const output: Block = (drawing) => indented(outputOf(call.content ?? []), drawing);
    this.#endParts();
    this.#finished.push((drawing) => [...endedCallLines(call, drawing), ...(this.isVerbose ? output(drawing) : [])]);
    this.#hide((drawing) => [callLine(call, "", drawing), ...output(drawing)]);
  }

  /** A plan is live until all of it is done, or the turn ends. */
  #showPlan(plan: readonly PlanEntry[]): void {
    this.#plan = plan;
    if (plan.every(({ status }) => status === "completed")) this.#endPlan();
  }

  #endPlan(): void {
    const plan = this.#plan;
    this.#plan = [];
    if (plan.length > 0) this.say((drawing) => planLines(plan, drawing));
  }

  #showCompression(hermes: unknown): void {
    const { compression }: HermesUpdateMeta = Object(hermes);
    if (compression === undefined) return;
    this.note(
      `⟲ ${compression.messages} older messages are now a summary: ${compression.tokensBefore} → ${compression.tokensAfter} tokens.`,
    );
  }
}
