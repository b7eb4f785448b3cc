/**
 * Ids of sessions in the window. Two agents may give the same id, so another agent's ids begin with its name. An id that is
 * stored for the next window names its agent, too. Hermes' own ids have no colon.
 */
import type { AnyMessage, Stream } from "@zed-industries/agent-client-protocol";

/** Name of the agent that a session belongs to; undefined for Hermes. */
export function agentOf(sessionId: string): string | undefined {
  const end = sessionId.indexOf(":");
  return end > 0 ? sessionId.slice(0, end) : undefined;
}

/** A stream whose messages have the window's ids on this side, and the agent's own ids on the other side. */
export function namedSessions({ readable, writable }: Stream, name: string): Stream {
  const prefix = `${name}:`;
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => controller.enqueue(withIds(message, (id) => prefix + id)),
  });
  const outgoing = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) =>
      controller.enqueue(withIds(message, (id) => (id.startsWith(prefix) ? id.slice(prefix.length) : id))),
  });
  // A broken pipe ends the connection by its other side.
  outgoing.readable.pipeTo(writable).catch(() => undefined);
  return { readable: readable.pipeThrough(incoming), writable: outgoing.writable };
}

type Rename = (sessionId: string) => string;

function withIds(message: AnyMessage, rename: Rename): AnyMessage {
  const renamed = { ...message } as Record<string, unknown>; // a message is a plain object with one of these two fields
  for (const field of ["params", "result"]) {
    if (renamed[field] !== undefined) renamed[field] = renamedIn(renamed[field], rename);
  }
  return renamed as AnyMessage;
}

/** `sessionId` is a field of the parameters or the result, and of the rows of a list. */
function renamedIn(value: unknown, rename: Rename): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = value as Record<string, unknown>;
  const { sessionId, sessions } = fields;
  return {
    ...fields,
    ...(typeof sessionId === "string" && { sessionId: rename(sessionId) }),
    ...(Array.isArray(sessions) && { sessions: sessions.map((row) => renamedIn(row, rename)) }),
  };
}
