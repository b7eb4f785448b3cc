import * as z from "zod";
import { HERMES_METHODS, type HermesModels } from "../meta/settings.ts";
import { modelChoice } from "../model-option.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(HERMES_METHODS.models, z.unknown(), async (): Promise<HermesModels> => {
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
