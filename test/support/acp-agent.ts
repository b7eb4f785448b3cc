/** The agent in the test's own process, over a pair of streams: for tests of the protocol. */
import type { AnyMessage } from "@zed-industries/agent-client-protocol";
import { serve } from "../../agent-core/acp/serve.ts";
import { nodeHost } from "../../agent-core/host/node-host.ts";
import type { Clock } from "../../agent-core/platform/clock.ts";
import { AcpClient } from "./acp-client.ts";

export class AcpAgent extends AcpClient {
  readonly #writer: WritableStreamDefaultWriter<AnyMessage>;
  readonly #ended: Promise<void>;

  /** `clock`: default: the system's. */
  constructor(environment: Readonly<Record<string, string>> = {}, home?: string, clock?: Clock) {
    super(home);
    // Commands, and what the agent knows of the user's home, take these from the process.
    process.env["HOME"] = this.home;
    const toAgent = new TransformStream<AnyMessage, AnyMessage>();
    const toClient = new WritableStream<AnyMessage>({ write: (message) => this.receive(copy(message)) });
    const service = serve(
      { readable: toAgent.readable, writable: toClient },
      {
        version: "0.0.0-test",
        environment: {
          PATH: process.env["PATH"],
          HERMES_HOME: this.home,
          HERMES_LOCAL_SERVERS: "off",
          ...environment,
        },
        local: nodeHost(),
        log: () => undefined,
        ...(clock && { clock }),
      },
    );
    this.#writer = toAgent.writable.getWriter();
    this.#ended = service.connection.closed.then(() => service.dispose());
  }

  protected override send(...messages: readonly object[]): void {
    // A write after the end of the connection fails, as one to a process that has ended does.
    for (const message of messages) this.#writer.write(copy(message)).catch(() => undefined);
  }

  async stop(): Promise<void> {
    await this.#writer.close().catch(() => undefined);
    await this.#ended;
  }
}

/** The message as it arrives over a wire. */
function copy<T>(message: object): T {
  return JSON.parse(JSON.stringify(message));
}
