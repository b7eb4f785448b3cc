import * as z from "zod";
import { type HermesBuilding, sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { ClientMethod } from "./client-method.ts";

const building = z.object({ done: z.number(), total: z.number() }) satisfies z.ZodType<HermesBuilding>;

export const clientMethod: ClientMethod = {
  register(app, { sessionLists }) {
    app.onNotification(sessionMethods.building.name, building, ({ params }) => sessionLists.building(params));
    app.onNotification(sessionMethods.importing.name, building, ({ params }) => sessionLists.importing(params));
    app.onNotification(sessionMethods.changed.name, z.unknown(), () => sessionLists.changed());
  },
};
