/** WhatsApp by Meta's Cloud API. Messages come to a webhook, which listens on this machine alone: a proxy with HTTPS leads to it. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import * as z from "zod";
import {
  type Adapter,
  type AdapterHost,
  type AdapterModule,
  type AdapterSettings,
  type ChatFile,
  download,
  failed,
  failedRequest,
  failedStatus,
  fileOf,
  type Incoming,
  type Limits,
  needed,
  type Outgoing,
  type OutgoingFile,
  rootOf,
  type Sent,
} from "../adapter.ts";

const LIMITS: Limits = {
  textLength: 4_096,
  measure: "utf16",
  markup: "whatsapp",
  perChatMs: 1_000,
  perSecond: 50,
  buttons: 3,
  fileBytes: 20_000_000,
};
const API_VERSION = "v23.0";
const DEFAULT_PORT = 8_646;
/** Largest webhook of Meta. Bytes. */
const MAX_BODY = 3_000_000;
/** Longest text above buttons, and longest label of one. Characters. */
const BUTTON_TEXT_CHARS = 1_024;
const LABEL_CHARS = 20;
/** Error codes of too many messages, of a token that no longer counts, and of a temporary fault. */
const TOO_FAST = [4, 80_007, 130_429, 131_048, 131_056];
const REVOKED = [0, 190];
const TEMPORARY = [1, 2, 131_000, 131_016, 133_004];

const text = z.string();
const media = z.object({ id: text, mime_type: text.optional(), filename: text.optional(), caption: text.optional() });
const message = z.object({
  from: text,
  id: text,
  timestamp: text,
  text: z.object({ body: text }).optional(),
  image: media.optional(),
  document: media.optional(),
  audio: media.optional(),
  video: media.optional(),
  interactive: z.object({ button_reply: z.object({ id: text, title: text }) }).optional(),
  context: z.object({ id: text.optional(), forwarded: z.boolean().optional() }).optional(),
});
const value = z.object({
  metadata: z.object({ phone_number_id: text }),
  contacts: z.array(z.object({ wa_id: text, profile: z.object({ name: text }) })).default([]),
  messages: z.array(z.unknown()).default([]),
});
const webhook = z.object({ entry: z.array(z.object({ changes: z.array(z.object({ value: z.unknown() })) })) });
const refusal = z.object({ error: z.object({ code: z.number(), message: text }) });

export const makeAdapter: AdapterModule["makeAdapter"] = (settings) => new WhatsApp(settings);

class WhatsApp implements Adapter {
  readonly limits = LIMITS;
  readonly #root: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #number: string;
  readonly #secret: string;
  readonly #verify: string;
  readonly #port: number;
  #server: Server | undefined;

  constructor(settings: AdapterSettings) {
    const token = needed(settings, "WHATSAPP_CLOUD_ACCESS_TOKEN");
    this.#headers = { authorization: `Bearer ${token}` };
    this.#number = needed(settings, "WHATSAPP_CLOUD_PHONE_NUMBER_ID");
    this.#secret = needed(settings, "WHATSAPP_CLOUD_APP_SECRET");
    this.#verify = needed(settings, "WHATSAPP_CLOUD_VERIFY_TOKEN");
    this.#root = `${rootOf(settings, "https://graph.facebook.com")}/${API_VERSION}`;
    this.#port = Number(settings.variables["WHATSAPP_CLOUD_WEBHOOK_PORT"] ?? DEFAULT_PORT);
  }

  async connect(host: AdapterHost): Promise<void> {
    const response = await fetch(`${this.#root}/${this.#number}`, { headers: this.#headers });
    if (response.status === 401) return host.fail("unauthorized", "401");
    if (!response.ok) throw new Error(`the service answered ${response.status}`);
    const server = createServer((request, answer) => {
      this.#handle(request, answer, host).catch(() => {
        if (!answer.headersSent) answer.writeHead(500).end();
      });
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
  }

  async disconnect(): Promise<void> {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  async send(chat: string, { text: body, buttons }: Outgoing): Promise<Sent> {
    if (buttons.length === 0) return this.#post(chat, { type: "text", text: { body, preview_url: false } });
    const isShort = body.length <= BUTTON_TEXT_CHARS;
    const first = isShort ? undefined : await this.#post(chat, { type: "text", text: { body, preview_url: false } });
    if (first?.ok === false) return first;
    const replies = buttons.map(({ label, data }) => ({
      type: "reply",
      reply: { id: data, title: label.slice(0, LABEL_CHARS) },
    }));
    const interactive = {
      type: "button",
      body: { text: isShort ? body : "Your answer:" },
      action: { buttons: replies },
    };
    return this.#post(chat, { type: "interactive", interactive });
  }

  async sendFile(chat: string, { name, bytes, caption }: OutgoingFile): Promise<Sent> {
    const type = typeOf(name);
    const form = new FormData();
    form.set("messaging_product", "whatsapp");
    form.set("file", new Blob([new Uint8Array(bytes)], { type }), name);
    const uploaded = await this.#request(`${this.#number}/media`, { method: "POST", body: form });
    if (!uploaded.ok) return uploaded.failure;
    const { id } = z.object({ id: text }).parse(uploaded.value);
    if (type.startsWith("image/")) return this.#post(chat, { type: "image", image: { id, caption } });
    return this.#post(chat, { type: "document", document: { id, filename: name, caption } });
  }

  async fetchFile(ref: string): Promise<Uint8Array> {
    const found = await this.#request(ref, {});
    if (!found.ok) throw new Error("the service has no such file");
    return download(z.object({ url: text }).parse(found.value).url, this.#headers);
  }

  async #post(to: string, content: object): Promise<Sent> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ messaging_product: "whatsapp", recipient_type: "individual", to, ...content });
    const sent = await this.#request(`${this.#number}/messages`, { method: "POST", headers, body });
    if (!sent.ok) return sent.failure;
    const { messages } = z.object({ messages: z.array(z.object({ id: text })) }).parse(sent.value);
    return { ok: true, id: messages[0]?.id ?? "" };
  }

  async #request(
    path: string,
    init: RequestInit,
  ): Promise<{ ok: true; value: unknown } | { ok: false; failure: Sent }> {
    try {
      const response = await fetch(`${this.#root}/${path}`, {
        ...init,
        headers: { ...init.headers, ...this.#headers },
      });
      const answer: unknown = await response.json().catch(() => undefined);
      return response.ok ? { ok: true, value: answer } : { ok: false, failure: failureOf(response.status, answer) };
    } catch (error) {
      return { ok: false, failure: failedRequest(error) };
    }
  }

  async #handle(request: IncomingMessage, answer: ServerResponse, host: AdapterHost): Promise<void> {
    if (request.method === "GET") return this.#confirm(new URL(request.url ?? "", "http://localhost"), answer);
    const body = await bodyOf(request);
    if (body === undefined) return void answer.writeHead(413).end();
    if (!this.#isSigned(body, request.headers["x-hub-signature-256"])) return void answer.writeHead(403).end();
    for (const event of eventsOf(JSON.parse(body.toString()), this.#number)) await host.receive(event);
    answer.writeHead(200).end();
  }

  /** Meta's question about the address, at its set-up. */
  #confirm({ searchParams }: URL, answer: ServerResponse): void {
    const isOurs = isEqual(searchParams.get("hub.verify_token") ?? "", this.#verify);
    if (isOurs) answer.writeHead(200, { "content-type": "text/plain" }).end(searchParams.get("hub.challenge") ?? "");
    else answer.writeHead(403).end();
  }

  #isSigned(body: Buffer, signature: string | string[] | undefined): boolean {
    const mac = createHmac("sha256", this.#secret).update(body).digest("hex");
    return typeof signature === "string" && isEqual(signature, `sha256=${mac}`);
  }
}

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Undefined for a body that is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const part = Buffer.from(chunk);
    size += part.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

function eventsOf(body: unknown, number: string): readonly Incoming[] {
  const changes = webhook.safeParse(body).data?.entry.flatMap((entry) => entry.changes) ?? [];
  return changes.flatMap((change) => {
    const found = value.safeParse(change.value).data;
    if (found === undefined || found.metadata.phone_number_id !== number) return [];
    return found.messages.flatMap((raw) => {
      const parsed = message.safeParse(raw).data;
      const name = found.contacts.find(({ wa_id: id }) => id === parsed?.from)?.profile.name;
      return parsed === undefined ? [] : [eventOf(parsed, name)];
    });
  });
}

function eventOf(parsed: z.infer<typeof message>, name: string | undefined): Incoming {
  const { id, from: user, timestamp, interactive, context } = parsed;
  const from = { id, at: Number(timestamp) * 1_000, chat: user, user, ...(name !== undefined && { userName: name }) };
  if (interactive !== undefined)
    return { kind: "press", ...from, data: interactive.button_reply.id, message: context?.id ?? "" };
  const files = filesOf(parsed);
  const written =
    parsed.text?.body ?? [parsed.image, parsed.document, parsed.video].find((each) => each?.caption)?.caption ?? "";
  const isForwarded = context?.forwarded === true && written !== "";
  const words = isForwarded ? { text: "", quoted: written } : { text: written };
  return { kind: "message", ...from, chatKind: "direct", isAddressed: true, ...words, files };
}

function filesOf({ image, document, audio, video }: z.infer<typeof message>): ChatFile[] {
  const one = (found: z.infer<typeof media> | undefined, name: string): ChatFile[] =>
    found === undefined
      ? []
      : [fileOf({ ref: found.id, name: found.filename ?? name, type: found.mime_type?.split(";")[0] })];
  return [...one(image, "photo.jpg"), ...one(document, "file"), ...one(audio, "voice.ogg"), ...one(video, "video.mp4")];
}

function failureOf(status: number, answer: unknown): Sent {
  const { code = -1, message: reason = "" } = refusal.safeParse(answer).data?.error ?? {};
  if (TOO_FAST.includes(code)) return failed("rate", reason);
  if (REVOKED.includes(code)) return failed("unauthorized", reason);
  if (TEMPORARY.includes(code)) return failed("unsent", reason);
  return failedStatus(status, reason === "" ? `status ${status}` : reason);
}

const types: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  pdf: "application/pdf",
  txt: "text/plain",
};

function typeOf(name: string): string {
  return types[name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream";
}
