/** Output of many small messages: those of one moment leave in one write, for a write costs more than a message. */
import { once } from "node:events";
import type { Writable } from "node:stream";

/** Bytes go to `output` in their order. Writing waits while `output` is full, and fails once it has failed. */
export function gatheredOutput(output: Writable): WritableStream<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let failure: Error | undefined;
  output.on("error", (error) => {
    failure = error;
  });
  const flush = (): void => {
    const bytes = gathered.length === 1 ? gathered[0] : Buffer.concat(gathered);
    gathered = [];
    output.write(bytes);
  };
  return new WritableStream<Uint8Array>({
    async write(bytes) {
      if (failure !== undefined) throw failure;
      // The moment is over when everything that has arrived is processed.
      if (gathered.length === 0) setImmediate(flush);
      gathered.push(bytes);
      if (output.writableNeedDrain) await once(output, "drain");
    },
  });
}
