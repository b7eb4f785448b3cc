/** Streams to an agent behind a URL: WebSocket or streamable HTTP, with the token in a header. */
import type { Stream } from "@zed-industries/agent-client-protocol";
import { createHttpStream } from "@zed-industries/agent-client-protocol/experimental/http-client";
import {
  createWebSocketStream,
  type WebSocketConstructor,
} from "@zed-industries/agent-client-protocol/experimental/ws-client";
import { messageOf, UsageError } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import { type LastingStreamEvents, type LastingStreamOptions, lastingStream } from "./lasting-stream.ts";
import { SERVE_PATH } from "./remote.ts";

/** Limit of the answer to the question why a connection failed. */
const PROBE_MS = 5_000;
const PROBE_CHARS = 500;

/** Node's own WebSocket takes headers in its second argument. It uses the editor's proxy and certificates. */
class HeaderWebSocket extends WebSocket {
  constructor(url: string, protocols?: string | string[], options?: { headers?: Record<string, string> }) {
    const init = { ...(protocols && { protocols }), ...(options?.headers && { headers: options.headers }) };
    super(url, init as unknown as string[]); // the types of the browser do not have Node's form
  }
}

export type RemoteAgent = {
  readonly url: URL;
  /** Undefined for a server without one. */
  readonly token: string | undefined;
};

/**
 * Address of an agent: `ws`, `wss`, `http` or `https`. Without a path it gets the usual one. Throws a UsageError in one line, which
 * does not quote a token that stands in the address.
 */
export function remoteUrl(text: string): URL {
  if (!URL.canParse(text))
    throw new UsageError("the address of the agent is not a URL such as wss://build.example:9120/acp");
  const url = new URL(text);
  if (!["ws:", "wss:", "http:", "https:"].includes(url.protocol)) {
    throw new UsageError(`the address of the agent begins with ${url.protocol}//; use ws, wss, http or https`);
  }
  if (url.search !== "" || url.username !== "" || url.password !== "") {
    throw new UsageError("the address of the agent has a query or a user; a token never stands in an address");
  }
  if (url.pathname === "/") url.pathname = SERVE_PATH;
  return url;
}

/** A stream that connects again by itself where the server's sessions outlive connections. */
export function remoteStream(remote: RemoteAgent, events: LastingStreamEvents = {}): Stream {
  return lastingStream({ ...events, open: () => open(remote), explain: (error) => explain(remote, error) });
}

function open({ url, token }: RemoteAgent): Stream {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  if (url.protocol.startsWith("http")) return createHttpStream(url.href, { headers });
  const options: { readonly WebSocket: WebSocketConstructor } = { WebSocket: HeaderWebSocket };
  return createWebSocketStream(url.href, { headers, ...options });
}

/** A socket's error does not have the server's answer, so the server is asked once more. */
async function explain({ url, token }: RemoteAgent, error: unknown): ReturnType<LastingStreamOptions["explain"]> {
  const where = `${url.host}${url.pathname}`;
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  // The event of Node's own socket has the error, and none where the server went away.
  const problem: unknown = error instanceof Event ? Object(error).error : error;
  const lost = `the connection to ${where} was lost${problem == null ? "" : `: ${messageOf(problem)}`}`;
  try {
    const signal = AbortSignal.timeout(PROBE_MS);
    const response = await fetch(url.href.replace(/^ws/, "http"), { headers, redirect: "manual", signal });
    const { status } = response;
    const text = oneLine(await response.text(), PROBE_CHARS);
    const isRefused = status === 401;
    if (isRefused || [403, 429, 503].includes(status))
      return { reason: `${where} refused the connection: ${text}`, isRefused };
    return { reason: status === 404 ? `${where} has no agent at this path` : lost, isRefused };
  } catch (failure) {
    const cause = failure instanceof Error && failure.cause !== undefined ? failure.cause : failure;
    return { reason: `${where} cannot be reached: ${unreachable(cause)}`, isRefused: false };
  }
}

/** Node advises on its own options after a semicolon. */
function unreachable(cause: unknown): string {
  const [reason = ""] = messageOf(cause).split("; ");
  if (!/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(String(Object(cause).code)) || reason.includes("expired"))
    return reason;
  return `${reason}. Add its certificate authority to those of this machine.`;
}
