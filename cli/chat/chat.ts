/** An interactive session: its turns, the messages that wait, its requests, and its work in the background. */
import type { AvailableCommand, SessionNotification, SessionUpdate } from "@zed-industries/agent-client-protocol";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { changesSetting } from "../../agent-core/protocol/conversation.ts";
import type { HermesContext } from "../../agent-core/protocol/sessions.ts";
import { promptBlocks } from "./attachments.ts";
import type { ChatAgent, ChosenSession, OpenedSession } from "./chat-agent.ts";
import type { ChatView } from "./chat-view.ts";
import { type ChatControls, findCommand, withTerminalCommands } from "./commands.ts";
import { completionOf } from "./composer.ts";
import { captured, editText, pageText, runShellLine } from "./outside.ts";
import { pickSent, pickSession, type SentPrompt } from "./pickers.ts";
import { RequestDesk } from "./request-desk.ts";
import { SideWork } from "./side-work.ts";
import type { Block } from "./transcript.ts";

/** Value of the model's option for the built-in interpreter, which stands in for a missing model. */
const OFFLINE = "offline";

export type BusyMode = "queue" | "steer" | "interrupt";

export type ChatOptions = {
  readonly cwd: string;
  readonly allowAll: boolean;
  readonly busyMode: BusyMode;
  readonly wordsOf: (error: unknown) => string;
};

export class Chat implements ChatControls {
  readonly view: ChatView;
  readonly desk: RequestDesk;
  readonly #options: ChatOptions;
  readonly #ready = Promise.withResolvers<ChatAgent>();
  readonly #left = Promise.withResolvers<number>();
  readonly #side: SideWork;
  #session: OpenedSession | undefined;
  commands: readonly AvailableCommand[] = withTerminalCommands([]);
  #queue: string[] = [];
  readonly #images: string[] = [];
  #sent: SentPrompt[] = [];
  #sending = "";
  #isRunning: boolean = false;

  constructor(view: ChatView, options: ChatOptions) {
    this.view = view;
    this.#options = options;
    this.desk = new RequestDesk(view, options.allowAll);
    this.#side = new SideWork(this, () => this.#ready.promise);
    view.composer.onSubmit = (text) => void this.submit(text);
    this.#offerCommands([]);
  }

  get cwd(): string {
    return this.#options.cwd;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get sessionId(): string | undefined {
    return this.#session?.sessionId;
  }

  /** True when the user has sent a message. */
  get hasMessages(): boolean {
    return this.#sent.length > 0;
  }

  /** Resolves with the exit code when the user leaves. */
  get left(): Promise<number> {
    return this.#left.promise;
  }

  /** Opens the first session; messages that were typed before are sent then. Rejects with an Error in one line. */
  async begin(agent: ChatAgent, chosen: ChosenSession): Promise<void> {
    await this.#open(agent, chosen);
    this.#ready.resolve(agent);
  }

  async #open(agent: ChatAgent, chosen: ChosenSession): Promise<void> {
    this.#session = undefined;
    const session = await agent.open(chosen);
    this.#session = session;
    this.#showOptions(session.configOptions ?? []);
    this.#change({ mode: session.modes?.currentModeId ?? "" });
    if (chosen.mode !== undefined) this.#change({ mode: chosen.mode });
    await this.#showBranch();
  }

  async open(wanted: string | undefined): Promise<void> {
    if (this.#isRunning) return this.note("Stop the running turn first: Esc.", "warning");
    const agent = await this.#ready.promise;
    const before = this.#session?.sessionId;
    try {
      await this.#open(agent, { cwd: this.cwd, resume: wanted });
      this.#sent = [];
      this.#change({ used: 0, window: 0, costUsd: undefined });
      this.note(wanted === undefined ? "A new session begins." : "You are in the earlier session.");
      if (before !== undefined) await agent.close(before);
    } catch (error) {
      this.note(this.#options.wordsOf(error), "error");
    }
  }

  update({ sessionId, update }: SessionNotification): void {
    // A session that is being opened replays before its id is known.
    if (this.#session !== undefined && this.#session.sessionId !== sessionId) {
      this.#side.update(sessionId, update);
      return;
    }
    this.#showState(update);
    this.view.transcript.update(update);
    this.view.refresh();
  }

  #showState(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "available_commands_update":
        this.#offerCommands(update.availableCommands);
        break;
      case "usage_update":
        this.#change({ used: update.used, window: update.size, costUsd: update.cost?.amount });
        break;
      case "current_mode_update":
        this.#change({ mode: update.currentModeId });
        break;
      case "config_option_update":
        this.#showOptions(update.configOptions);
        break;
      case "session_info_update": {
        const { position }: { position?: number } = Object(update._meta?.["hermes"]);
        if (position !== undefined) this.#sent.push({ position, text: this.#sending });
        if (typeof update.title === "string") this.view.screen.terminal.setTitle(`hermes: ${update.title}`);
        break;
      }
      default:
        break;
    }
  }

  #offerCommands(commands: readonly AvailableCommand[]): void {
    this.commands = withTerminalCommands(commands);
    this.view.composer.setAutocompleteProvider(completionOf(this.commands, this.cwd));
  }

  #showOptions(options: NonNullable<OpenedSession["configOptions"]>): void {
    const model = options.find(({ category }) => category === "model")?.currentValue;
    if (model === OFFLINE) this.note("No language model is set up. Type /setup to choose one.", "warning");
    if (typeof model === "string") this.#change({ model: model.slice(model.indexOf(":") + 1) });
  }

  #change(status: Partial<ChatView["status"]>): void {
    this.view.status = { ...this.view.status, ...status };
    this.view.refresh();
  }

  async #showBranch(): Promise<void> {
    const { ok, output } = await captured("git", ["branch", "--show-current"], this.cwd);
    this.#change({ branch: ok && output.trim() !== "" ? output.trim() : undefined });
  }

  /** Sends what the user typed: an answer, a shell line, a command or a message. */
  async submit(text: string): Promise<void> {
    const line = text.trim();
    if (this.desk.openQuestion !== undefined) return this.desk.openQuestion.answer(line);
    if (line === "") return;
    this.view.composer.remember(line);
    try {
      await this.#run(line);
    } catch (error) {
      this.note(this.#options.wordsOf(error), "error");
    }
  }

  async #run(line: string): Promise<void> {
    if (line.startsWith("!")) {
      this.view.transcript.prompt(line);
      await this.outside(() => runShellLine(line.slice(1), this.cwd));
      return;
    }
    const found = findCommand(line, this.commands);
    if (found?.kind === "ambiguous") return this.note(`Which one: ${found.names.join(", ")}?`, "warning");
    if (found?.kind === "own") return found.command.run(found.argument, this);
    const message = found?.text ?? line;
    if (!this.#isRunning) return this.#turn(message);
    const agent = await this.#ready.promise;
    const isBeside = changesSetting(message) || /^\/steer\s/.test(message);
    if (isBeside) await agent.prompt(this.#opened(), promptBlocks(message, this.cwd));
    else await this.#sendBusy(agent, message);
  }

  /** A message that comes while the agent works. */
  async #sendBusy(agent: ChatAgent, message: string): Promise<void> {
    switch (this.#options.busyMode) {
      case "queue":
        return this.queue(message);
      case "steer":
        await agent.steer(this.#opened(), this.#blocks(message));
        return;
      case "interrupt":
        this.queue(message);
        agent.cancel(this.#opened());
    }
  }

  queue(text: string): void {
    if (this.#isRunning) this.#setQueue([...this.#queue, text]);
    else void this.#turn(text);
  }

  #setQueue(queue: string[]): void {
    this.#queue = queue;
    this.view.queue = queue;
    void this.#ready.promise.then((agent) => agent.announceQueue(this.#opened(), queue.length > 0));
    this.view.refresh();
  }

  #blocks(message: string): ReturnType<typeof promptBlocks> {
    return promptBlocks(message, this.cwd, this.#images.splice(0));
  }

  #opened(): string {
    if (this.#session === undefined) throw new Error("The session is not open yet.");
    return this.#session.sessionId;
  }

  /** Runs a turn, then those of the messages that wait. */
  async #turn(message: string): Promise<void> {
    this.#isRunning = true;
    this.#sending = message;
    this.view.transcript.prompt(message);
    this.view.beginTurn();
    try {
      const agent = await this.#ready.promise;
      this.#sayEnd(await agent.prompt(this.#opened(), this.#blocks(message)));
    } catch (error) {
      this.note(this.#options.wordsOf(error), "error");
      this.#returnQueue();
    } finally {
      this.#isRunning = false;
      this.view.endTurn();
    }
    void this.#showBranch();
    const [next, ...rest] = this.#queue;
    if (next === undefined) return;
    this.#setQueue(rest);
    await this.#turn(next);
  }

  #sayEnd(reason: string): void {
    if (reason === "end_turn") return;
    if (reason === "cancelled") {
      this.note("Stopped.");
      if (this.#options.busyMode !== "interrupt") this.#returnQueue();
      return;
    }
    const problems: Readonly<Record<string, string>> = {
      max_tokens: "The model reached its limit of tokens.",
      max_turn_requests: "The turn reached its limit of steps. Type: go on",
      refusal: "The model refused to answer.",
    };
    this.note(problems[reason] ?? reason, "warning");
  }

  /** Messages that waited for a turn that failed or was stopped become the draft again. */
  #returnQueue(): void {
    if (this.#queue.length === 0) return;
    const draft = [...this.#queue, this.view.composer.getText()].filter((text) => text !== "");
    this.#setQueue([]);
    this.view.composer.setText(draft.join("\n"));
  }

  note(text: string, mark: "info" | "warning" | "error" = "info"): void {
    this.view.transcript.note(text, mark);
    this.view.refresh();
  }

  /** An answer beside the conversation, below its question. */
  answer(title: string, markdown: string): void {
    this.view.transcript.aside(title, markdown);
    this.view.refresh();
  }

  say(block: Block): void {
    this.view.transcript.say(block);
    this.view.refresh();
  }

  stop(): void {
    if (this.#isRunning && this.#session !== undefined) {
      void this.#ready.promise.then((agent) => agent.cancel(this.#opened()));
    } else this.note("Nothing is running.");
  }

  leave(code = 0): void {
    this.#left.resolve(code);
  }

  /** Gives the terminal to another program. */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    this.view.stop();
    try {
      return await work();
    } finally {
      this.view.start();
    }
  }

  async pickSession(): Promise<void> {
    const chosen = await pickSession(this.view, await this.#ready.promise);
    if (chosen !== undefined) await this.open(chosen);
  }

  /** Takes an earlier message of the session back, to write it anew. */
  async editEarlier(): Promise<void> {
    if (this.#isRunning || this.#sent.length === 0) return;
    const chosen = await pickSent(this.view, this.#sent);
    if (chosen === undefined) return;
    const agent = await this.#ready.promise;
    const text = await agent.rewind(this.#opened(), chosen);
    this.#sent = this.#sent.filter(({ position }) => position < chosen);
    this.note("The conversation goes on from there. Changes of files stay; /checkpoint restores them.");
    this.view.composer.setText(text);
  }

  attach(image: string): void {
    promptBlocks("", this.cwd, [image]); // throws for no picture
    this.#images.push(image);
    this.note(`The next message has the picture ${image}.`);
  }

  /** Attaches the picture in the clipboard. */
  async paste(): Promise<void> {
    try {
      const { clipboardPicture } = await import("./clipboard.ts");
      this.attach(await clipboardPicture());
    } catch (error) {
      this.note(messageOf(error), "warning");
    }
  }

  async context(): Promise<HermesContext> {
    return (await this.#ready.promise).context(this.#opened());
  }

  askBeside(question: string): Promise<void> {
    return this.#side.ask(this.#opened(), question);
  }

  async startBackground(prompt: string): Promise<void> {
    await this.#side.start(prompt, (running) => this.#change({ background: running }));
  }

  listBackground(): void {
    this.note(this.#side.list());
  }

  async edit(): Promise<void> {
    const { composer } = this.view;
    composer.setText(await this.outside(() => editText(composer.getExpandedText(), this.cwd)));
  }

  async showTranscript(): Promise<void> {
    const agent = await this.#ready.promise;
    const text = await agent.transcript(this.#opened());
    await this.outside(() => pageText(text, this.cwd));
  }

  async nextMode(): Promise<void> {
    const modes = this.#session?.modes?.availableModes ?? [];
    const at = modes.findIndex(({ id }) => id === this.view.status.mode);
    const next = modes[(at + 1) % modes.length];
    if (next === undefined) return;
    try {
      await (await this.#ready.promise).setMode(this.#opened(), next.id);
      this.#change({ mode: next.id });
    } catch (error) {
      this.note(messageOf(error), "error");
    }
  }
}
