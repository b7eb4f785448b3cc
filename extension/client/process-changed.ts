import * as z from "zod";
import { type HermesProcessesChanged, processMethods } from "../../agent-core/protocol/processes.ts";
import type { ClientMethod } from "./client-method.ts";

const paramsSchema = z.object({
  sessionId: z.string(),
  processes: z.array(
    z.object({
      id: z.string(),
      command: z.string(),
      startedAt: z.number(),
      state: z.enum(["running", "waits-for-input", "left-behind", "ended"]),
      note: z.string().exactOptional(),
      terminalId: z.string().exactOptional(),
    }),
  ),
}) satisfies z.ZodType<HermesProcessesChanged>;

export const clientMethod: ClientMethod = {
  register(app, { processesChanged }) {
    app.onNotification(processMethods.changed.name, paramsSchema, ({ params }) => processesChanged(params));
  },
};
