/** Slack over Socket Mode: no port of this machine is open. In channels each thread is a chat. */
import { SocketModeClient } from "@slack/socket-mode";
import {
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
} from "@slack/web-api";
import * as z from "zod";
import { withoutEntities } from "../../../agent-core/platform/one-line.ts";
import {
  type Adapter,
  type AdapterHost,
  type AdapterModule,
  type AdapterSettings,
  download,
  type FailureKind,
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

const LIMITS: Limits = {
  textLength: 12_000,
  measure: "points",
  markup: "mrkdwn",
  perChatMs: 1_000,
  perSecond: 20,
  editMs: 1_500,
  buttons: 25,
  fileBytes: 20_000_000,
};
/** Longest text of a block; a message with buttons has blocks. Characters. */
const BLOCK_CHARS = 2_900;
const REVOKED = /^(?:invalid_auth|not_authed|token_revoked|token_expired|account_inactive)$/;

const text = z.string();
const file = z.object({
  url_private: text,
  name: text.nullish(),
  mimetype: text.nullish(),
  size: z.number().nullish(),
});
const messageEvent = z.object({
  type: z.enum(["message", "app_mention"]),
  subtype: z.enum(["file_share", "thread_broadcast"]).optional(),
  bot_id: z.undefined().optional(),
  user: text,
  text: text.default(""),
  channel: text,
  channel_type: text.optional(),
  ts: text,
  thread_ts: text.optional(),
  parent_user_id: text.optional(),
  files: z.array(file).default([]),
});
const pressBody = z.object({
  type: z.literal("block_actions"),
  user: z.object({ id: text }),
  channel: z.object({ id: text }),
  message: z.object({ ts: text, thread_ts: text.optional() }),
  actions: z.array(z.object({ value: text, action_ts: text })).min(1),
});
const writer = z
  .object({ team_id: text.optional(), event: z.object({ user: text, team: text.optional() }) })
  .transform(({ team_id: team, event }) => {
    return { recipient_user_id: event.user, recipient_team_id: event.team ?? team ?? "" };
  });
const envelope = z.object({
  ack: z.custom<() => Promise<void>>((value) => typeof value === "function"),
  body: z.unknown(),
});

export const makeAdapter: AdapterModule["makeAdapter"] = (settings) => new Slack(settings);

class Slack implements Adapter {
  readonly limits = LIMITS;
  /** Text that each open stream has, by its message. */
  readonly #streams = new Map<string, string>();
  /** Writers whose message has no answer yet: a stream names the one that it is for. */
  readonly #writers = new Map<string, z.infer<typeof writer>>();
  readonly #web: WebClient;
  readonly #socket: SocketModeClient;
  readonly #token: string;

  constructor(settings: AdapterSettings) {
    this.#token = needed(settings, "SLACK_BOT_TOKEN");
    const slackApiUrl = `${rootOf(settings, "https://slack.com")}/api/`;
    // The library's own lines hold texts of users.
    const options = {
      slackApiUrl,
      logLevel: LogLevel.ERROR,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
    };
    this.#web = new WebClient(this.#token, options);
    this.#socket = new SocketModeClient({
      appToken: needed(settings, "SLACK_APP_TOKEN"),
      logLevel: LogLevel.ERROR,
      clientPingTimeout: 5_000,
      clientOptions: { slackApiUrl },
    });
  }

  async connect(host: AdapterHost): Promise<void> {
    try {
      const { user_id: me = "" } = await this.#web.auth.test();
      this.#socket.on("slack_event", (raw: unknown) => {
        this.#take(raw, me, host).catch(() => host.log("an event could not be taken"));
      });
      await this.#socket.start();
    } catch (error) {
      if (error instanceof WebAPIPlatformError && REVOKED.test(error.data.error))
        return host.fail("unauthorized", error.data.error);
      throw new Error("the connection failed");
    }
  }

  async disconnect(): Promise<void> {
    await this.#socket.disconnect();
  }

  send(chat: string, message: Outgoing): Promise<Sent> {
    const { channel, thread } = addressOf(chat);
    const place = { channel, ...(thread !== undefined && { thread_ts: thread }) };
    return attempt(async () => {
      const sent = await this.#web.chat.postMessage({
        ...place,
        ...partsOf(message),
        unfurl_links: false,
        unfurl_media: false,
      });
      return sent.ts ?? "";
    });
  }

  edit(chat: string, id: string, message: Outgoing): Promise<Sent> {
    return attempt(async () => {
      const { channel } = addressOf(chat);
      if (this.#streams.delete(id)) await this.#web.chat.stopStream({ channel, ts: id });
      await this.#web.chat.update({ channel, ts: id, ...partsOf(message) });
      return id;
    });
  }

  /** A stream is in a thread, and only grows: of an answer too long for a preview it shows the start. */
  async stream(chat: string, id: string | undefined, { markdown }: Growing): Promise<Sent> {
    const { channel, thread } = addressOf(chat);
    if (thread === undefined) return failed("refused", "streams are in threads");
    return attempt(async () => {
      if (id === undefined) {
        const what = { channel, thread_ts: thread, markdown_text: markdown, ...this.#writers.get(chat) };
        const { ts = "" } = await this.#web.chat.startStream(what);
        this.#streams.set(ts, markdown);
        return ts;
      }
      const shown = this.#streams.get(id) ?? "";
      if (!markdown.startsWith(shown)) return id;
      await this.#web.chat.appendStream({ channel, ts: id, markdown_text: markdown.slice(shown.length) });
      this.#streams.set(id, markdown);
      return id;
    });
  }

  sendFile(chat: string, { name, bytes, caption }: OutgoingFile): Promise<Sent> {
    const { channel, thread } = addressOf(chat);
    return attempt(async () => {
      const what = { channel_id: channel, file: Buffer.from(bytes), filename: name, initial_comment: caption };
      await this.#web.filesUploadV2(thread === undefined ? what : { ...what, thread_ts: thread });
      return "";
    });
  }

  fetchFile(ref: string): Promise<Uint8Array> {
    return download(ref, { authorization: `Bearer ${this.#token}` });
  }

  /** Acknowledges an envelope once its event is stored: Slack sends it again otherwise. */
  async #take(raw: unknown, me: string, host: AdapterHost): Promise<void> {
    const { ack, body } = envelope.parse(raw);
    const event = eventOf(body, me);
    if (event?.kind === "message") this.#writers.set(event.chat, writer.parse(body));
    if (event !== undefined) await host.receive(event);
    await ack();
  }
}

function addressOf(chat: string): { readonly channel: string; readonly thread: string | undefined } {
  const [channel = "", thread] = chat.split(":");
  return { channel, thread };
}

function eventOf(body: unknown, me: string): Incoming | undefined {
  const press = pressBody.safeParse(body).data;
  const action = press?.actions[0];
  if (press !== undefined && action !== undefined) {
    const { ts, thread_ts: thread } = press.message;
    const chat = thread === undefined ? press.channel.id : `${press.channel.id}:${thread}`;
    return {
      kind: "press",
      id: `${ts}:${action.action_ts}`,
      at: Date.now(),
      chat,
      user: press.user.id,
      data: action.value,
      message: ts,
    };
  }
  const event = z.object({ event: messageEvent }).safeParse(body).data?.event;
  if (event === undefined || event.user === me) return undefined;
  const { channel, channel_type: type, ts, thread_ts: thread, user } = event;
  const isDirect = type === "im";
  const place = isDirect ? thread : (thread ?? ts);
  const mention = `<@${me}>`;
  return {
    kind: "message",
    id: `${channel}:${ts}`, // a mention comes as two events
    at: Number(ts) * 1_000,
    chat: place === undefined ? channel : `${channel}:${place}`,
    chatKind: isDirect ? "direct" : "group",
    user,
    text: plainText(event.text.replaceAll(mention, " "))
      .trim()
      .replace(/^!(?=[a-z])/, "/"),
    isAddressed:
      isDirect || event.type === "app_mention" || event.text.includes(mention) || event.parent_user_id === me,
    files: event.files.map(({ url_private: ref, name, mimetype, size }) =>
      fileOf({ ref, name: name ?? "file", type: mimetype ?? undefined, size: size ?? undefined }),
    ),
  };
}

/** Slack's references and entities as people read them. */
function plainText(marked: string): string {
  return withoutEntities(
    marked.replaceAll(/<(?:https?:|mailto:)[^>|]*\|([^>]*)>/g, "$1").replaceAll(/<([^>@#!][^>]*)>/g, "$1"),
  );
}

function partsOf({ text: whole, isPlain, buttons }: Outgoing) {
  if (buttons.length === 0) return { text: whole, mrkdwn: !isPlain, blocks: [] };
  const pieces = whole.match(new RegExp(`[\\s\\S]{1,${BLOCK_CHARS}}`, "gu")) ?? [];
  const sections = pieces.map((piece) => ({
    type: "section" as const,
    text: { type: "mrkdwn" as const, text: piece },
  }));
  const elements = buttons.map(({ label, data }, index) => ({
    type: "button" as const,
    action_id: `answer-${index}`,
    text: { type: "plain_text" as const, text: label },
    value: data,
  }));
  return { text: whole, blocks: [...sections, { type: "actions" as const, elements }] };
}

async function attempt(call: () => Promise<string>): Promise<Sent> {
  try {
    return { ok: true, id: await call() };
  } catch (error) {
    if (error instanceof WebAPIRateLimitedError) return failed("rate", "too many messages", error.retryAfter * 1_000);
    if (error instanceof WebAPIHTTPError) return failedStatus(error.statusCode, error.statusMessage);
    if (error instanceof WebAPIPlatformError) return failed(kindOf(error.data.error), error.data.error);
    return failedRequest(error instanceof WebAPIRequestError ? error.original : error);
  }
}

function kindOf(reason: string): FailureKind {
  if (REVOKED.test(reason)) return "unauthorized";
  if (/^(?:invalid_blocks|invalid_arguments)$/.test(reason)) return "format";
  return /^(?:message_not_found|cant_update_message|edit_window_closed|streaming_state_conflict)$/.test(reason)
    ? "gone"
    : "refused";
}
