/** Meta's Graph API for WhatsApp, and the sender of its webhooks, which tries until it gets a 200. */
import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { FakePlatform, fieldsOf, respond, respondFault, type Shown, UNIQUE, type Written } from "./platform.ts";

type Fields = Record<string, unknown>;
const NUMBER = "1555";
const SECRET = "app-secret";

export class FakeWhatsApp extends FakePlatform {
  readonly name = "whatsapp";
  override readonly edits = false;
  readonly #files = new Map<string, { readonly type: string; readonly bytes: Uint8Array }>();
  readonly #uploads = new Map<string, string>();
  #port = 0;
  #isStopped: boolean = false;
  #delivery: Promise<void> = Promise.resolve();

  get variables(): Record<string, string> {
    return {
      WHATSAPP_CLOUD_ACCESS_TOKEN: `secret-meta-${UNIQUE}`,
      WHATSAPP_CLOUD_PHONE_NUMBER_ID: NUMBER,
      WHATSAPP_CLOUD_APP_SECRET: SECRET,
      WHATSAPP_CLOUD_VERIFY_TOKEN: "verify-me",
      WHATSAPP_CLOUD_WEBHOOK_PORT: String(this.#port),
    };
  }

  get section(): Fields {
    return { base_url: this.root };
  }

  get webhook(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  override async start(): Promise<this> {
    this.#port = await freePort();
    return super.start();
  }

  override async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#delivery;
    await super.stop();
  }

  write(text: string, written: Written = {}): void {
    const { user = "7", name = "Ada", event, date, file, forwarded } = written;
    const id = `wamid.${event ?? this.newId()}`;
    const timestamp = String(date ?? Math.floor(Date.now() / 1_000));
    const content = file === undefined ? { type: "text", text: { body: text } } : this.#attach(text, file);
    const context = forwarded === true ? { context: { forwarded: true } } : {};
    this.#deliver({ from: user, id, timestamp, ...content, ...context }, user, name);
  }

  press({ chat, id, buttons }: Shown, label: string, user = chat): void {
    const button = buttons.find((each) => each.label === label);
    const reply = { type: "button_reply", button_reply: { id: button?.data ?? "", title: label } };
    const message = {
      from: user,
      id: `wamid.${this.newId()}`,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      type: "interactive",
    };
    this.#deliver({ ...message, interactive: reply, context: { id } }, user, "Ada");
  }

  /** Body and headers of a webhook. `secret`: a forger has another one. */
  signed(message: Fields, user: string, name: string, secret = SECRET) {
    const contacts = [{ wa_id: user, profile: { name } }];
    const value = {
      messaging_product: "whatsapp",
      metadata: { phone_number_id: NUMBER },
      contacts,
      messages: [message],
    };
    const body = JSON.stringify({
      object: "whatsapp_business_account",
      entry: [{ id: "1", changes: [{ field: "messages", value }] }],
    });
    const mac = createHmac("sha256", secret).update(body).digest("hex");
    return { method: "POST", body, headers: { "x-hub-signature-256": `sha256=${mac}` } };
  }

  protected async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").replace(/^\/v[\d.]+\//, "");
    const [, content] = /^\/content\/(.+)$/.exec(request.url ?? "") ?? [];
    if (content !== undefined) return void response.end(this.#files.get(content)?.bytes);
    const fields = await fieldsOf(request);
    if (respondFault(response, this.call(path), () => this.#answer(path, fields))) return;
    respond(response, 200, this.#answer(path, fields));
  }

  #answer(path: string, fields: Fields): unknown {
    if (path === NUMBER) return { id: NUMBER };
    if (this.#files.has(path)) return { url: `${this.root}/content/${path}` };
    const id = String(this.newId());
    if (path === `${NUMBER}/media`) {
      this.#uploads.set(id, String(fields["file"]));
      return { id };
    }
    const { text, interactive, document, image } = fields as Sent;
    const file = this.#uploads.get((document ?? image)?.id ?? "");
    const replies = interactive?.action.buttons.map(({ reply }) => ({ label: reply.title, data: reply.id })) ?? [];
    const body = (interactive?.body.text ?? text?.body ?? "").replaceAll("*", "");
    this.put({ id, chat: String(fields["to"]), text: body, buttons: replies, ...(file !== undefined && { file }) });
    return { messages: [{ id }] };
  }

  #attach(caption: string, { name: filename, type, bytes, kind }: NonNullable<Written["file"]>): Fields {
    const id = `media${this.newId()}`;
    this.#files.set(id, { type, bytes });
    const found = { id, mime_type: type };
    if (kind === "image") return { type: "image", image: { ...found, caption } };
    return kind === "voice"
      ? { type: "audio", audio: found }
      : { type: "document", document: { ...found, filename, caption } };
  }

  #deliver(message: Fields, user: string, name: string): void {
    this.#delivery = this.#delivery.then(async () => {
      while (!this.#isStopped) {
        const answer = await fetch(this.webhook, this.signed(message, user, name)).catch(() => undefined);
        if (answer?.status === 200) return;
        await delay(50);
      }
    });
  }
}

type Sent = {
  readonly text?: { readonly body: string };
  readonly interactive?: {
    readonly body: { readonly text: string };
    readonly action: {
      readonly buttons: readonly { readonly reply: { readonly id: string; readonly title: string } }[];
    };
  };
  readonly document?: { readonly id: string };
  readonly image?: { readonly id: string };
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
