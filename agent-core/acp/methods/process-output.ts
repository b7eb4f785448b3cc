import { type HermesProcessOutput, processMethods } from "../../protocol/processes.ts";
import type { Method } from "./method.ts";

/** Given at a time. Bytes. */
const PART_BYTES = 65_536;

export const method: Method = {
  register(app, server) {
    app.onRequest(
      processMethods.output.name,
      processMethods.output.params,
      async ({ params }): Promise<HermesProcessOutput> => {
        const { running } = server.session(params.sessionId).processes.find(params.id);
        const { totalBytes } = await running.read(0, 0);
        return running.read(params.from ?? Math.max(0, totalBytes - PART_BYTES), PART_BYTES);
      },
    );
  },
};
