import * as z from "zod";
import { type HermesModels, settingsMethods } from "../../protocol/settings.ts";
import { modelChoice } from "../model-option.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(settingsMethods.models.name, z.unknown(), async (): Promise<HermesModels> => {
      await Promise.all([server.directory.refresh(), server.directory.discover()]);
      return {
        groups: server.directory.groups().map(({ provider, title, models }) => ({
          provider,
          title,
          choices: models.map((model) => modelChoice(provider, model)),
        })),
      };
    });
  },
};
