import * as z from "zod";
import {
  type HermesBuilding,
  IMPORTING,
  INDEX_BUILDING,
  SESSIONS_CHANGED,
} from "../../agent-core/acp/meta/sessions.ts";
import type { ClientMethod } from "./client-method.ts";

const building = z.object({ done: z.number(), total: z.number() }) satisfies z.ZodType<HermesBuilding>;

export const clientMethod: ClientMethod = {
  register(app, { sessionLists }) {
    app.onNotification(INDEX_BUILDING, building, ({ params }) => sessionLists.building(params));
    app.onNotification(IMPORTING, building, ({ params }) => sessionLists.importing(params));
    app.onNotification(SESSIONS_CHANGED, z.unknown(), () => sessionLists.changed());
  },
};
