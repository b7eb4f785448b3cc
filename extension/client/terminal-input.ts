import * as z from "zod";
import { TERMINAL_INPUT } from "../../agent-core/acp/meta/terminals.ts";
import type { ClientMethod } from "./client-method.ts";

const paramsSchema = z.object({ sessionId: z.string(), terminalId: z.string(), text: z.string() });

export const clientMethod: ClientMethod = {
  register(app, { terminals }) {
    app.onRequest(TERMINAL_INPUT, paramsSchema, async ({ params }) => {
      const reason = await terminals.input(params.terminalId, params.text);
      return reason === undefined ? {} : { reason };
    });
  },
};
