/** Discord: REST for what goes out, the gateway socket for what comes in. No port of this machine is open. */
import { DiscordAPIError, HTTPError, RateLimitError, REST } from "@discordjs/rest";
import * as z from "zod";
import {
  type Adapter,
  type AdapterHost,
  type AdapterModule,
  type AdapterSettings,
  type Button,
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
import { DiscordSocket, readSession } from "./discord-socket.ts";

const LIMITS: Limits = {
  textLength: 2_000,
  measure: "utf16",
  markup: "markdown",
  perChatMs: 1_000,
  perSecond: 40,
  editMs: 1_300,
  buttons: 25,
  fileBytes: 10_000_000,
};
/** Flag of a message without previews of its links. */
const NO_PREVIEWS = 4;
const UNKNOWN_MESSAGE = 10_008;

const person = z.object({
  id: z.string(),
  username: z.string(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
});
const attachment = z.object({
  url: z.string(),
  filename: z.string(),
  size: z.number(),
  content_type: z.string().nullish(),
});
const message = z.object({
  id: z.string(),
  channel_id: z.string(),
  guild_id: z.string().nullish(),
  author: person,
  content: z.string(),
  timestamp: z.string(),
  mentions: z.array(person).default([]),
  attachments: z.array(attachment).default([]),
  referenced_message: z.object({ author: person, content: z.string() }).nullish(),
  message_snapshots: z.array(z.object({ message: z.object({ content: z.string() }) })).default([]),
});
const interaction = z.object({
  id: z.string(),
  token: z.string(),
  type: z.number(),
  channel_id: z.string(),
  user: person.nullish(),
  member: z.object({ user: person }).nullish(),
  message: z.object({ id: z.string() }),
  data: z.object({ custom_id: z.string() }),
});
const created = z.object({ id: z.string() });

export const makeAdapter: AdapterModule["makeAdapter"] = (settings) => new Discord(settings);

class Discord implements Adapter {
  readonly limits = LIMITS;
  readonly #token: string;
  readonly #rest: REST;
  #socket: DiscordSocket | undefined;
  #running: Promise<void> = Promise.resolve();
  readonly #ready = Promise.withResolvers<void>();

  constructor(settings: AdapterSettings) {
    this.#token = needed(settings, "DISCORD_BOT_TOKEN");
    // The outbox decides about retries.
    const options = {
      version: "10",
      retries: 0,
      rejectOnRateLimit: () => true,
      api: `${rootOf(settings, "https://discord.com")}/api`,
    };
    this.#rest = new REST(options).setToken(this.#token);
  }

  async connect(host: AdapterHost): Promise<void> {
    const gateway = z.object({ url: z.string() });
    const address = async (): Promise<string> => gateway.parse(await this.#rest.get("/gateway/bot")).url;
    try {
      await address();
      const me = person.parse(await this.#rest.get("/users/@me"));
      this.#socket = new DiscordSocket({
        address,
        token: this.#token,
        saved: readSession(host.saved),
        dispatch: (type, data) => this.#dispatch(type, data, me.id, host),
        save: (session) => host.save(JSON.stringify(session)),
        log: (line) => host.log(line),
        fatal: (reason) => host.fail("unauthorized", reason),
      });
      this.#running = this.#socket.run();
      await Promise.race([this.#ready.promise, this.#running]);
    } catch (error) {
      if (error instanceof DiscordAPIError && error.status === 401) return host.fail("unauthorized", error.message);
      throw new Error("the connection failed");
    }
  }

  async disconnect(): Promise<void> {
    this.#socket?.stop();
    await this.#running;
  }

  send(chat: string, outgoing: Outgoing): Promise<Sent> {
    // With the same nonce, a repeat within some minutes makes no second message.
    const once = { nonce: outgoing.nonce, enforce_nonce: true };
    return attempt(() => this.#rest.post(`/channels/${chat}/messages`, { body: { ...bodyOf(outgoing), ...once } }));
  }

  edit(chat: string, id: string, outgoing: Outgoing): Promise<Sent> {
    return attempt(() => this.#rest.patch(`/channels/${chat}/messages/${id}`, { body: bodyOf(outgoing) }));
  }

  sendFile(chat: string, { name, bytes, caption }: OutgoingFile): Promise<Sent> {
    const files = [{ name, data: Buffer.from(bytes) }];
    return attempt(() => this.#rest.post(`/channels/${chat}/messages`, { body: { content: caption }, files }));
  }

  fetchFile(ref: string): Promise<Uint8Array> {
    return download(ref);
  }

  async typing(chat: string): Promise<void> {
    await this.#rest.post(`/channels/${chat}/typing`);
  }

  async #dispatch(type: string, data: unknown, me: string, host: AdapterHost): Promise<void> {
    if (type === "READY" || type === "RESUMED") this.#ready.resolve();
    if (type === "MESSAGE_CREATE") {
      const parsed = message.safeParse(data).data;
      if (parsed !== undefined && parsed.author.bot !== true) await host.receive(eventOf(parsed, me));
    }
    if (type !== "INTERACTION_CREATE") return;
    const pressed = interaction.safeParse(data).data;
    const user = pressed?.user ?? pressed?.member?.user;
    if (pressed === undefined || user === undefined) return;
    // Within three seconds, or the person sees a failure.
    const answer = this.#rest.post(`/interactions/${pressed.id}/${pressed.token}/callback`, {
      body: { type: 6 },
      auth: false,
    });
    answer.catch(() => host.log("a press could not be acknowledged"));
    const {
      id,
      channel_id: chat,
      message: { id: on },
      data: { custom_id: value },
    } = pressed;
    await host.receive({ kind: "press", id, at: Date.now(), chat, user: user.id, data: value, message: on });
  }
}

function eventOf(parsed: z.infer<typeof message>, me: string): Incoming {
  const { id, channel_id: chat, guild_id: guild, author, content, referenced_message: answered } = parsed;
  const [snapshot] = parsed.message_snapshots;
  const quoted = snapshot?.message.content ?? (answered?.author.id === me ? undefined : answered?.content);
  const text = content
    .replaceAll(new RegExp(`\\s*<@!?${me}>\\s*`, "g"), " ")
    .trim()
    .replace(/^!(?=[a-z])/, "/");
  return {
    kind: "message",
    id,
    at: Date.parse(parsed.timestamp),
    chat,
    chatKind: guild == null ? "direct" : "group",
    user: author.id,
    userName: author.global_name ?? author.username,
    text,
    isAddressed: guild == null || parsed.mentions.some((each) => each.id === me) || answered?.author.id === me,
    ...(quoted !== undefined && quoted !== "" && { quoted }),
    files: parsed.attachments.map(({ url: ref, filename: name, size, content_type: type }) =>
      fileOf({ ref, name, size, type: type ?? undefined }),
    ),
  };
}

function bodyOf({ text: content, buttons }: Outgoing) {
  const rows: Button[][] = [];
  for (const [index, button] of buttons.entries())
    (index % 5 === 0 ? rows[rows.push([]) - 1] : rows.at(-1))?.push(button);
  const components = rows.map((row) => ({
    type: 1,
    components: row.map(({ label, data }) => ({ type: 2, style: 2, label, custom_id: data })),
  }));
  // A text never notifies a role or everyone.
  return { content, components, flags: NO_PREVIEWS, allowed_mentions: { parse: [] } };
}

async function attempt(call: () => Promise<unknown>): Promise<Sent> {
  try {
    return { ok: true, id: created.parse(await call()).id };
  } catch (error) {
    if (error instanceof RateLimitError) return failed("rate", "too many messages", error.retryAfter);
    if (error instanceof DiscordAPIError) {
      return error.code === UNKNOWN_MESSAGE ? failed("gone", error.message) : failedStatus(error.status, error.message);
    }
    return error instanceof HTTPError ? failedStatus(error.status, error.message) : failedRequest(error);
  }
}
