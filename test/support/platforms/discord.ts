/** Discord's REST API and its gateway socket, with heartbeats and resumption. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { FakePlatform, fieldsOf, respond, respondFault, type Shown, UNIQUE, type Written } from "./platform.ts";

type Fields = Record<string, unknown>;
const BOT = { id: "1", username: "hermes", bot: true };

export class FakeDiscord extends FakePlatform {
  readonly name = "discord";
  readonly variables = { DISCORD_BOT_TOKEN: `secret-discord-${UNIQUE}` };
  /** Opcodes that the client sent. */
  readonly opcodes: number[] = [];
  readonly #files = new Map<string, Uint8Array>();
  readonly #events: { readonly t: string; readonly s: number; readonly d: unknown }[] = [];
  readonly #sockets = new Set<WebSocket>();
  #seq = 0;
  /** True: heartbeats get no answer. */
  isDeaf = false;
  beatMs = 20_000;

  constructor() {
    super();
    const sockets = new WebSocketServer({ server: this.server });
    sockets.on("connection", (socket) => {
      socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: this.beatMs } }));
      socket.on("message", (data) => this.#receive(socket, JSON.parse(String(data))));
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  get section(): Fields {
    return { base_url: this.root };
  }

  write(text: string, written: Written = {}): void {
    const { chat = "70", user = "7", name = "Ada", isGroup = false, event, date, file, quoted } = written;
    const author = { id: user, username: name.toLowerCase(), global_name: name };
    const eve = { author: { id: "99", username: "eve" }, content: quoted };
    this.#emit("MESSAGE_CREATE", {
      id: String(event ?? this.newId()),
      channel_id: chat,
      ...(isGroup && { guild_id: "500" }),
      author,
      content: text.replaceAll("@hermes_bot", "<@1>"),
      timestamp: new Date(date === undefined ? Date.now() : date * 1_000).toISOString(),
      mentions: text.includes("@hermes_bot") ? [BOT] : [],
      attachments: file === undefined ? [] : [this.#attach(file)],
      ...(quoted !== undefined && { referenced_message: eve }),
    });
  }

  /** The user edits a message, then deletes it. */
  editAndDelete(id: string, text: string): void {
    const message = { id, channel_id: "70", author: { id: "7", username: "ada" }, content: text };
    this.#emit("MESSAGE_UPDATE", { ...message, timestamp: new Date().toISOString(), mentions: [], attachments: [] });
    this.#emit("MESSAGE_DELETE", { id, channel_id: "70" });
  }

  press({ chat, id, buttons }: Shown, label: string, user = "7"): void {
    const custom = buttons.find((button) => button.label === label)?.data ?? "";
    const person = { id: user, username: "ada" };
    const data = { custom_id: custom, component_type: 2 };
    this.#emit("INTERACTION_CREATE", {
      id: String(this.newId()),
      token: "t",
      type: 3,
      channel_id: chat,
      user: person,
      message: { id },
      data,
    });
  }

  /** Cuts all sockets, as a network does. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  override async stop(): Promise<void> {
    this.cut();
    await super.stop();
  }

  protected async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").replace("/api/v10", "");
    const [, file] = /^\/files\/(.+)$/.exec(path) ?? [];
    if (file !== undefined) return void response.end(this.#files.get(file));
    const fields = await fieldsOf(request);
    const fault = this.call(`${request.method} ${path}`);
    if (respondFault(response, fault, () => this.#answer(request.method ?? "", path, fields))) return;
    const { status = 200, ...body } = this.#answer(request.method ?? "", path, fields);
    respond(response, Number(status), body);
  }

  #answer(method: string, path: string, fields: Fields): Fields {
    if (path === "/gateway/bot") return { url: this.root.replace("http", "ws"), shards: 1 };
    if (path === "/users/@me") return BOT;
    const [, chat, id] = /^\/channels\/(\d+)\/messages(?:\/(\d+))?$/.exec(path) ?? [];
    if (chat === undefined) return {};
    if (method === "PATCH" && !this.shown.some((one) => one.id === id))
      return { status: 404, code: 10_008, message: "Unknown Message" };
    const known = this.shown.find(
      (one) => one.chat === chat && fields["nonce"] !== undefined && this.#nonces.get(one.id) === fields["nonce"],
    );
    const own = id ?? known?.id ?? String(this.newId());
    if (fields["nonce"] !== undefined) this.#nonces.set(own, String(fields["nonce"]));
    if (String(fields["content"] ?? "").length > 2_000)
      return { status: 400, code: 50_035, message: "Invalid Form Body" };
    const rows = (fields["components"] ?? []) as { components: { label: string; custom_id: string }[] }[];
    const buttons = rows.flatMap((row) => row.components).map(({ label, custom_id: data }) => ({ label, data }));
    const sent = Object.entries(fields).find(([key]) => key.startsWith("files["))?.[1];
    const text = String(fields["content"] ?? "").replaceAll("**", "");
    this.put({ id: own, chat, text, buttons, ...(sent !== undefined && { file: String(sent) }) });
    return { id: own, channel_id: chat };
  }

  readonly #nonces = new Map<string, string>();

  #attach({ name: filename, type, bytes }: NonNullable<Written["file"]>): Fields {
    const id = String(this.newId());
    this.#files.set(id, bytes);
    return { id, filename, url: `${this.root}/files/${id}`, size: bytes.length, content_type: type };
  }

  #emit(t: string, d: unknown): void {
    this.#seq += 1;
    const event = { op: 0, t, s: this.#seq, d };
    this.#events.push(event);
    for (const socket of this.#sockets) socket.send(JSON.stringify(event));
  }

  #receive(socket: WebSocket, { op, d }: { readonly op: number; readonly d: Fields | null }): void {
    this.opcodes.push(op);
    if (op === 1 && !this.isDeaf) socket.send(JSON.stringify({ op: 11 }));
    if (op === 2) {
      if (d?.["token"] !== this.variables.DISCORD_BOT_TOKEN) return void socket.close(4_004);
      this.#seq += 1;
      const ready = { session_id: "s1", resume_gateway_url: this.root.replace("http", "ws"), user: BOT };
      socket.send(JSON.stringify({ op: 0, t: "READY", s: this.#seq, d: ready }));
      this.#sockets.add(socket);
    }
    if (op === 6) {
      const missed = this.#events.filter(({ s }) => s > Number(d?.["seq"]));
      for (const event of missed) socket.send(JSON.stringify(event));
      this.#seq += 1;
      socket.send(JSON.stringify({ op: 0, t: "RESUMED", s: this.#seq, d: {} }));
      this.#sockets.add(socket);
    }
  }
}
