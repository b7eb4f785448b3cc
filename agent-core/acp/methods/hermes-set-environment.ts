import * as z from "zod";
import { type HermesEnvironment, settingsMethods } from "../../protocol/settings.ts";
import type { Method } from "./method.ts";

const environmentSchema = z.object({
  variables: z.record(z.string().regex(/^[A-Z][A-Z0-9_]*$/), z.string().nullable()),
}) satisfies z.ZodType<HermesEnvironment>;

export const method: Method = {
  register(app, server) {
    app.onRequest(settingsMethods.setEnvironment.name, environmentSchema, async ({ params }) => {
      await server.changeEnvironment(params.variables);
      return {};
    });
  },
};
