import * as z from "zod";
import { terminalMethods } from "../../agent-core/protocol/terminals.ts";
import type { ClientMethod } from "./client-method.ts";

const paramsSchema = z.object({ sessionId: z.string(), terminalId: z.string(), text: z.string() });

export const clientMethod: ClientMethod = {
  register(app, { terminals }) {
    app.onRequest(terminalMethods.input.name, paramsSchema, async ({ params }) => {
      const reason = await terminals.input(params.terminalId, params.text);
      return reason === undefined ? {} : { reason };
    });
  },
};
