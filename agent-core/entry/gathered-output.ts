/** Gathers small messages into one write: a write costs more than a message. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import type { AnyMessage } from "@zed-industries/agent-client-protocol";

/** Two streams into one output, in the order of their writes. Both wait while it is full, and fail after it failed. */
export type GatheredOutput = {
  /** Writes each message as a line of JSON. */
  readonly messages: WritableStream<AnyMessage>;
  /** Writes whole lines of UTF-8 unchanged. */
  readonly lines: WritableStream<Uint8Array>;
};

export function gatheredOutput(output: Writable): GatheredOutput {
  let gathered = "";
  let failure: Error | undefined;
  output.on("error", (error) => {
    failure = error;
  });
  const flush = (): void => {
    const text = gathered;
    gathered = "";
    output.write(text);
  };
  const add = async (line: string): Promise<void> => {
    if (failure !== undefined) throw failure;
    // Writes after the event loop has processed everything that arrived.
    if (gathered === "") setImmediate(flush);
    gathered += line;
    if (output.writableNeedDrain) await once(output, "drain");
  };
  return {
    messages: new WritableStream<AnyMessage>({ write: (message) => add(`${JSON.stringify(message)}\n`) }),
    lines: new WritableStream<Uint8Array>({ write: (bytes) => add(Buffer.from(bytes).toString()) }),
  };
}
