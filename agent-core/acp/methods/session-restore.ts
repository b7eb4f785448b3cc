import { RequestError } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import {
  type HermesRestore,
  type HermesRestored,
  type HermesRestorePreview,
  type HermesRestorePreviewRequest,
  type HermesUndoRestore,
  restoreMethods,
} from "../../protocol/restores.ts";
import type { AcpSession } from "../acp-session.ts";
import type { Method } from "./method.ts";

const place = { sessionId: z.string(), position: z.int().min(0) };

const previewParams = z.object({
  ...place,
  withTexts: z.boolean().exactOptional(),
}) satisfies z.ZodType<HermesRestorePreviewRequest>;

const restoreParams = z.object({
  ...place,
  files: z.boolean(),
  conversation: z.boolean(),
}) satisfies z.ZodType<HermesRestore>;

const undoParams = z.object({ sessionId: z.string(), restoreId: z.string() }) satisfies z.ZodType<HermesUndoRestore>;

/** What going back would do, going back, and back from there. Refused while a turn runs: it builds on what is there. */
export const method: Method = {
  register(app, server) {
    const { preview, restore, undo } = restoreMethods;
    app.onRequest(preview.name, previewParams, ({ params, signal }): Promise<HermesRestorePreview> => {
      const { restores } = placeOf(server.session(params.sessionId), params.position);
      return restores.preview(params.position, params.withTexts ?? false, signal);
    });
    app.onRequest(restore.name, restoreParams, ({ params, signal }): Promise<HermesRestored> => {
      const session = placeOf(server.session(params.sessionId), params.position);
      const { position, files, conversation } = params;
      return session.betweenTurns(() => session.restores.restore(position, { files, conversation }, signal));
    });
    app.onRequest(undo.name, undoParams, async ({ params, signal }): Promise<HermesRestored> => {
      const session = server.session(params.sessionId);
      const undone = await session.betweenTurns(() => session.restores.undo(params.restoreId, signal));
      if (undone === undefined) throw RequestError.invalidParams({ field: "restoreId" }, "restoreId: no such restore");
      return undone;
    });
  },
};

/** The session, when the user said something at this position. */
function placeOf(session: AcpSession, position: number): AcpSession {
  if (session.restores.points().some((point) => point.position === position)) return session;
  const problem = `position: the user said nothing at ${position} that is still part of the session`;
  throw RequestError.invalidParams({ field: "position" }, problem);
}
