/** One chat as a session: its messages in order, its turn, and what a new message does while one runs. */
import type { PermissionOption, StopReason } from "@zed-industries/agent-client-protocol";
import type { Config } from "../../agent-core/config/sections.ts";
import type { Clock } from "../../agent-core/platform/clock.ts";
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { IncomingMessage, Limits } from "../adapters/adapter.ts";
import type { AgentLink, PermissionRequest, SessionFacts, SessionUser } from "../agent-link.ts";
import type { ChatRecord, GatewayJournal, OpenEvent } from "../journal.ts";
import type { Outbox, Place } from "../outbox/outbox.ts";
import { contextPrompt, mediaIn, promptBlocks, wordsOf } from "./prompt-content.ts";
import type { Questions } from "./questions.ts";
import { TurnView } from "./turn-view.ts";

/** Time between two signs that an answer is on its way. Milliseconds. */
const TYPING_MS = 4_500;
/** Runs of a turn: the first one, and one after a restart. */
const MAX_RUNS = 2;
const SILENT = /^(?:\[SILENT\]|NO_REPLY)$/;

/** The part of a platform that a chat needs. */
export type ChatPlatform = {
  readonly name: string;
  readonly limits: Limits;
  readonly canEdit: boolean;
  readonly override: { readonly model?: string; readonly prompt?: string };
  typing(): void;
  /** Rejects with an Error in one line. */
  fetch(ref: string): Promise<Uint8Array>;
};

export type ChatPorts = {
  readonly agent: AgentLink;
  readonly journal: GatewayJournal;
  readonly outbox: Outbox;
  readonly questions: Questions;
  readonly clock: Clock;
  /** Folder that chats work in, absolute. */
  readonly workspace: string;
  readonly display: Config["display"];
  readonly reset: Config["sessionReset"];
  /** One line without texts of users. */
  readonly log: (line: string) => void;
};

type Turn = {
  readonly events: OpenEvent[];
  readonly asker: string;
  readonly view: TurnView;
  readonly stop: AbortController;
};

export class ChatSession {
  readonly #ports: ChatPorts;
  readonly #platform: () => ChatPlatform;
  readonly #waiting: OpenEvent[] = [];
  #record: ChatRecord;
  #open: string | undefined;
  #turn: Turn | undefined;
  #work: Promise<void> | undefined;
  #isClosing: boolean = false;

  constructor(ports: ChatPorts, record: ChatRecord, platform: () => ChatPlatform) {
    this.#ports = ports;
    this.#record = record;
    this.#platform = platform;
  }

  get record(): ChatRecord {
    return this.#record;
  }

  get isBusy(): boolean {
    return this.#work !== undefined;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** True while the agent has the session open. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  get place(): Place {
    const { platform, chat, isGroup } = this.#record;
    return { platform, chat, isGroup };
  }

  say(text: string): void {
    void this.#ports.outbox.say(this.place, text);
  }

  /** Takes a message or a command for the agent: starts a turn, or does what `busy_input_mode` says. */
  take(event: OpenEvent): void {
    this.#waiting.push(event);
    const { busyInputMode: mode } = this.#ports.display;
    if (this.#turn === undefined || mode === "queue") this.#start();
    else if (mode === "interrupt") this.stop();
    else void this.#steer(event);
  }

  /** Stops the turn. False when none runs. */
  stop(): boolean {
    const { agent } = this.#ports;
    if (this.#turn === undefined) return false;
    this.#turn.stop.abort(new Error("stopped"));
    if (this.#open !== undefined) void agent.cancel(this.#open);
    return true;
  }

  /** Stops the turn, drops what waits, and begins a new session with the next message. */
  async reset(sessionId?: string): Promise<void> {
    const { journal } = this.#ports;
    journal.end(this.#waiting.splice(0).map(({ id }) => id));
    this.stop();
    await this.#work;
    await this.unload();
    const { sessionId: before, earlier, ...record } = this.#record;
    const others = [before, ...earlier].filter((id) => id !== undefined && id !== sessionId);
    this.#keep({
      ...record,
      earlier: others.filter((id) => id !== undefined),
      ...(sessionId !== undefined && { sessionId }),
    });
  }

  /** Closes the agent's session; the next message opens it again. */
  async unload(): Promise<void> {
    const id = this.#open;
    this.#open = undefined;
    if (id !== undefined)
      await this.#ports.agent.close(id).catch((error: unknown) => this.#ports.log(messageOf(error)));
  }

  /** Leaves a running turn to the next start of the gateway. */
  async dispose(signal: AbortSignal): Promise<void> {
    const over = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#isClosing = true;
    if (this.#work !== undefined && !signal.aborted) await Promise.race([this.#work, over]);
    if (this.#work === undefined) return;
    this.stop();
    await this.#work;
  }

  #keep(record: ChatRecord): void {
    this.#record = record;
    this.#ports.journal.keepChat(record);
  }

  #start(): void {
    this.#work ??= this.#runAll()
      .catch((error: unknown) => this.#ports.log(`a chat failed: ${messageOf(error)}`))
      .finally(() => {
        this.#work = undefined;
        if (this.#waiting.length > 0 && !this.#isClosing) this.#start();
      });
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isClosing) {
      const events = this.#next();
      const runs = Math.max(...events.map((event) => event.runs)) + 1;
      if (runs > MAX_RUNS) this.#giveUp(events);
      else await this.#run(events, runs);
    }
  }

  /** The messages of the next turn: all that wait, but a command and an interrupted turn stand alone. */
  #next(): OpenEvent[] {
    const isAlone = (event: OpenEvent | undefined): boolean =>
      event?.event.kind === "message" && event.event.text.startsWith("/");
    const [first] = this.#waiting;
    const end = this.#waiting.findIndex(
      (event, index) => index > 0 && (isAlone(event) || isAlone(first) || event.turn !== first?.turn),
    );
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  #giveUp(events: readonly OpenEvent[]): void {
    const { outbox, journal } = this.#ports;
    const shown = events.flatMap(({ event }) => (event.kind === "message" ? [`> ${event.text.slice(0, 200)}`] : []));
    const text = `The gateway ended twice while it worked on this, so it was given up. Send it again if it still matters:\n\n${shown.join("\n>\n")}`;
    const entry = outbox.entry(this.place, text);
    journal.end(
      events.map(({ id }) => id),
      [entry],
    );
    outbox.push([entry]);
  }

  async #run(events: OpenEvent[], runs: number): Promise<void> {
    const { journal, outbox, clock, display } = this.#ports;
    const platform = this.#platform();
    const messages = events.flatMap(({ event }) => (event.kind === "message" ? [event] : []));
    const began = (preview?: string): void =>
      journal.began(
        events.map(({ id }) => id),
        runs,
        preview,
      );
    this.#resetIfDue(messages);
    began();
    const view = new TurnView({
      outbox,
      clock,
      place: this.place,
      editMs: platform.canEdit ? platform.limits.editMs : undefined,
      textLength: platform.limits.textLength,
      progress: display.toolProgress,
      preview: events.find(({ preview }) => preview !== undefined)?.preview,
      onPreview: began,
    });
    const turn: Turn = { events, view, asker: messages.at(-1)?.user ?? "", stop: new AbortController() };
    this.#turn = turn;
    platform.typing();
    const stopTyping = clock.every(TYPING_MS, () => platform.typing());
    const end = await this.#prompt(turn, messages, runs > 1, platform).catch((error: unknown) => ({
      error: messageOf(error),
    }));
    stopTyping();
    this.#turn = undefined;
    const replaces = await view.end();
    // The next start resumes what the end of the gateway cut off.
    if (this.#isClosing && (end === "cancelled" || typeof end === "object")) return;
    await this.#deliver(turn, end, replaces);
  }

  async #prompt(
    turn: Turn,
    messages: readonly IncomingMessage[],
    isResumed: boolean,
    platform: ChatPlatform,
  ): Promise<StopReason> {
    const { agent, workspace } = this.#ports;
    const sessionId = await this.#session(platform, messages);
    const { fileBytes: maxBytes } = platform.limits;
    const blocks = await promptBlocks(messages, { workspace, maxBytes, fetch: platform.fetch });
    const note = { type: "text" as const, text: RESUMED };
    if (turn.stop.signal.aborted) return "cancelled";
    return agent.prompt(sessionId, isResumed ? [note, ...blocks] : blocks);
  }

  async #session(platform: ChatPlatform, messages: readonly IncomingMessage[]): Promise<string> {
    if (this.#open !== undefined) return this.#open;
    const { agent, workspace: cwd, log } = this.#ports;
    const { chat, name: chatName, isGroup, sessionId } = this.#record;
    const { model, prompt: more } = platform.override;
    const facts = { platform: platform.name, chat, chatName, isGroup, canEdit: platform.canEdit, more };
    const session: SessionFacts = { cwd, model, context: contextPrompt(facts) };
    const opened = await agent.open(sessionId, session, this.#user()).catch((error: unknown) => {
      if (sessionId === undefined) throw error;
      log(`a session could not be opened again: ${messageOf(error)}`);
      return agent.open(undefined, session, this.#user());
    });
    this.#open = opened;
    const name = messages.at(-1)?.chatName ?? messages.at(-1)?.userName ?? chatName;
    this.#keep({ ...this.#record, name, sessionId: opened });
    return opened;
  }

  #user(): SessionUser {
    return {
      update: (update) => this.#turn?.view.update(update),
      permit: (request) => this.#permit(request),
      answer: (text, choices) =>
        this.#ask(
          text,
          choices.map((choice) => ({ label: choice, value: choice })),
          "question",
        ),
    };
  }

  #permit({ title, text, options }: PermissionRequest): Promise<string | undefined> {
    const shown = options.map(({ optionId, name }: PermissionOption) => ({ label: name, value: optionId }));
    const isQuestion = options.some(({ optionId }) => optionId === "skip");
    return this.#ask(`**${title.replaceAll(/[*`\n]/g, " ")}**\n\n${text}`, shown, isQuestion ? "question" : "approval");
  }

  async #ask(
    text: string,
    options: readonly { readonly label: string; readonly value: string }[],
    kind: "approval" | "question",
  ) {
    const turn = this.#turn;
    if (turn === undefined) return undefined;
    const { limits, canEdit } = this.#platform();
    const { asker, stop } = turn;
    const question = {
      place: this.place,
      chatKey: this.#record.key,
      asker,
      text,
      options,
      kind,
      canEdit,
      maxButtons: limits.buttons,
    };
    return this.#ports.questions.ask(question, stop.signal);
  }

  async #steer(event: OpenEvent): Promise<void> {
    const { event: message } = event;
    const turn = this.#turn;
    const isPlain = message.kind === "message" && message.files.length === 0 && message.quoted === undefined;
    if (!isPlain || this.#open === undefined || message.text.startsWith("/")) return this.#start();
    const isTaken = await this.#ports.agent.steer(this.#open, wordsOf(message));
    const at = this.#waiting.indexOf(event);
    if (isTaken && turn === this.#turn && turn !== undefined && at >= 0) {
      this.#waiting.splice(at, 1);
      turn.events.push(event);
    } else this.#start();
  }

  async #deliver(
    { events, view }: Turn,
    end: StopReason | { readonly error: string },
    replaces: string | undefined,
  ): Promise<void> {
    const { outbox, journal, workspace } = this.#ports;
    const media = await mediaIn(view.text, workspace);
    const notes = [ENDS[typeof end === "object" ? "error" : end], typeof end === "object" ? end.error : undefined];
    if (media.refused.length > 0)
      notes.push(`Not sent, because only files of the chat's folder leave it: ${media.refused.length}.`);
    const isSilent = SILENT.test(media.text.trim());
    const said = [...(isSilent ? [] : [media.text]), ...notes]
      .filter((part) => part !== undefined && part !== "")
      .join("\n\n");
    const text = said === "" && !isSilent && media.files.length === 0 ? "(The answer was empty.)" : said;
    const shown = text === "" && replaces !== undefined ? "✓" : text;
    const entries = [
      ...(shown === "" ? [] : [outbox.entry(this.place, shown, { replaces })]),
      ...media.files.map((path) => outbox.fileEntry(this.place, path)),
    ];
    journal.end(
      events.map(({ id }) => id),
      entries,
    );
    outbox.push(entries);
  }

  /** Ends the session when `session_reset` says so. */
  #resetIfDue(messages: readonly IncomingMessage[]): void {
    const { reset, clock } = this.#ports;
    const now = clock.now();
    const { at, sessionId, earlier, ...record } = this.#record;
    const user = messages.at(-1)?.user ?? record.user;
    if (sessionId === undefined || !isResetDue(reset, at, now)) {
      this.#keep({ ...this.#record, user, at: now });
      return;
    }
    void this.unload();
    this.#keep({ ...record, user, at: now, earlier: [sessionId, ...earlier] });
    this.say("A new session begins. `/resume` lists the earlier ones.");
  }
}

const RESUMED =
  "[The gateway restarted while you worked on the message below. Look at what is done already, and continue; do nothing twice.]";

const ENDS: Readonly<Record<StopReason | "error", string | undefined>> = {
  end_turn: undefined,
  cancelled: "Stopped.",
  max_tokens: "The answer reached the model's limit. Write “go on” to continue.",
  max_turn_requests: "The turn reached its limit of steps. Write “go on” to continue.",
  refusal: "The model refused to answer.",
  error: "This did not work.",
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** True when a session whose last message came at `last` ends before a message at `now`. */
export function isResetDue(
  { mode, idleMinutes: minutes, atHour: hour }: Config["sessionReset"],
  last: number,
  now: number,
): boolean {
  const isIdle = (mode === "idle" || mode === "both") && now - last > minutes * MINUTE_MS;
  const boundary = new Date(now);
  boundary.setHours(hour, 0, 0, 0);
  const latest = boundary.getTime() > now ? boundary.getTime() - 24 * HOUR_MS : boundary.getTime();
  return isIdle || ((mode === "daily" || mode === "both") && last < latest);
}
