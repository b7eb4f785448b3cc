import * as z from "zod";
import { type HermesProviders, settingsMethods } from "../../protocol/settings.ts";
import { keyProviders } from "../key-providers.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(settingsMethods.providers.name, z.unknown(), async (): Promise<HermesProviders> => {
      const { options } = await server.configure();
      await server.directory.discover();
      return {
        unset: server.directory.namesNoModel,
        providers: keyProviders(options.environment ?? {}),
        offers: server.directory.offers(),
      };
    });
  },
};
