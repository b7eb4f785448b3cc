/** Opens the connection to one server with the MCP library. Loaded with the first server that starts. */
import { AsyncLocalStorage } from "node:async_hooks";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  type AuthProvider,
  Client,
  type ClientOptions,
  type CreateMessageRequest,
  type CreateMessageResult,
  type ElicitRequest,
  type ElicitResult,
  type JSONRPCMessage,
  type Progress,
  type RequestOptions,
  type Root,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import * as z from "zod";
import type { Confine } from "../host/terminals/terminals.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { codeOf, messageOf } from "../platform/errors.ts";
import { type ArgumentCheck, argumentCheck } from "../tools/argument-check.ts";
import {
  type listPage,
  listPrompts,
  listResources,
  listTemplates,
  listTools,
  type PromptAnswer,
  promptAnswer,
  type ResourceAnswer,
  resourceAnswer,
  type ServerResource,
  type ServerTool,
  type ToolAnswer,
  toolAnswer,
} from "./server-answers.ts";
import { SignInNeeded } from "./server-auth.ts";
import { type Carry, type HttpSettings, type ServerConfig, serverDetail } from "./server-config.ts";
import { StdioTransport, serverEnvironment } from "./stdio-transport.ts";
import { ourFetch, validMessage } from "./valid-messages.ts";

/** Answers to a server's own requests, and notice of its changes. */
export type ServerPorts = {
  sample(params: CreateMessageRequest["params"], signal: AbortSignal): Promise<CreateMessageResult>;
  elicit(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
  roots(): Root[];
  onListChanged(list: "tools" | "prompts" | "resources"): void;
  onLog(line: string): void;
  onClose(): void;
  /** See `HostTerminals.confine`. */
  readonly confine: Confine | undefined;
  /** Credentials for an HTTP server; undefined: none. */
  readonly authProvider: AuthProvider | undefined;
};

export type CallOptions = { readonly signal: AbortSignal; readonly onProgress?: (progress: Progress) => void };

export type OpenClient = ReturnType<typeof opened>;

/** The library limits each request; the caller of a request has its own idle timeout. Milliseconds: the longest timer. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** A server that needs the home or a socket of the machine, such as that of Docker, ends so. */
const CONFINED_END = "it ended at its start in the sandbox; servers of config.yaml (mcp_servers) run without it";

/** Rejects with `SignInNeeded`, or with an Error in one line. `folder`: the session's folder, absolute. */
export async function openClient(config: ServerConfig, folder: string, ports: ServerPorts): Promise<OpenClient> {
  const { settings } = config;
  if (settings.kind === "stdio") {
    const cwd = resolve(folder, settings.cwd ?? "");
    const { command, args } = settings;
    const isConfined = config.source === "workspace";
    const confined = isConfined ? await ports.confine?.({ command, args, cwd, lasts: true }) : undefined;
    const start = { command, args, ...confined, cwd, env: settings.env };
    const transport =
      process.platform === "win32"
        ? new StdioClientTransport({
            ...start,
            args: [...start.args],
            env: { ...serverEnvironment(start.env) },
            stderr: "ignore",
          })
        : new StdioTransport(start, confined);
    const log = (): string => (transport instanceof StdioTransport ? transport.log : "");
    return connect(transport, { config, ports, log }).catch((error: unknown) => {
      const hasEnded = transport instanceof StdioTransport && transport.hasEnded;
      const ended = confined === undefined ? "it ended at its start" : CONFINED_END;
      const problem = hasEnded ? ended : messageOf(error);
      throw new Error(log() === "" ? problem : `${problem} (${log()})`);
    });
  }
  if (settings.kind === "acp") {
    const connecting = { config, ports, log: () => "" };
    return connect(new CarriedTransport(config.carry), connecting, { mode: { pin: CARRIED_VERSION } });
  }
  try {
    return await connectByHttp(settings, { config, ports, log: () => "" });
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (error instanceof SdkHttpError && !error.message.includes(String(error.status)))
      throw new Error(`${messageOf(error)} (HTTP ${error.status})`);
    if (!NOBODY_THERE.test(code)) throw error;
    throw new Error(`${serverDetail(config)} cannot be reached (${code}). Start the server, or correct its address`);
  }
}

/** The only revision that ACP carries: it has no requests of the server, and no state. */
const CARRIED_VERSION = "2026-07-28";

const outcome = z.union([z.object({ result: z.unknown() }), z.object({ error: z.looseObject({ code: z.number() }) })]);

/** Requests to a server of the session's client. */
class CarriedTransport implements Transport {
  onmessage?: NonNullable<Transport["onmessage"]>;
  onclose?: NonNullable<Transport["onclose"]>;
  readonly #carry: Carry | undefined;
  readonly #ended = new AbortController();

  constructor(carry: Carry | undefined) {
    this.#carry = carry;
  }

  /** The client is connected. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.#ended.abort(new Error("the server was closed"));
    this.onclose?.();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message && "id" in message)) return; // a carried server takes no notifications
    const { id } = message;
    const answer = async (): Promise<object> => outcome.parse(await this.#carry?.(message, this.#ended.signal));
    const settled = await answer().catch((error: unknown) => ({ error: { code: -32_603, message: messageOf(error) } }));
    this.onmessage?.({ jsonrpc: "2.0", id, ...settled } as JSONRPCMessage); // an outcome is a result or an error
  }
}

/** Codes of the system for an address where no server answers. */
const NOBODY_THERE = /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)$/;

async function connectByHttp(settings: HttpSettings, connecting: Connecting): Promise<OpenClient> {
  const { ports } = connecting;
  if (settings.kind === "sse") return connect(sse(settings, ports), connecting);
  const streamable = new StreamableHTTPClientTransport(new URL(settings.url), httpOptions(settings, ports));
  try {
    return await connect(streamable, connecting);
  } catch (error) {
    // Answers of an older server to the first request of the newer transport.
    if (!(error instanceof SdkHttpError && [400, 404, 405].includes(error.status))) throw error;
    // The first error is about the transport that the settings name.
    return connect(sse(settings, ports), connecting).catch((second: unknown) => {
      throw second instanceof SignInNeeded ? second : error;
    });
  }
}

function sse(settings: HttpSettings, ports: ServerPorts): SSEClientTransport {
  return new SSEClientTransport(new URL(settings.url), httpOptions(settings, ports));
}

function httpOptions({ headers }: HttpSettings, { authProvider }: ServerPorts) {
  return {
    ...(authProvider && { authProvider }),
    requestInit: { headers: { ...headers } },
    fetch: ourFetch,
    reconnectionScheduler: reconnections(),
    reconnectionOptions: NO_DELAYS,
  };
}

/** The library names no delay of its own, so that a delay is the server's. */
const NO_DELAYS = {
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 2,
};
/** First and longest wait before a closed stream is asked for again; one that lives longer was not closed at once. Milliseconds. */
const MIN_RECONNECTION_MS = 1_000;
const MAX_RECONNECTION_MS = 60_000;

type Waits = { waitMs: number; endsAt: number };

/** The request whose own stream is read; undefined for the stream of the server's messages. */
export const streamOf = new AsyncLocalStorage<(Waits & { readonly id: unknown }) | undefined>();

/** Servers close a stream at once, time after time: every wait for it is longer. A server's own delay is kept. */
export function reconnections(clock: Pick<Clock, "monotonicNow"> = systemClock) {
  const general: Waits = { waitMs: 0, endsAt: 0 };
  return (reconnect: () => void, serverMs: number): (() => void) => {
    const waits = streamOf.getStore() ?? general;
    const now = clock.monotonicNow();
    const doubled = now > waits.endsAt + MAX_RECONNECTION_MS ? 0 : waits.waitMs * 2;
    const ownMs = Math.min(Math.max(MIN_RECONNECTION_MS, doubled), MAX_RECONNECTION_MS);
    waits.waitMs = serverMs > 0 ? Math.min(serverMs, NO_TIMEOUT) : ownMs;
    waits.endsAt = now + waits.waitMs;
    const timer = setTimeout(reconnect, waits.waitMs).unref();
    return () => clearTimeout(timer);
  };
}

type Connecting = { readonly config: ServerConfig; readonly ports: ServerPorts; readonly log: () => string };

async function connect(
  transport: Transport,
  { config, ports, log }: Connecting,
  versionNegotiation?: ClientOptions["versionNegotiation"],
): Promise<OpenClient> {
  const client = new Client(
    { name: "hermes", title: "Hermes", version: "1" },
    {
      capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} } },
      ...(versionNegotiation && { versionNegotiation }),
    },
  );
  client.setRequestHandler("roots/list", () => ({ roots: ports.roots() }));
  client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) => ports.sample(params, mcpReq.signal));
  client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => ports.elicit(params, mcpReq.signal));
  client.setNotificationHandler("notifications/tools/list_changed", () => ports.onListChanged("tools"));
  client.setNotificationHandler("notifications/prompts/list_changed", () => ports.onListChanged("prompts"));
  client.setNotificationHandler("notifications/resources/list_changed", () => ports.onListChanged("resources"));
  client.setNotificationHandler("notifications/message", ({ params: { level, logger, data } }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    ports.onLog([level, logger, text].filter((part) => part !== undefined).join(": "));
  });
  client.onerror = () => undefined; // text on stdout that is not a message: the connection stays open
  tolerate(transport);
  try {
    // A server may start while another one's stream is read.
    await streamOf.run(undefined, () => client.connect(transport, { timeout: config.connectTimeoutMs }));
  } catch (error) {
    await client.close().catch(() => undefined);
    const isTimeout = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
    if (!isTimeout) throw signInNeeded(error, config.name);
    const advice = config.source === "config" ? ". If it needs longer, raise its connect_timeout" : "";
    throw new Error(`it did not answer within ${config.connectTimeoutMs / 1_000} s of its start${advice}`);
  }
  client.onclose = () => ports.onClose();
  return opened(client, log);
}

/** Makes the messages of a server valid before the library refuses them: null for what is left out, and fields that it forgot. */
function tolerate(transport: Transport): void {
  let handle: Transport["onmessage"];
  const pending = new Set<unknown>();
  // Servers write null as the id of an error, and numbers as text. They answer in order, and some answer notifications.
  const askedId = (id: unknown, error: unknown): unknown => {
    const [oldest] = pending;
    const { code }: { readonly code?: unknown } = Object(error);
    const own = streamOf.getStore()?.id ?? (NOTIFICATION_ERRORS.includes(code) ? id : oldest);
    const asked = [...pending].find((each) => String(each) === String(id)) ?? (id == null && error != null ? own : id);
    pending.delete(asked);
    return asked;
  };
  Object.defineProperty(transport, "onmessage", {
    get: (): Transport["onmessage"] => handle && ((message, extra) => handle?.(validMessage(message, askedId), extra)),
    set: (handler: Transport["onmessage"]) => {
      handle = handler;
    },
  });
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ("method" in message && message.method === "notifications/cancelled")
      pending.delete(message.params?.["requestId"]);
    if (!("method" in message && "id" in message)) {
      // A server that does not answer a notification, or refuses it, may be used all the same.
      const sent = send(message, options).catch(() => undefined);
      return Promise.race([sent, delay(NOTIFICATION_MS, undefined, { ref: false })]);
    }
    const { id } = message;
    pending.add(id);
    const onRequestStreamEnd = (): void => {
      pending.delete(id);
      handle?.({ jsonrpc: "2.0", id, error: CUT_OFF });
    };
    return streamOf.run({ id, waitMs: 0, endsAt: 0 }, () => send(message, { ...options, onRequestStreamEnd }));
  };
}

/** Longest wait for the response to a notification. Milliseconds. */
const NOTIFICATION_MS = 1_000;

/** Errors with which servers answer a notification: its method is unknown, or it is no request. */
const NOTIFICATION_ERRORS: readonly unknown[] = [-32_601, -32_600];

/** Proxies close a connection that is idle. The library waits on for the answer. */
const CUT_OFF = {
  code: -32_000,
  message: "the connection ended before the answer; the call may have run all the same",
};

/** `SignInNeeded` when the server requires a sign-in, else the error itself. */
function signInNeeded(error: unknown, name: string): unknown {
  const isRefused = error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401);
  return isRefused ? new SignInNeeded(`${name} requires a sign-in. Type \`/mcp signin ${name}\`.`) : error;
}

function opened(client: Client, log: () => string) {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
  // The library's own methods reject a whole answer because of one invalid part.
  const pages = (method: string, options?: CallOptions) => (cursor: string | undefined, page: typeof listPage) =>
    client.request({ method, params: cursor === undefined ? {} : { cursor } }, page, optionsOf(options));
  return {
    /** Exit of the server's program and the end of its stderr, in one line; empty for servers over HTTP. */
    get log(): string {
      return log();
    },
    /** The server's advice on its use, as it wrote it. */
    instructions: client.getInstructions(),
    has: { tools: tools !== undefined, prompts: prompts !== undefined, resources: resources !== undefined },
    tools: (options?: CallOptions) => listTools(pages("tools/list", options)),
    prompts: (options?: CallOptions) => listPrompts(pages("prompts/list", options)),
    resources: async (options: CallOptions): Promise<readonly ServerResource[]> => {
      const [found, templates] = await Promise.all([
        listResources(pages("resources/list", options)),
        listTemplates(pages("resources/templates/list", options)).catch(() => ({ items: [] })),
      ]);
      return [...found.items, ...templates.items];
    },
    call: (name: string, args: unknown, options: CallOptions): Promise<ToolAnswer> =>
      client.request({ method: "tools/call", params: { name, arguments: args } }, toolAnswer, optionsOf(options)),
    readResource: (uri: string, options: CallOptions): Promise<ResourceAnswer> =>
      client.request({ method: "resources/read", params: { uri } }, resourceAnswer, optionsOf(options)),
    prompt: (name: string, args: Readonly<Record<string, string>>, options: CallOptions): Promise<PromptAnswer> =>
      client.request({ method: "prompts/get", params: { name, arguments: args } }, promptAnswer, optionsOf(options)),
    /** Throws when the schema does not compile. */
    check: (schema: ServerTool["inputSchema"]): ArgumentCheck => argumentCheck(schema),
    rootsChanged: () => client.sendRootsListChanged(),
    close: () => client.close(),
  };
}

function optionsOf({ signal, onProgress }: Partial<CallOptions> = {}): RequestOptions {
  return { ...(signal && { signal }), timeout: NO_TIMEOUT, ...(onProgress && { onprogress: onProgress }) };
}
