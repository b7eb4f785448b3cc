import * as z from "zod";
import { FILE_SAVED, type HermesFileSaved } from "../meta/files.ts";
import type { Method } from "./method.ts";

const params = z.object({ path: z.string() }) satisfies z.ZodType<HermesFileSaved>;

export const method: Method = {
  register(app, server) {
    app.onNotification(FILE_SAVED, params, ({ params: { path } }) => server.userSaved(path));
  },
};
