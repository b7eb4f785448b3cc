/** A model that could not be used, as a JSON-RPC error: one line for people, the cause for programs in `data`. */
import { RequestError } from "@zed-industries/agent-client-protocol";
import type { Fault } from "../providers/fault.ts";

/** ACP's "authentication required". */
const AUTH_REQUIRED = -32000;
const INTERNAL_ERROR = -32603;

export function faultError(fault: Fault): RequestError {
  const code = fault.kind === "authentication" ? AUTH_REQUIRED : INTERNAL_ERROR;
  return new RequestError(code, fault.message, {
    kind: fault.kind,
    ...(fault.status !== undefined && { status: fault.status }),
    ...(fault.retryAfterMs !== undefined && { retryAfterMs: fault.retryAfterMs }),
  });
}

/** A key is missing: editors that know ways to authenticate offer them. */
export function authRequired(message: string): RequestError {
  return new RequestError(AUTH_REQUIRED, message, { kind: "authentication" });
}
