/** Gathers small messages into one write: a write costs more than a message. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import type { AnyMessage } from "@zed-industries/agent-client-protocol";

export type GatheredOutput = {
  /** Writes a message as a line of JSON. Waits while the output is full, and rejects after the output failed. */
  send(message: AnyMessage): Promise<void>;
  /** Writes each message with `send`. */
  readonly messages: WritableStream<AnyMessage>;
  /** Resolves to the error when the output fails. */
  readonly failed: Promise<Error>;
};

export function gatheredOutput(output: Writable): GatheredOutput {
  let gathered = "";
  let failure: Error | undefined;
  const failed = new Promise<Error>((resolve) => output.once("error", resolve));
  output.on("error", (error) => {
    failure = error;
  });
  const flush = (): void => {
    const text = gathered;
    gathered = "";
    output.write(text);
  };
  const send = async (message: AnyMessage): Promise<void> => {
    if (failure !== undefined) throw failure;
    // Writes after the event loop has processed everything that arrived.
    if (gathered === "") setImmediate(flush);
    gathered += `${JSON.stringify(message)}\n`;
    if (output.writableNeedDrain) await once(output, "drain");
  };
  return { send, messages: new WritableStream<AnyMessage>({ write: send }), failed };
}
