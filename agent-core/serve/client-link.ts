/** A client's connection, as the sessions see it. */
import type { AnyMessage, AnyRequest, AnyResponse, Stream } from "@zed-industries/agent-client-protocol";
import type { SharedAgent } from "./shared-agent.ts";

/** Messages that may wait for a client. One that reads no faster is cut off, and resumes later. */
const MAX_WAITING = 20_000;

export class ClientLink {
  /** Undefined before `initialize`. */
  agent: SharedAgent | undefined;
  readonly closed: Promise<void>;
  readonly messages: ReadableStream<AnyMessage>;
  readonly #writer: WritableStreamDefaultWriter<AnyMessage>;
  readonly #closed = Promise.withResolvers<void>();
  #waiting = 0;
  #isOpen: boolean = true;

  constructor({ readable, writable }: Stream) {
    this.messages = readable;
    this.#writer = writable.getWriter();
    this.closed = this.#closed.promise;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** A closed connection drops it. */
  send(message: AnyMessage): void {
    if (!this.#isOpen) return;
    this.#waiting += 1;
    if (this.#waiting > MAX_WAITING) {
      this.close();
      return;
    }
    this.#writer.write(message).then(
      () => {
        this.#waiting -= 1;
      },
      () => this.close(),
    );
  }

  answer(id: AnyRequest["id"], outcome: Omit<AnyResponse, "jsonrpc" | "id">): void {
    this.send({ ...outcome, jsonrpc: "2.0", id } as AnyResponse); // an outcome is a result or an error
  }

  refuse(id: AnyRequest["id"], code: number, message: string): void {
    this.send({ jsonrpc: "2.0", id, error: { code, message } });
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#writer.close().catch(() => undefined); // it has ended already
    this.#closed.resolve();
  }
}
