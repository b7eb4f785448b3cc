import { methods, RequestError } from "@zed-industries/agent-client-protocol";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { HermesReadMeta, type HermesReadResult } from "../../agent-core/protocol/files.ts";
import { readMeta } from "../../agent-core/protocol/meta.ts";
import { readText, unsavedText } from "../documents/read-text.ts";
import type { ClientMethod } from "./client-method.ts";

/** Unsaved text is what the agent reads. */
export const clientMethod: ClientMethod = {
  register(app) {
    app.onRequest(methods.client.fs.readTextFile, async ({ params }) => {
      const { path, line, limit } = params;
      const isUnsavedOnly = readMeta(HermesReadMeta, params._meta) !== undefined;
      if (isUnsavedOnly && unsavedText(path) === undefined) {
        return { content: "", _meta: { hermes: { isSaved: true } satisfies HermesReadResult } };
      }
      const text = await readText(path).catch((error: unknown) => {
        throw RequestError.internalError(undefined, messageOf(error));
      });
      if (text === null) throw RequestError.resourceNotFound(path);
      if (line == null && limit == null) return { content: text };
      const from = Math.max(0, (line ?? 1) - 1);
      const lines = text.split("\n").slice(from, limit == null ? undefined : from + limit);
      return { content: lines.join("\n") };
    });
  },
};
