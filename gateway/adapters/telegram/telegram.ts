/** Telegram by long polling: no port of this machine is open. */
import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Api, GrammyError, HttpError, InputFile } from "grammy";
import { UsageError } from "../../../agent-core/platform/errors.ts";
import {
  type Adapter,
  type AdapterHost,
  type AdapterModule,
  type AdapterSettings,
  type Button,
  type ChatFile,
  download,
  failed,
  failedRequest,
  failedStatus,
  fileOf,
  type Growing,
  type Incoming,
  type Limits,
  needed,
  type Outgoing,
  type OutgoingFile,
  rootOf,
  type Sent,
} from "../adapter.ts";

/** The Bot API's limits; the text counts after its entities are read. */
const LIMITS: Limits = {
  textLength: 4_096,
  measure: "utf16",
  markup: "html",
  perChatMs: 1_000,
  perSecond: 30,
  groupPerMinute: 20,
  editMs: 1_300,
  buttons: 8,
  fileBytes: 20_000_000,
};
/** Longest silence of a poll. Seconds. */
const POLL_SECONDS = 30;
/** Pauses after a failed poll, which double. Milliseconds. */
const FIRST_RETRY_MS = 500;
const MAX_CONFLICTS = 4;
const MAX_RETRY_MS = 30_000;

type Update = Awaited<ReturnType<Api["getUpdates"]>>[number];
type Message = NonNullable<Update["message"]>;
type Bot = Awaited<ReturnType<Api["getMe"]>>;

export const makeAdapter: AdapterModule["makeAdapter"] = (settings) => new Telegram(settings);

class Telegram implements Adapter {
  readonly limits = LIMITS;
  readonly #api: Api;
  readonly #token: string;
  readonly #root: string;
  readonly #ended = new AbortController();
  #polling: Promise<void> = Promise.resolve();

  constructor(settings: AdapterSettings) {
    const token = needed(settings, "TELEGRAM_BOT_TOKEN");
    if (!/^\d+:[\w-]+$/.test(token)) throw new UsageError("TELEGRAM_BOT_TOKEN is not a token of @BotFather");
    this.#token = token;
    this.#root = rootOf(settings, "https://api.telegram.org");
    this.#api = new Api(token, { apiRoot: this.#root, timeoutSeconds: POLL_SECONDS * 2 });
  }

  async connect(host: AdapterHost): Promise<void> {
    try {
      const bot = await this.#api.getMe();
      this.#polling = this.#poll(host, bot);
    } catch (error) {
      if (isUnauthorized(error)) return host.fail("unauthorized", reasonOf(error));
      throw new Error(reasonOf(error));
    }
  }

  async disconnect(): Promise<void> {
    this.#ended.abort();
    await this.#polling;
  }

  send(chat: string, message: Outgoing): Promise<Sent> {
    return attempt(async () => {
      const { id, thread } = addressOf(chat);
      const sent = await this.#api.sendMessage(id, message.text, {
        ...partsOf(message),
        ...(thread !== undefined && { message_thread_id: thread }),
        link_preview_options: { is_disabled: true },
      });
      return String(sent.message_id);
    });
  }

  edit(chat: string, id: string, message: Outgoing): Promise<Sent> {
    return attempt(async () => {
      const options = { ...partsOf(message), link_preview_options: { is_disabled: true } };
      await this.#api.editMessageText(addressOf(chat).id, Number(id), message.text, options).catch(sameText);
      return id;
    });
  }

  /** A draft, which the next message replaces. Only direct chats have them. */
  stream(chat: string, id: string | undefined, message: Growing): Promise<Sent> {
    return attempt(async () => {
      const { id: place, thread } = addressOf(chat);
      const draft = id ?? String(randomInt(1, 2 ** 31));
      await this.#api.sendMessageDraft(Number(place), Number(draft), message.text, {
        ...(!message.isPlain && { parse_mode: "HTML" }),
        ...(thread !== undefined && { message_thread_id: thread }),
      });
      return draft;
    }).then((sent) => (sent.ok ? { ...sent, isDraft: true } : sent));
  }

  sendFile(chat: string, { name, bytes, caption }: OutgoingFile): Promise<Sent> {
    return attempt(async () => {
      const { id, thread } = addressOf(chat);
      const file = new InputFile(bytes, name);
      const options = { caption, ...(thread !== undefined && { message_thread_id: thread }) };
      const isPicture = /\.(?:png|jpe?g|webp)$/i.test(name) && bytes.length < 10_000_000;
      const sent = await (isPicture
        ? this.#api.sendPhoto(id, file, options)
        : this.#api.sendDocument(id, file, options));
      return String(sent.message_id);
    });
  }

  async fetchFile(ref: string): Promise<Uint8Array> {
    const { file_path: path } = await this.#api.getFile(ref);
    return download(`${this.#root}/file/bot${this.#token}/${path}`);
  }

  async typing(chat: string): Promise<void> {
    const { id, thread } = addressOf(chat);
    await this.#api.sendChatAction(id, "typing", thread === undefined ? {} : { message_thread_id: thread });
  }

  async #poll(host: AdapterHost, bot: Bot): Promise<void> {
    const { signal } = this.#ended;
    let offset = Number(host.saved ?? 0);
    let failures = 0;
    while (!signal.aborted) {
      try {
        offset = await this.#take(offset, host, bot);
        failures = 0;
      } catch (error) {
        if (signal.aborted || hasEnded(error, failures, host)) return;
        host.log(`receiving failed: ${reasonOf(error)}`);
        const pause = retryAfter(error) ?? Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
        failures += 1;
        await delay(pause, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** One poll. Resolves to the number of the next update. */
  async #take(offset: number, host: AdapterHost, bot: Bot): Promise<number> {
    const updates = await this.#api.getUpdates(
      { offset, timeout: POLL_SECONDS, allowed_updates: ["message", "callback_query"] },
      this.#ended.signal as Parameters<Api["getUpdates"]>[1], // the library's own type of the same interface
    );
    for (const update of updates) {
      const event = eventOf(update, bot);
      if (event !== undefined) await host.receive(event);
      if (update.callback_query) void this.#api.answerCallbackQuery(update.callback_query.id).catch(() => undefined);
    }
    const last = updates.at(-1);
    if (last === undefined) return offset;
    host.save(String(last.update_id + 1));
    return last.update_id + 1;
  }
}

/** Reports a failure that no retry cures. `failures`: earlier ones in a row. */
function hasEnded(error: unknown, failures: number, host: AdapterHost): boolean {
  if (!(error instanceof GrammyError)) return false;
  // After a crash the poll of the earlier process may still be open.
  const isTaken = error.error_code === 409 && failures > MAX_CONFLICTS;
  if (isTaken) host.fail("conflict", "another program receives this bot's messages");
  else if (isUnauthorized(error)) host.fail("unauthorized", reasonOf(error));
  return isTaken || isUnauthorized(error);
}

function addressOf(chat: string): { readonly id: string; readonly thread: number | undefined } {
  const [id = "", thread] = chat.split(":");
  return { id, thread: thread === undefined ? undefined : Number(thread) };
}

function partsOf({ isPlain, buttons }: Outgoing) {
  const row = ({ label, data }: Button) => [{ text: label, callback_data: data }];
  return {
    ...(!isPlain && { parse_mode: "HTML" as const }),
    ...(buttons.length > 0 && { reply_markup: { inline_keyboard: buttons.map(row) } }),
  };
}

function eventOf({ update_id, message, callback_query: press }: Update, bot: Bot): Incoming | undefined {
  const id = String(update_id);
  if (press?.data !== undefined && press.message !== undefined) {
    const { chat, message_id: pressed } = press.message;
    const thread =
      "message_thread_id" in press.message && press.message.is_topic_message
        ? press.message.message_thread_id
        : undefined;
    const from = { user: String(press.from.id), userName: nameOf(press.from) };
    const place = chatAddress(chat.id, thread);
    return { kind: "press", id, at: Date.now(), chat: place, ...from, data: press.data, message: String(pressed) };
  }
  if (message?.from === undefined || message.from.is_bot) return undefined;
  const { from, chat, message_thread_id: thread, is_topic_message: isTopic } = message;
  const written = message.text ?? message.caption ?? "";
  const isForwarded = message.forward_origin !== undefined;
  const quoted = isForwarded ? written : (message.quote?.text ?? textOf(message.reply_to_message));
  return {
    kind: "message",
    id,
    at: message.date * 1_000,
    chat: chatAddress(chat.id, isTopic === true ? thread : undefined),
    chatKind: chat.type === "private" ? "direct" : "group",
    ...(chat.title !== undefined && { chatName: chat.title }),
    user: String(from.id),
    userName: nameOf(from),
    text: isForwarded ? "" : withoutName(written, bot.username),
    isAddressed: isAddressed(message, written, bot),
    ...(quoted !== undefined && quoted !== "" && { quoted }),
    files: filesOf(message),
  };
}

function chatAddress(id: number, thread: number | undefined): string {
  return thread === undefined ? String(id) : `${id}:${thread}`;
}

function textOf(message: Message["reply_to_message"]): string | undefined {
  return message?.from?.is_bot === true ? undefined : (message?.text ?? message?.caption);
}

function nameOf({ first_name: first, last_name: last }: Message["from"] & object): string {
  return last === undefined ? first : `${first} ${last}`;
}

function isAddressed(message: Message, text: string, bot: Bot): boolean {
  if (message.reply_to_message?.from?.id === bot.id) return true;
  const [, command] = /^\/\w+(?:@(\w+))?/.exec(text) ?? [];
  if (/^\/\w/.test(text)) return command === undefined || command.toLowerCase() === bot.username.toLowerCase();
  return new RegExp(`@${bot.username}\\b`, "i").test(text);
}

function withoutName(text: string, name: string): string {
  return text
    .replace(new RegExp(`^(/\\w+)@${name}\\b`, "i"), "$1")
    .replace(new RegExp(`\\s*@${name}\\b\\s*`, "gi"), " ")
    .trim();
}

function filesOf({ photo, document, voice, audio, video }: Message): ChatFile[] {
  type Sent = { file_id: string; file_size?: number; mime_type?: string };
  const one = (sent: Sent | undefined, name: string, type?: string): ChatFile[] =>
    sent === undefined ? [] : [fileOf({ ref: sent.file_id, name, type: sent.mime_type ?? type, size: sent.file_size })];
  return [
    ...one(photo?.at(-1), "photo.jpg", "image/jpeg"),
    ...one(document, document?.file_name ?? "file"),
    ...one(voice, "voice.ogg", "audio/ogg"),
    ...one(audio, audio?.file_name ?? "audio.mp3", "audio/mpeg"),
    ...one(video, video?.file_name ?? "video.mp4"),
  ];
}

async function attempt(send: () => Promise<string>): Promise<Sent> {
  try {
    return { ok: true, id: await send() };
  } catch (error) {
    if (error instanceof HttpError) return failedRequest(error);
    if (!(error instanceof GrammyError)) throw error;
    const { error_code: code, description } = error;
    if (/can't parse entities|unsupported start tag/i.test(description)) return failed("format", description);
    if (/message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i.test(description))
      return failed("gone", description);
    if (code === 404) return failed("unauthorized", description);
    return failedStatus(code, description, retryAfter(error));
  }
}

/** An edit to the same text is done already. */
function sameText(error: unknown): void {
  if (!(error instanceof GrammyError && /message is not modified/i.test(error.description))) throw error;
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof GrammyError && (error.error_code === 401 || error.error_code === 404);
}

function retryAfter(error: unknown): number | undefined {
  const seconds = error instanceof GrammyError ? error.parameters.retry_after : undefined;
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** Never the address, which holds the token. */
function reasonOf(error: unknown): string {
  return error instanceof GrammyError ? `${error.error_code} ${error.description}` : "the connection failed";
}
