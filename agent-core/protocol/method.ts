/**
 * Our additions to ACP: methods, and fields in `_meta.hermes`. A table per topic holds the methods' names and the schemas of
 * both directions; the caller and the handler use the same entry.
 */
import type { SendRequestOptions } from "@zed-industries/agent-client-protocol";
import * as z from "zod";

export type RequestMethod<Params extends z.ZodType = z.ZodType, Result extends z.ZodType = z.ZodType> = {
  readonly name: string;
  readonly params: Params;
  readonly result: Result;
};

export type NotificationMethod<Params extends z.ZodType = z.ZodType> = {
  readonly name: string;
  readonly params: Params;
};

/** Parameters or a result without content. Any value is accepted, as other implementations send `null` or `{}`. */
export const nothing = z.unknown();

/** Parameters of a method about a session as a whole. */
export const inSession = z.object({ sessionId: z.string() });

/** The other side of a connection: `ClientContext` for a client, `AgentContext` for the agent. */
export type Peer = {
  request(method: string, params?: unknown, options?: SendRequestOptions): Promise<unknown>;
  notify(method: string, params?: unknown): Promise<void>;
};

/** A response whose shape is not the one that the method declares. */
export class InvalidResponseError extends Error {
  constructor(method: string, { issues: [issue] }: z.ZodError) {
    const field = issue === undefined || issue.path.length === 0 ? "result" : issue.path.join(".");
    super(`The response to ${method} is invalid: ${field}: ${issue?.message ?? "unexpected value"}`);
    this.name = "InvalidResponseError";
  }
}

/** Options of a request that ends at once with the signal, whatever the peer does. */
export function endingWith(signal: AbortSignal): SendRequestOptions {
  return { cancellationSignal: signal, stopWaitingOnCancel: true };
}

/** Sends a request and parses the response. Rejects with the peer's RequestError or an InvalidResponseError. */
export async function call<Params extends z.ZodType, Result extends z.ZodType>(
  peer: Peer,
  { name, result }: RequestMethod<Params, Result>,
  params: z.input<Params>,
  options?: SendRequestOptions,
): Promise<z.output<Result>> {
  const parsed = result.safeParse(await peer.request(name, params, options));
  if (!parsed.success) throw new InvalidResponseError(name, parsed.error);
  return parsed.data;
}

/** Sends a notification. A closed connection drops it. */
export function notify<Params extends z.ZodType>(
  peer: Peer,
  { name }: NotificationMethod<Params>,
  params: z.input<Params>,
): void {
  peer.notify(name, params).catch(() => undefined);
}

/** Value of `_meta.hermes`. Undefined when the field is missing or has another shape. */
export function readMeta<Schema extends z.ZodType>(schema: Schema, meta: unknown): z.output<Schema> | undefined {
  if (typeof meta !== "object" || meta === null || !("hermes" in meta)) return undefined;
  return schema.safeParse(meta.hermes).data;
}
