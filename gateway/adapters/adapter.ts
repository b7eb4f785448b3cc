/**
 * Contract of an adapter: one chat platform, in a child process of its own. An adapter only translates; who may write, order,
 * limits, retries and texts are decided on the other side. docs/gateway.md shows how to write one.
 */
import * as z from "zod";
import { defined } from "../../agent-core/platform/defined.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";

const text = z.string();

/** File in a chat that was not fetched yet. */
export const chatFile = z.object({
  /** Name of the file for `fetchFile`. */
  ref: text,
  name: text,
  type: text.exactOptional(),
  /** Bytes; missing when the platform does not say. */
  size: z.number().exactOptional(),
  kind: z.enum(["image", "voice", "file"]),
});
export type ChatFile = z.infer<typeof chatFile>;

const from = {
  /** Id of the event: an event with a known id is dropped. */
  id: text,
  /** Milliseconds since 1970. */
  at: z.number(),
  /** Address that `send` takes: a chat, or a thread of one. */
  chat: text,
  /** Id of the writer, which never changes. Names decide nothing. */
  user: text,
  userName: text.exactOptional(),
};

export const incoming = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("message"),
    ...from,
    chatKind: z.enum(["direct", "group"]),
    chatName: text.exactOptional(),
    text,
    /** The message names the bot, or answers one of its messages. */
    isAddressed: z.boolean(),
    /** Text that somebody else wrote: of the message that this one answers, or a forwarded one. */
    quoted: text.exactOptional(),
    files: z.array(chatFile),
  }),
  /** A press of a button. `message`: id of the message with the button. */
  z.object({ kind: z.literal("press"), ...from, data: text, message: text }),
]);
export type Incoming = z.infer<typeof incoming>;
export type IncomingMessage = Extract<Incoming, { kind: "message" }>;
export type Press = Extract<Incoming, { kind: "press" }>;

/** `data` has at most 64 bytes. */
export type Button = { readonly label: string; readonly data: string };

export type Outgoing = {
  /** In the adapter's markup, unless `isPlain`. */
  readonly text: string;
  readonly isPlain: boolean;
  readonly buttons: readonly Button[];
  /** The same for each try, for platforms that drop doubles by themselves. At most 25 characters. */
  readonly nonce: string;
};

/**
 * `rate`: too fast; nothing was sent. `format`: the markup was refused. `gone`: the message to edit is no more. `refused`:
 * never possible in this chat. `unauthorized`: the token no longer counts. `unsent`: not sent, a later try may succeed.
 * `unknown`: perhaps sent.
 */
export const failureKinds = ["rate", "format", "gone", "refused", "unauthorized", "unsent", "unknown"] as const;
export type FailureKind = (typeof failureKinds)[number];

/** A part of an answer that is being written. `markdown`: the same text before the adapter's markup. */
export type Growing = Outgoing & { readonly markdown: string };

/** `id`: of the message, for edits. `isDraft`: the next message in the chat takes its place. */
export type Sent =
  | { readonly ok: true; readonly id: string; readonly isDraft?: boolean }
  | { readonly ok: false; readonly kind: FailureKind; readonly reason: string; readonly retryAfterMs?: number };

export type Limits = {
  /** Longest text of a message, after the markup is read. */
  readonly textLength: number;
  /** Unit of `textLength`. */
  readonly measure: "utf16" | "points" | "bytes";
  readonly markup: "html" | "markdown" | "mrkdwn" | "whatsapp" | "plain";
  /** Least time between two messages in a chat. Milliseconds. */
  readonly perChatMs: number;
  /** Messages and edits in all chats together in a second. */
  readonly perSecond: number;
  /** Messages in a group in a minute. Default: no limit. */
  readonly groupPerMinute?: number;
  /** Least time between two edits of a message; missing: messages cannot be edited. Milliseconds. */
  readonly editMs?: number;
  /** Buttons of a message; 0: the text names the answers. */
  readonly buttons: number;
  /** Largest file in each direction. Bytes. */
  readonly fileBytes: number;
};

export type OutgoingFile = { readonly name: string; readonly bytes: Uint8Array; readonly caption: string };

/** The other side, as an adapter sees it. */
export type AdapterHost = {
  /** Hands an event over. Resolves once it is stored: only then may the platform forget it. */
  receive(event: Incoming): Promise<void>;
  /** Stores a text for the next start, such as the number of the last event. */
  save(state: string): void;
  /** Text of the last `save`. */
  readonly saved: string | undefined;
  /** One line, without secrets and without texts of users. */
  log(line: string): void;
  /** The connection ended for good: `unauthorized`, or another process uses the token. */
  fail(kind: "unauthorized" | "conflict", reason: string): void;
};

export type Adapter = {
  readonly limits: Limits;
  /** Begins to receive. Resolves when the platform accepted the token; reconnects by itself from then on. */
  connect(host: AdapterHost): Promise<void>;
  disconnect(): Promise<void>;
  send(chat: string, message: Outgoing): Promise<Sent>;
  edit?(chat: string, id: string, message: Outgoing): Promise<Sent>;
  /**
   * Shows an answer while it grows, where the platform has a way of its own. Each call has the whole text so far, and the id
   * that the one before returned. `edit` with this id ends it. Refused: edits are used instead.
   */
  stream?(chat: string, id: string | undefined, message: Growing): Promise<Sent>;
  sendFile?(chat: string, file: OutgoingFile): Promise<Sent>;
  fetchFile?(ref: string): Promise<Uint8Array>;
  /** Shows that an answer is on its way. */
  typing?(chat: string): Promise<void>;
};

/** Settings of a platform: its part of `platforms` in config.yaml, and its variables. */
export type AdapterSettings = {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly section: Readonly<Record<string, unknown>>;
};

/** Export of an adapter's module. Throws a UsageError when a setting is missing. */
export type AdapterModule = { makeAdapter(settings: AdapterSettings): Adapter };

const KINDS: Readonly<Record<string, ChatFile["kind"]>> = { image: "image", audio: "voice" };

/** A file with its kind. */
export function fileOf(
  file: Omit<ChatFile, "kind" | "type" | "size"> & { type?: string | undefined; size?: number | undefined },
): ChatFile {
  const { type, size, ...rest } = file;
  return { ...rest, kind: KINDS[type?.split("/")[0] ?? ""] ?? "file", ...defined({ type, size }) };
}

/** A variable of the platform. Throws a UsageError when it is missing. */
export function needed({ variables }: AdapterSettings, name: string): string {
  const value = variables[name];
  if (value === undefined || value === "") throw new UsageError(`${name} is not set`);
  return value;
}

/** Address of the platform's API without a final slash; `base_url` of its section replaces it. */
export function rootOf({ section }: AdapterSettings, usual: string): string {
  return String(section["base_url"] ?? usual).replace(/\/+$/, "");
}

/** Fetches a file. Rejects with an Error in one line. */
export async function download(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Uint8Array> {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(`the platform answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** A failed call as an adapter reports it. */
export function failed(kind: FailureKind, reason: string, retryAfterMs?: number): Sent {
  return { ok: false, kind, reason, ...defined({ retryAfterMs }) };
}

/** Failure of a request that an HTTP API refused. */
export function failedStatus(status: number, reason: string, retryAfterMs?: number): Sent {
  if (status === 429) return failed("rate", reason, retryAfterMs);
  if (status === 401) return failed("unauthorized", reason);
  if (status >= 500) return failed("unknown", reason);
  return failed(status === 404 ? "gone" : "refused", reason);
}

/** Failure of a request without an answer: before the connection stood, nothing was sent. */
export function failedRequest(error: unknown): Sent {
  const text = error instanceof Error ? `${error.message} ${codes(error)}` : String(error);
  const isUnsent = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/.test(text);
  return failed(isUnsent ? "unsent" : "unknown", "the connection failed");
}

function codes(error: Error): string {
  const {
    code,
    cause,
    error: inner,
  } = { code: "", error: undefined, ...error, cause: error.cause } as Record<string, unknown>;
  return [code, ...[cause, inner].map((each) => (each instanceof Error ? `${each.message} ${codes(each)}` : ""))].join(
    " ",
  );
}
