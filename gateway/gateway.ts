/** The gateway: adapters in, chats with their sessions, and one outbox. */
import { lstat, readFile } from "node:fs/promises";
import type { AgentService } from "../agent-core/entry/local-agent.ts";
import type { Clock } from "../agent-core/platform/clock.ts";
import { messageOf } from "../agent-core/platform/errors.ts";
import type { Incoming, IncomingMessage, Press } from "./adapters/adapter.ts";
import { AdapterLink, type LinkState } from "./adapters/adapter-link.ts";
import { AgentLink } from "./agent-link.ts";
import { answerWithText, commandIn, runCommand } from "./chats/chat-commands.ts";
import { type ChatPlatform, type ChatPorts, ChatSession } from "./chats/chat-session.ts";
import { Questions } from "./chats/questions.ts";
import { Deliveries } from "./deliveries.ts";
import { type ChatRecord, GatewayJournal, type OpenEvent } from "./journal.ts";
import { Outbox } from "./outbox/outbox.ts";
import { Pairing } from "./pairing.ts";
import { type GatewaySettings, type PlatformSettings, workspaceOf } from "./settings.ts";
import { admit, isNamedAdmin, mayCommand, rankOf } from "./who-may.ts";

/** Age of a message that is no longer acted on: an answer to it would surprise. Milliseconds. */
const STALE_MS = 30 * 60_000;
/** Open sessions of the agent; more than these are closed when they are idle. */
const MAX_OPEN = 32;
/** Time for running turns and messages at the end. Milliseconds. */
const DRAIN_MS = 20_000;

export type GatewayOptions = {
  readonly settings: GatewaySettings;
  /** The agent, which ends with the gateway. */
  readonly service: AgentService;
  readonly clock: Clock;
  /** One line without secrets and texts of users. */
  readonly log: (line: string) => void;
  readonly onState?: (platform: string, state: LinkState) => void;
};

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #pairing: Pairing;
  readonly #deliveries: Deliveries;
  readonly #links = new Map<string, AdapterLink>();
  readonly #chats = new Map<string, ChatSession>();
  readonly #ports: ChatPorts;
  /** Events of an earlier process, until their platform is connected. */
  #left: readonly OpenEvent[];
  #isEnding: boolean = false;

  /** Throws a UsageError without a usable folder for chats, and the system's error when the journal cannot be written. */
  constructor(options: GatewayOptions) {
    const { settings, service, clock, log } = options;
    this.#options = options;
    const { display, reset, folder } = settings;
    const workspace = workspaceOf(settings);
    const journal = new GatewayJournal(folder);
    this.#pairing = new Pairing(folder, clock);
    const agent = new AgentLink(service);
    const senderOf = (platform: string) => this.#links.get(platform)?.sender;
    const outbox = new Outbox({ journal, clock, senderOf, readFile: readRegularFile, log });
    const questions = new Questions(outbox, clock);
    this.#ports = { journal, agent, outbox, questions, workspace, clock, display, reset, log };
    this.#deliveries = new Deliveries({ ...this.#ports, home: settings.home, platforms: settings.platforms });
    this.#left = [...journal.events.values()];
    for (const platform of settings.platforms) this.#connect(platform);
  }

  /** State of each adapter by the platform's name. */
  states(): ReadonlyMap<string, LinkState> {
    return new Map([...this.#links].map(([name, link]) => [name, link.state]));
  }

  /** Takes no more messages, waits a while for turns and answers, and leaves the rest to the next start. */
  async dispose(drainMs = DRAIN_MS): Promise<void> {
    this.#isEnding = true;
    const over = AbortSignal.timeout(drainMs);
    await this.#deliveries.dispose();
    await Promise.all([...this.#chats.values()].map((chat) => chat.dispose(over)));
    await this.#ports.outbox.drained(over);
    await this.#ports.outbox.dispose();
    await Promise.all([...this.#links.values()].map((link) => link.stop()));
    await this.#ports.agent.dispose();
    this.#ports.journal.close();
  }

  #connect(platform: PlatformSettings): void {
    const { clock, log, onState = () => undefined } = this.#options;
    const { name } = platform;
    const link = new AdapterLink({
      platform,
      clock,
      log,
      receives: true,
      saved: () => this.#ports.journal.states.get(name),
      onSave: (state) => this.#ports.journal.keepState(name, state),
      onEvent: (event) => this.#receive(platform, event),
      onState: (state) => {
        if (state.kind === "connected") this.#connected(name);
        log(`${name}: ${"reason" in state ? `${state.kind} (${state.reason})` : state.kind}`);
        onState(name, state);
      },
    });
    this.#links.set(name, link);
  }

  #connected(name: string): void {
    this.#ports.outbox.wake(name);
    const left = this.#left.filter(({ platform }) => platform === name);
    this.#left = this.#left.filter(({ platform }) => platform !== name);
    for (const event of left) this.#handle(event);
  }

  /** Stores an event before the platform may forget it. */
  #receive(platform: PlatformSettings, event: Incoming): void {
    if (this.#isEnding) throw new Error("the gateway ends");
    const stored = this.#ports.journal.add(platform.name, this.#keyOf(platform, event), event);
    if (stored !== undefined) this.#handle(stored);
  }

  #keyOf({ name }: PlatformSettings, event: Incoming): string {
    const isOwn = event.kind === "message" && event.chatKind === "group" && this.#options.settings.sessionPerUser;
    return isOwn ? `${name}:${event.chat}:${event.user}` : `${name}:${event.chat}`;
  }

  #handle(stored: OpenEvent): void {
    const platform = this.#options.settings.platforms.find(({ name }) => name === stored.platform);
    const { event } = stored;
    if (platform === undefined) {
      this.#ports.journal.end([stored.id]);
      return;
    }
    const handled =
      event.kind === "press" ? this.#press(platform, stored, event) : this.#message(platform, stored, event);
    handled.catch((error: unknown) => {
      this.#options.log(`${platform.name}: a message could not be handled: ${messageOf(error)}`);
      this.#ports.journal.end([stored.id]);
    });
  }

  async #press(platform: PlatformSettings, { id }: OpenEvent, press: Press): Promise<void> {
    this.#ports.journal.end([id]);
    const rank = rankOf(platform, press.user, this.#pairing);
    if (rank === "stranger") return;
    const problem = this.#ports.questions.press(press, isNamedAdmin(platform, press.user));
    if (problem !== undefined) this.#options.log(`${platform.name}: a button was refused`);
  }

  async #message(platform: PlatformSettings, stored: OpenEvent, message: IncomingMessage): Promise<void> {
    const { clock } = this.#options;
    const admission = admit(platform, message, this.#pairing);
    const place = { platform: platform.name, chat: message.chat, isGroup: message.chatKind === "group" };
    if (admission !== "take") {
      this.#ports.journal.end([stored.id]);
      if (admission !== "ignore") void this.#ports.outbox.say(place, pairingText(platform.name, admission.code));
      return;
    }
    const chat = this.#chatOf(platform, stored, message);
    if (stored.runs === 0 && clock.now() - message.at > STALE_MS) {
      this.#ports.journal.end([stored.id]);
      return chat.say(
        "I was away when you wrote, and did nothing about that message. Send it again if it still matters.",
      );
    }
    const rank = rankOf(platform, message.user, this.#pairing);
    const answersForOthers = isNamedAdmin(platform, message.user);
    const call = { message, rank, chat, answersForOthers, agent: this.#ports.agent, questions: this.#ports.questions };
    const command = commandIn(message.text);
    if (command !== undefined && !mayCommand(platform, rank, command.name)) {
      this.#ports.journal.end([stored.id]);
      return chat.say(`\`/${command.name}\` is for admins.`);
    }
    const { name = "", argument = "" } = command ?? {};
    const setHome = (): void => this.#ports.journal.keepState(`home ${platform.name}`, message.chat);
    const isDone =
      command === undefined ? answerWithText(call) : await runCommand(name, { ...call, argument, setHome });
    if (isDone) return this.#ports.journal.end([stored.id]);
    chat.take(stored);
    await this.#closeIdle();
  }

  #chatOf(platform: PlatformSettings, { chat: key }: OpenEvent, message: IncomingMessage): ChatSession {
    const known = this.#chats.get(key);
    if (known !== undefined) return known;
    const record: ChatRecord = this.#ports.journal.chats.get(key) ?? {
      key,
      platform: platform.name,
      chat: message.chat,
      isGroup: message.chatKind === "group",
      name: message.chatName ?? message.userName ?? "",
      user: message.user,
      earlier: [],
      at: this.#options.clock.now(),
    };
    const chat = new ChatSession(this.#ports, record, () => this.#platformOf(platform, message.chat));
    this.#chats.set(key, chat);
    return chat;
  }

  #platformOf({ name, section }: PlatformSettings, chat: string): ChatPlatform {
    const link = this.#links.get(name);
    const override = section.channel_overrides?.[chat] ?? section.channel_overrides?.[chat.split(":")[0] ?? ""];
    const { model, provider, system_prompt: prompt } = override ?? {};
    return {
      name,
      limits: link?.limits ?? NO_LIMITS,
      canEdit: link?.canEdit() === true,
      override: {
        ...(model !== undefined && { model: provider === undefined ? model : `${provider}:${model}` }),
        ...(prompt !== undefined && { prompt }),
      },
      typing: () => link?.typing(chat),
      fetch: (ref) => link?.fetchFile(ref) ?? Promise.reject(new Error(`${name} is not connected`)),
    };
  }

  /** Closes sessions that nobody used last. */
  async #closeIdle(): Promise<void> {
    const open = [...this.#chats.values()].filter(({ isOpen, isBusy }) => isOpen && !isBusy);
    const spare = open
      .sort((one, other) => one.record.at - other.record.at)
      .slice(0, Math.max(0, open.length - MAX_OPEN));
    for (const chat of spare) {
      this.#chats.delete(chat.record.key);
      await chat.unload();
    }
  }
}

/** Before an adapter said its limits, no message goes out. */
const NO_LIMITS = {
  textLength: 1_000,
  measure: "bytes",
  markup: "plain",
  perChatMs: 1_000,
  perSecond: 1,
  buttons: 0,
  fileBytes: 0,
} as const;

function pairingText(platform: string, code: string): string {
  return `I do not know you. If this is your Hermes, run this at the machine within an hour:\n\n\`hermes pairing approve ${platform} ${code}\``;
}

/** Reads a file that an answer named. A link that took its place is not followed. */
async function readRegularFile(path: string): Promise<Uint8Array> {
  if (!(await lstat(path)).isFile()) throw new Error(`${path} is not a file`);
  return readFile(path);
}
