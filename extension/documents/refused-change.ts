/** What the agent is told when a file was not changed. */
import { RequestError } from "@zed-industries/agent-client-protocol";
import { WRITE_CONFLICT } from "../../agent-core/acp/meta.ts";
import { ConflictError } from "./write-document.ts";

/** `what` begins the message: `/a.txt was not written`. */
export function refusedChange(what: string, error: unknown): RequestError {
  if (error instanceof ConflictError) return new RequestError(WRITE_CONFLICT, `${error.message}; read it again`);
  const why = error instanceof Error ? error.message : String(error);
  return RequestError.internalError(undefined, `${what}: ${why}`);
}
