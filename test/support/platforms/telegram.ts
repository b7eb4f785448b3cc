/** Telegram's Bot API: long polling, messages, edits, buttons and files. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { FakePlatform, fieldsOf, respond, respondFault, type Shown, UNIQUE, type Written } from "./platform.ts";

const BOT = { id: 1, is_bot: true, first_name: "Hermes", username: "hermes_bot" };
type Fields = Record<string, unknown>;

export class FakeTelegram extends FakePlatform {
  readonly name = "telegram";
  readonly #token: string;
  readonly #files = new Map<string, Uint8Array>();
  #updates: Fields[] = [];
  #polled: (() => void) | undefined;
  isRevoked = false;
  /** Each state of a draft, in order. */
  readonly drafts: { readonly id: string; readonly text: string }[] = [];
  hasDrafts = false;

  constructor() {
    super();
    this.#token = `42:secret-token-${UNIQUE}`;
  }

  get variables(): Record<string, string> {
    return { TELEGRAM_BOT_TOKEN: this.#token };
  }

  get section(): Fields {
    return { base_url: this.root };
  }

  write(text: string, written: Written = {}): void {
    const { chat = "7", user = "7", name = "Ada", isGroup = false, event, date, file, quoted, forwarded } = written;
    const from = { id: Number(user), is_bot: false, first_name: name };
    const id = Number(chat);
    const eve = { id: 99, first_name: "Eve", is_bot: false };
    const message = {
      message_id: this.newId(),
      from,
      chat: isGroup ? { id, type: "supergroup", title: "The group" } : { id, type: "private" },
      date: date ?? Math.floor(Date.now() / 1_000),
      ...(file === undefined ? { text } : { caption: text, ...this.#attach(file) }),
      ...(quoted !== undefined && { reply_to_message: { message_id: 1, from: eve, text: quoted } }),
      ...(forwarded === true && { forward_origin: { type: "hidden_user", sender_user_name: "Eve", date: 1 } }),
    };
    this.update({ message }, event);
  }

  press({ chat, id, buttons }: Shown, label: string, user = "7"): void {
    const data = buttons.find((button) => button.label === label)?.data ?? "";
    const message = { message_id: Number(id), date: 1, chat: { id: Number(chat.split(":")[0]), type: "private" } };
    const from = { id: Number(user), is_bot: false, first_name: "Ada" };
    this.update({ callback_query: { id: String(this.newId()), from, message, data, chat_instance: "1" } });
  }

  update(update: Fields, event = this.newId()): void {
    this.#updates.push({ update_id: event, ...update });
    this.#polled?.();
  }

  protected async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, file] = /^\/file\/bot[^/]+\/(.*)$/.exec(request.url ?? "") ?? [];
    if (file !== undefined) return void response.end(this.#files.get(file));
    const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)/.exec(request.url ?? "") ?? [];
    const fields = await fieldsOf(request);
    const fault = this.call(method);
    const refuse = (code: number, description: string): void =>
      respond(response, code, { ok: false, error_code: code, description });
    if (token !== this.#token || this.isRevoked) return refuse(401, "Unauthorized");
    if (respondFault(response, fault, () => this.#answer(method, fields))) return;
    if (method === "getUpdates") return this.#poll(fields, response);
    const result = this.#answer(method, fields);
    if (typeof result === "string") return refuse(400, `Bad Request: ${result}`);
    respond(response, 200, { ok: true, result });
  }

  #attach({ name, type, bytes, kind }: NonNullable<Written["file"]>): Fields {
    const id = `file-${this.newId()}`;
    this.#files.set(id, bytes);
    const file = { file_id: id, file_unique_id: id, file_size: bytes.length, mime_type: type };
    if (kind === "image") return { photo: [{ ...file, width: 1, height: 1 }] };
    return kind === "voice" ? { voice: { ...file, duration: 1 } } : { document: { ...file, file_name: name } };
  }

  #poll(fields: Fields, response: ServerResponse): void {
    this.#updates = this.#updates.filter(({ update_id: id }) => Number(id) >= Number(fields["offset"] ?? 0));
    const answer = (): void => {
      this.#polled = undefined;
      clearTimeout(timer);
      if (!response.destroyed) respond(response, 200, { ok: true, result: this.#updates.slice(0, 100) });
    };
    const timer = setTimeout(answer, 5_000).unref();
    response.once("close", () => clearTimeout(timer));
    if (this.#updates.length > 0) answer();
    else this.#polled = answer;
  }

  #answer(method: string, fields: Fields): unknown {
    switch (method) {
      case "getMe":
        return BOT;
      case "sendMessage":
      case "editMessageText":
        return this.#message(method, fields);
      case "sendMessageDraft":
        if (Number(fields["chat_id"]) < 0 || !this.hasDrafts) return "TEXTDRAFT_PEER_INVALID";
        this.drafts.push({ id: String(fields["draft_id"]), text: plain(String(fields["text"]), fields) });
        return true;
      case "sendPhoto":
      case "sendDocument":
        return this.#show(String(this.newId()), fields, { file: fileName(fields) });
      case "getFile":
        return { file_id: fields["file_id"], file_unique_id: "x", file_path: fields["file_id"] };
      default:
        return true;
    }
  }

  #message(method: string, fields: Fields): unknown {
    const text = String(fields["text"]);
    if (fields["parse_mode"] === "HTML" && !isBalanced(text)) return "can't parse entities";
    if (plain(text, fields).length > 4_096) return "message is too long";
    if (plain(text, fields) === "") return "message text is empty";
    const id = method === "sendMessage" ? String(this.newId()) : String(fields["message_id"]);
    const known = this.shown.find((one) => one.id === id);
    if (method === "editMessageText" && known === undefined) return "message to edit not found";
    if (known !== undefined && known.text === plain(text, fields) && known.buttons.length === 0)
      return "message is not modified";
    return this.#show(id, fields, {});
  }

  #show(id: string, fields: Fields, more: { readonly file?: string }): unknown {
    const thread = fields["message_thread_id"] === undefined ? "" : `:${fields["message_thread_id"]}`;
    const raw = fields["reply_markup"];
    const markup = (typeof raw === "string" ? JSON.parse(raw) : raw) as { inline_keyboard?: Button[][] } | undefined;
    const rows = markup?.inline_keyboard ?? [];
    const buttons = rows.flat().map(({ text: label, callback_data: data }) => ({ label, data }));
    const text = plain(String(fields["text"] ?? ""), fields);
    this.put({ id, chat: `${fields["chat_id"]}${thread}`, text, buttons, ...more });
    return { message_id: Number(id), date: 1, chat: { id: Number(fields["chat_id"]), type: "private" }, text };
  }
}

type Button = { readonly text: string; readonly callback_data: string };

/** The library sends a file in a field of a random name, which it attaches. */
function fileName(fields: Fields): string {
  const named = String(fields["photo"] ?? fields["document"]);
  return String(fields[named.replace("attach://", "")] ?? named);
}

/** Text as a reader sees it. */
function plain(text: string, fields: Fields): string {
  if (fields["parse_mode"] !== "HTML") return text;
  const shown = text.replaceAll(/<[^>]*>/g, "");
  return shown.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}

function isBalanced(text: string): boolean {
  const open: string[] = [];
  for (const [, slash, tag = ""] of text.matchAll(/<(\/?)([a-z]+)[^>]*>/g)) {
    if (slash === "") open.push(tag);
    else if (open.pop() !== tag) return false;
  }
  return open.length === 0;
}
