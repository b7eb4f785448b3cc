import { RequestError } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { type HermesKey, type HermesKeyCheck, settingsMethods } from "../../protocol/settings.ts";
import { tryKey } from "../key-providers.ts";
import type { Method } from "./method.ts";

const keySchema = z.object({
  provider: z.string(),
  key: z.string(),
  baseUrl: z.string().exactOptional(),
}) satisfies z.ZodType<HermesKey>;

export const method: Method = {
  register(app, server) {
    app.onRequest(settingsMethods.checkKey.name, keySchema, async ({ params }): Promise<HermesKeyCheck> => {
      const { options } = await server.configure();
      const check = await tryKey(params, options.environment ?? {});
      if (check !== undefined) return check;
      const problem = `provider: ${JSON.stringify(params.provider)} takes no key, or its address is missing`;
      throw RequestError.invalidParams({ field: "provider" }, problem);
    });
  },
};
