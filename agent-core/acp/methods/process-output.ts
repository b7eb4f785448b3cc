import * as z from "zod";
import { type HermesProcessOutput, type HermesProcessOutputRequest, PROCESS_METHODS } from "../meta/processes.ts";
import type { Method } from "./method.ts";

/** Given at a time. Bytes. */
const PART_BYTES = 65_536;

const params = z.object({
  sessionId: z.string(),
  id: z.string(),
  from: z.int().min(0).exactOptional(),
}) satisfies z.ZodType<HermesProcessOutputRequest>;

export const method: Method = {
  register(app, server) {
    app.onRequest(PROCESS_METHODS.output, params, async ({ params }): Promise<HermesProcessOutput> => {
      const { running } = server.session(params.sessionId).processes.find(params.id);
      const { totalBytes } = await running.read(0, 0);
      return running.read(params.from ?? Math.max(0, totalBytes - PART_BYTES), PART_BYTES);
    });
  },
};
