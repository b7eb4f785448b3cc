/** Slack's Web API and Socket Mode: envelopes that nobody acknowledged come again. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { bodyOf, FakePlatform, fieldsOf, respond, respondFault, type Shown, UNIQUE, type Written } from "./platform.ts";

type Fields = Record<string, unknown>;
const BOT = "UBOT";

export class FakeSlack extends FakePlatform {
  readonly name = "slack";
  readonly variables = { SLACK_BOT_TOKEN: `xoxb-secret-${UNIQUE}`, SLACK_APP_TOKEN: "xapp-secret" };
  readonly #files = new Map<string, Uint8Array>();
  readonly #unacknowledged = new Map<string, Fields>();
  readonly #uploads = new Map<string, string>();
  readonly #sockets = new Set<WebSocket>();
  /** Markdown of the messages that grow. */
  readonly #streams = new Map<string, string>();

  constructor() {
    super();
    const sockets = new WebSocketServer({ server: this.server });
    sockets.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.send(JSON.stringify({ type: "hello", num_connections: 1 }));
      socket.on("message", (data) => this.#unacknowledged.delete(JSON.parse(String(data)).envelope_id));
      socket.on("close", () => this.#sockets.delete(socket));
      for (const envelope of this.#unacknowledged.values()) socket.send(JSON.stringify(envelope));
    });
  }

  get section(): Fields {
    return { base_url: this.root };
  }

  write(text: string, written: Written = {}): void {
    const { chat = "D7", user = "7", isGroup = false, event, date, file } = written;
    const stamp = date ?? Date.now() / 1_000;
    const ts = event === undefined ? `${stamp.toFixed(3)}${this.newId()}` : `${Math.floor(stamp)}.${event}`;
    const shared = file === undefined ? {} : { subtype: "file_share", files: [this.#attach(file)] };
    const mentioned = text.replaceAll("@hermes_bot", `<@${BOT}>`).replace(/^\/(?=[a-z])/, "!");
    const type = isGroup ? "channel" : "im";
    this.#emit("events_api", {
      team_id: "T1",
      event: { type: "message", user, text: mentioned, channel: chat, channel_type: type, ts, ...shared },
    });
    if (isGroup && mentioned !== text)
      this.#emit("events_api", {
        team_id: "T1",
        event: { type: "app_mention", user, text: mentioned, channel: chat, ts },
      });
  }

  /** The user edits a message, then deletes it. */
  editAndDelete(ts: string, text: string): void {
    const changed = { type: "message", channel: "D7", channel_type: "im", ts: (Date.now() / 1_000).toFixed(6) };
    const message = { type: "message", user: "7", text, ts };
    for (const rest of [
      { subtype: "message_changed", message },
      { subtype: "message_deleted", deleted_ts: ts },
    ])
      this.#emit("events_api", { team_id: "T1", event: { ...changed, ...rest } });
  }

  press({ chat, id, buttons }: Shown, label: string, user = "7"): void {
    const value = buttons.find((button) => button.label === label)?.data ?? "";
    const [channel, thread] = chat.split(":");
    const message = { ts: id, ...(thread !== undefined && { thread_ts: thread }) };
    const actions = [{ value, action_id: "answer-0", action_ts: String(this.newId()) }];
    this.#emit("interactive", {
      type: "block_actions",
      user: { id: user },
      channel: { id: channel },
      message,
      actions,
    });
  }

  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  override async stop(): Promise<void> {
    this.cut();
    await super.stop();
  }

  protected async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "";
    const [, file] = /^\/files\/(.+)$/.exec(url) ?? [];
    if (file !== undefined) return void response.end(this.#files.get(file));
    if (url.startsWith("/upload/")) {
      await bodyOf(request);
      return void response.end("OK");
    }
    const method = url.replace("/api/", "").replace(/\?.*/, "");
    const fields = await fieldsOf(request);
    if (respondFault(response, this.call(method), () => this.#answer(method, fields))) return;
    respond(response, 200, { ok: true, ...this.#answer(method, fields) });
  }

  #answer(method: string, fields: Fields): Fields {
    switch (method) {
      case "auth.test":
        return { user_id: BOT };
      case "apps.connections.open":
        return { url: `${this.root.replace("http", "ws")}/link` };
      case "chat.postMessage":
        return this.#show(
          `1.${this.newId()}`,
          fields,
          fields["thread_ts"] === undefined ? "" : `:${fields["thread_ts"]}`,
        );
      case "chat.update": {
        const known = this.shown.find(({ id }) => id === fields["ts"]);
        if (known === undefined) return { ok: false, error: "message_not_found" };
        if (this.#streams.has(known.id)) return { ok: false, error: "streaming_state_conflict" };
        return this.#show(known.id, fields, threadOf(known));
      }
      case "chat.startStream": {
        if (fields["recipient_user_id"] === undefined || fields["recipient_team_id"] === undefined)
          return { ok: false, error: "missing_recipient_user_id" };
        const id = `1.${this.newId()}`;
        this.#streams.set(id, String(fields["markdown_text"]));
        return this.#grow(id, fields, `:${fields["thread_ts"]}`);
      }
      case "chat.appendStream": {
        const id = String(fields["ts"]);
        const shown = this.#streams.get(id);
        if (shown === undefined) return { ok: false, error: "message_not_in_streaming_state" };
        this.#streams.set(id, shown + String(fields["markdown_text"]));
        return this.#grow(id, fields, threadOf(this.shown.find((one) => one.id === id)));
      }
      case "chat.stopStream":
        return this.#streams.delete(String(fields["ts"])) ? {} : { ok: false, error: "message_not_in_streaming_state" };
      case "files.getUploadURLExternal": {
        const id = `F${this.newId()}`;
        this.#uploads.set(id, String(fields["filename"]));
        return { upload_url: `${this.root}/upload/${id}`, file_id: id };
      }
      case "files.completeUploadExternal": {
        const [{ id }] = JSON.parse(String(fields["files"])) as [{ id: string }];
        this.put({ id, chat: String(fields["channel_id"]), text: "", buttons: [], file: this.#uploads.get(id) ?? "" });
        return { files: [{ id }] };
      }
      default:
        return {};
    }
  }

  #grow(id: string, fields: Fields, thread: string): Fields {
    return this.#show(id, { ...fields, text: this.#streams.get(id) }, thread);
  }

  #show(id: string, fields: Fields, thread: string): Fields {
    const blocks = JSON.parse(String(fields["blocks"] ?? "[]")) as {
      elements?: { text: { text: string }; value: string }[];
    }[];
    const buttons = blocks
      .flatMap(({ elements = [] }) => elements)
      .map((each) => ({ label: each.text.text, data: each.value }));
    const text = String(fields["text"])
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&")
      .replaceAll("*", "");
    this.put({ id, chat: `${fields["channel"]}${thread}`, text, buttons });
    return { ts: id, channel: fields["channel"] };
  }

  #attach({ name, type: mimetype, bytes }: NonNullable<Written["file"]>): Fields {
    const id = String(this.newId());
    this.#files.set(id, bytes);
    return { id, name, mimetype, size: bytes.length, url_private: `${this.root}/files/${id}` };
  }

  #emit(type: string, payload: Fields): void {
    const id = String(this.newId());
    const envelope = { envelope_id: id, type, payload, accepts_response_payload: false };
    this.#unacknowledged.set(id, envelope);
    for (const socket of this.#sockets) socket.send(JSON.stringify(envelope));
  }
}

function threadOf(message: Shown | undefined): string {
  return message?.chat.includes(":") === true ? message.chat.slice(message.chat.indexOf(":")) : "";
}
