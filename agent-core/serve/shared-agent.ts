/** An agent in this process for all clients of one kind: those that declare the same capabilities. */
import {
  type AnyMessage,
  type AnyNotification,
  type AnyRequest,
  type AnyResponse,
  methods,
  PROTOCOL_VERSION,
} from "@zed-industries/agent-client-protocol";
import type { AgentServerOptions } from "../acp/agent-server.ts";
import { serve } from "../acp/serve.ts";
import { fieldsOf } from "../protocol/remote.ts";

/** Extensions of our own clients that concern neither files nor programs of the client's machine. */
const KEPT_EXTENSIONS = [
  ...["compressions", "grants", "sessionIndex", "sandbox", "palette", "processes", "extensions", "openUrl"],
];

/** Parameters of `initialize` for the agent: files and terminals are the server's. */
export type ClientKind = {
  readonly protocolVersion: number;
  readonly clientInfo?: unknown;
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
};

export function kindOf(params: unknown): ClientKind {
  const { clientCapabilities, clientInfo } = fieldsOf(params);
  const { fs: _files, terminal: _terminal, auth: _auth, _meta, ...kept } = fieldsOf(clientCapabilities);
  const ours = fieldsOf(fieldsOf(_meta)["hermes"]);
  const hermes = Object.fromEntries(KEPT_EXTENSIONS.flatMap((name) => (name in ours ? [[name, ours[name]]] : [])));
  const { version: _version, ...info } = fieldsOf(clientInfo);
  return {
    protocolVersion: PROTOCOL_VERSION,
    ...(clientInfo != null && { clientInfo: { ...info, version: "" } }),
    clientCapabilities: { ...kept, _meta: { hermes } },
  };
}

export type AgentPeer = {
  request(agent: SharedAgent, message: AnyRequest): void;
  notification(agent: SharedAgent, message: AnyNotification): void;
};

export class SharedAgent {
  readonly showsNotices: boolean;
  /** Response to `initialize`. */
  readonly facts: Promise<AnyResponse>;
  readonly #writer: WritableStreamDefaultWriter<AnyMessage>;
  readonly #service: ReturnType<typeof serve>;
  readonly #waiting = new Map<AnyRequest["id"], (response: AnyResponse) => void>();
  #lastId = 0;

  constructor(kind: ClientKind, options: AgentServerOptions, peer: AgentPeer) {
    this.showsNotices = fieldsOf(kind.clientCapabilities["session"])["notices"] != null;
    const inbound = new TransformStream<AnyMessage, AnyMessage>();
    const outbound = new WritableStream<AnyMessage>({
      write: (message) => {
        if (!("method" in message)) this.#answered(message);
        else if ("id" in message) peer.request(this, message);
        else peer.notification(this, message);
      },
    });
    this.#writer = inbound.writable.getWriter();
    this.#service = serve({ readable: inbound.readable, writable: outbound }, options);
    this.facts = this.ask(methods.agent.initialize, kind);
  }

  /** Sends a request, and returns its id in the agent. */
  request(method: string, params: unknown, answered: (response: AnyResponse) => void): number {
    this.#lastId += 1;
    this.#waiting.set(this.#lastId, answered);
    this.send({ jsonrpc: "2.0", id: this.#lastId, method, params });
    return this.#lastId;
  }

  ask(method: string, params: unknown): Promise<AnyResponse> {
    return new Promise((resolve) => this.request(method, params, resolve));
  }

  /** An agent that has ended drops it. */
  send(message: AnyMessage): void {
    this.#writer.write(message).catch(() => undefined);
  }

  /** Ends every session with its processes. */
  async dispose(): Promise<void> {
    await this.#service.dispose();
    await this.#writer.close().catch(() => undefined);
  }

  #answered(response: AnyResponse): void {
    const answered = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    answered?.(response);
  }
}
