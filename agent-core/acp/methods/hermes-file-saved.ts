import * as z from "zod";
import { fileMethods, type HermesFileSaved } from "../../protocol/files.ts";
import type { Method } from "./method.ts";

const params = z.object({ path: z.string() }) satisfies z.ZodType<HermesFileSaved>;

export const method: Method = {
  register(app, server) {
    app.onNotification(fileMethods.saved.name, params, ({ params: { path } }) => server.userSaved(path));
  },
};
