/** Errors of requests as JSON-RPC errors: one line for people, the cause for programs in `data`. */
import { RequestError } from "@zed-industries/agent-client-protocol";
import { defined } from "../platform/defined.ts";
import { messageOf, UsageError } from "../platform/errors.ts";
import { truncate } from "../platform/one-line.ts";
import type { HermesFaultData } from "../protocol/conversation.ts";
import { failure, INTERNAL_ERROR, INVALID_PARAMS } from "../protocol/handle.ts";
import type { Fault } from "../providers/fault.ts";
import { withKeyAdvice, withoutKeyAdvice } from "../providers/fault-message.ts";
import { writeFault } from "../sessions/write-fault.ts";

/** ACP's "authentication required". */
const AUTH_REQUIRED = -32000;
const RESOURCE_NOT_FOUND = -32002;
/** Limit of a quoted session id. */
const MAX_ID_CHARS = 100;

/** `keyHint`: see `ConnectedClient`. */
export function faultError(fault: Fault, keyHint: string | undefined): RequestError {
  const { kind, status, retryAfterMs, keyFor } = fault;
  const needsKey = kind === "authentication";
  const data: HermesFaultData = { kind, ...defined({ status, retryAfterMs, keyFor }) };
  return new RequestError(needsKey ? AUTH_REQUIRED : INTERNAL_ERROR, withHint(fault, keyHint), data);
}

/** A missing key: editors offer their ways to authenticate. */
export function authRequired(missing: MissingKey, keyHint: string | undefined): RequestError {
  const { keyFor } = missing;
  const data: HermesFaultData = { kind: "authentication", ...defined({ keyFor }) };
  return new RequestError(AUTH_REQUIRED, withHint(missing, keyHint), data);
}

type MissingKey = Pick<Fault, "message" | "keyFor" | "keyAdvice">;

/** Adds the ways to set a missing key. A client with a button for it needs none. */
function withHint(missing: MissingKey, keyHint: string | undefined): string {
  const isAdvised = missing.keyAdvice !== undefined && keyHint !== undefined;
  return isAdvised ? `${withKeyAdvice(missing)} ${keyHint}` : withoutKeyAdvice(missing);
}

/** Throws the error's message as the protocol's error: the user can act on it. */
export function throwRequestError(error: unknown): never {
  if (error instanceof RequestError) throw error;
  if (error instanceof UsageError) throw new RequestError(INVALID_PARAMS, error.message);
  throw failure(messageOf(error));
}

/** Message of an error from the other side. It is often general, with the cause in `data`. */
export function messageWithCause({ message, data }: RequestError): string {
  const cause: unknown = typeof data === "string" ? data : Object(data).details;
  return typeof cause === "string" && !message.includes(cause) ? `${message}: ${cause}` : message;
}

/** The folder of a session does not exist any more. */
export function folderGone(folder: string): RequestError {
  const data: HermesFaultData = { kind: "folder-gone" };
  return new RequestError(INTERNAL_ERROR, `The folder of this session is gone: ${folder}`, data);
}

/** `why` follows a colon. */
export function sessionUnusable(sessionId: string, why: string): RequestError {
  const shown = truncate(sessionId, MAX_ID_CHARS);
  const data = { sessionId: shown, why };
  return new RequestError(RESOURCE_NOT_FOUND, `Session ${JSON.stringify(shown)} cannot be used: ${why}`, data);
}

/** The system's error follows `what` and a colon. */
export function notWritten(what: string, error: unknown): RequestError {
  return failure(`${what}: ${writeFault(error)}`);
}
