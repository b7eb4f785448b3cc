/** Output of many small messages: those of one moment leave in one write, for a write costs more than a message. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import type { AnyMessage } from "@zed-industries/agent-client-protocol";

/** Two ways to one output, in the order of their writing. Both wait while it is full, and fail once it has failed. */
export type GatheredOutput = {
  /** Each becomes a line of JSON. */
  readonly messages: WritableStream<AnyMessage>;
  /** What is written as it is, each time a whole line. UTF-8. */
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
    // The moment is over when everything that has arrived is processed.
    if (gathered === "") setImmediate(flush);
    gathered += line;
    if (output.writableNeedDrain) await once(output, "drain");
  };
  return {
    messages: new WritableStream<AnyMessage>({ write: (message) => add(`${JSON.stringify(message)}\n`) }),
    lines: new WritableStream<Uint8Array>({ write: (bytes) => add(Buffer.from(bytes).toString()) }),
  };
}
