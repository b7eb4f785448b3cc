/** Additions to ACP of an agent behind sockets, whose sessions outlive the connections. */
import * as z from "zod";
import { nothing } from "./method.ts";

/** `agentCapabilities._meta.hermes.serve`: the server understands `HermesResumeMeta` and `HermesRequestMeta`. */
export const HermesServeFacts = z.object({
  /** Name of the server's machine, for people. */
  machine: z.string(),
  /** Folders that sessions may work in, absolute. Empty: all. */
  roots: z.array(z.string()),
});
export type HermesServeFacts = z.infer<typeof HermesServeFacts>;

/** `_meta.hermes` of an agent's capabilities, as a client of a server reads it. */
export const HermesServerMeta = z.looseObject({ serve: HermesServeFacts });

/** `_meta.hermes` of a notification about a session: its number, which grows by one. */
export const HermesSequenceMeta = z.looseObject({
  seq: z.int().exactOptional(),
  /** Another connection has taken the session over. */
  taken: z.boolean().exactOptional(),
});

/**
 * `_meta.hermes` of `session/resume`: the server first sends every notification with a greater number. Its response has
 * `HermesResumedMeta`.
 */
export const HermesResumeMeta = z.looseObject({ after: z.int().exactOptional() });

/** `isComplete`: false when the server no longer has the notifications after `after`; `session/load` shows the conversation. */
export const HermesResumedMeta = z.looseObject({ isComplete: z.boolean() });

/**
 * `_meta.hermes` of any request to a server. A second request with the same id, on this connection or another one, has no
 * effect: it gets the response of the first one.
 */
export const HermesRequestMeta = z.looseObject({ requestId: z.string().max(200).exactOptional() });

/** Client → server. Shows that the connection is alive; allowed before `initialize`. */
export const pingMethod = { name: "_hermes/ping", params: nothing, result: nothing };

/** Name of the path that a server answers on. */
export const SERVE_PATH = "/acp";

/** A copy of the message whose parameters have these fields in `_meta.hermes`. */
export function withMeta<Message extends { readonly params?: unknown }>(message: Message, fields: object): Message {
  const params = fieldsOf(message.params);
  const meta = fieldsOf(params["_meta"]);
  const hermes = { ...fieldsOf(meta["hermes"]), ...fields };
  return { ...message, params: { ...params, _meta: { ...meta, hermes } } };
}

/** The fields of an object; none of any other value. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Id of the session that a message or a result is about. */
export function sessionOf(value: unknown): string | undefined {
  const { sessionId } = fieldsOf(value);
  return typeof sessionId === "string" ? sessionId : undefined;
}

/** True for names of this machine that no other machine reaches. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[?::1\]?|127\.\d+\.\d+\.\d+)$/.test(host);
}
