/** Registers handlers for methods of ours: the table's entry types and parses the parameters. */
import {
  type AgentApp,
  type AgentNotificationHandler,
  type AgentRequestHandler,
  type ClientApp,
  type ClientNotificationHandler,
  type ClientRequestHandler,
  RequestError,
} from "@zed-industries/agent-client-protocol";
import type * as z from "zod";
import type { NotificationMethod, RequestMethod } from "./method.ts";

/** Handles a request that the client sends. The response is empty where `handle` returns nothing. */
export function onClientRequest<Params extends z.ZodType, Result extends z.ZodType>(
  app: AgentApp,
  { name, params }: RequestMethod<Params, Result>,
  handle: AgentRequestHandler<z.output<Params>, z.input<Result>>,
): void {
  app.onRequest(name, parserOf(params), async (context) => (await handle(context)) ?? {});
}

/** Handles a notification that the client sends. */
export function onClientNotification<Params extends z.ZodType>(
  app: AgentApp,
  { name, params }: NotificationMethod<Params>,
  handle: AgentNotificationHandler<z.output<Params>>,
): void {
  app.onNotification(name, parserOf(params), handle);
}

/** Handles a request that the agent sends. The response is empty where `handle` returns nothing. */
export function onAgentRequest<Params extends z.ZodType, Result extends z.ZodType>(
  app: ClientApp,
  { name, params }: RequestMethod<Params, Result>,
  handle: ClientRequestHandler<z.output<Params>, z.input<Result>>,
): void {
  app.onRequest(name, parserOf(params), async (context) => (await handle(context)) ?? {});
}

/** Handles a notification that the agent sends. */
export function onAgentNotification<Params extends z.ZodType>(
  app: ClientApp,
  { name, params }: NotificationMethod<Params>,
  handle: ClientNotificationHandler<z.output<Params>>,
): void {
  app.onNotification(name, parserOf(params), handle);
}

/** Parses parameters; throws the protocol's error, which names the first invalid field. */
function parserOf<Schema extends z.ZodType>(schema: Schema): (raw: unknown) => z.output<Schema> {
  return (raw) => {
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const field = issue === undefined || issue.path.length === 0 ? "params" : issue.path.join(".");
    throw invalidParams(field, issue?.message ?? "invalid");
  };
}

/** Code of JSON-RPC for a request whose parameters cannot be used. */
export const INVALID_PARAMS = -32602;

/** The protocol's error for a parameter that cannot be used; `problem` follows the field's name and a colon. */
export function invalidParams(field: string, problem: string): RequestError {
  return new RequestError(INVALID_PARAMS, `${field}: ${problem}`, { field });
}

/** JSON-RPC's "internal error". */
export const INTERNAL_ERROR = -32603;

/** Error whose message the other side shows as it is: `RequestError.internalError` would begin it with "Internal error". */
export function failure(message: string): RequestError {
  return new RequestError(INTERNAL_ERROR, message);
}
