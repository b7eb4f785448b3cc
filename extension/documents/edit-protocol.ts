/** Expected texts, answers and refusals of guarded changes, as the protocol has them. */
import { RequestError } from "@zed-industries/agent-client-protocol";
import { messageOf } from "../../agent-core/platform/errors.ts";
import {
  type HermesConflict,
  type HermesWriteMeta,
  type HermesWriteResult,
  WRITE_CONFLICT,
} from "../../agent-core/protocol/files.ts";
import { failure } from "../../agent-core/protocol/handle.ts";
import { ConflictError, type WrittenFile } from "./guarded-edit.ts";

type Expected = HermesWriteMeta["expected"];

/** Null: no file. */
export function expectedText(expected: Expected): string | null {
  return expected.kind === "text" ? expected.text : null;
}

/** A guarded change that was made; `review` is there when the user decided about it first. */
export type ReviewedWrite = {
  readonly written: WrittenFile | undefined;
  readonly review?: {
    readonly before: string | null;
    readonly after: string | null;
    /** Hunks. */
    readonly kept: number;
    readonly undone: number;
  };
};

/** Answer to a guarded change, with the text that the file has now. */
export function answerOf({ written, review }: ReviewedWrite): {
  readonly _meta?: { readonly hermes: HermesWriteResult };
} {
  const isSaved = written?.isSaved;
  const hermes: HermesWriteResult = {
    ...(review && {
      review: { text: review.after, before: review.before, kept: review.kept, rejected: review.undone },
    }),
    ...(written !== undefined && isSaved !== undefined && { shown: { text: written.text, isSaved } }),
  };
  return { _meta: { hermes } };
}

/** The protocol's error for a change that did not take place: the reason, which the agent adds to the file and the change. */
export function writeError(error: unknown): RequestError {
  if (!(error instanceof ConflictError)) return failure(messageOf(error));
  const { message, present } = error;
  return new RequestError(WRITE_CONFLICT, `${message}; read it again`, { present } satisfies HermesConflict);
}
