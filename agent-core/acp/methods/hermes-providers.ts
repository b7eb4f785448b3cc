import * as z from "zod";
import { keyProviders } from "../key-providers.ts";
import { HERMES_METHODS, type HermesProviders } from "../meta/settings.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(HERMES_METHODS.providers, z.unknown(), async (): Promise<HermesProviders> => {
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
