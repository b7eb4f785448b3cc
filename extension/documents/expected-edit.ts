/** A write that expects what the file holds: worked out against what it holds now, refused when that is something else. */
import { RequestError } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { type HermesWriteMeta, WRITE_CONFLICT } from "../../agent-core/protocol/files.ts";
import { ConflictError, type FileNow } from "./write-document.ts";

type Expected = HermesWriteMeta["expected"];

/** How what a file must hold comes over the protocol. */
export const expectedSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("absent") }),
  z.object({ kind: z.literal("text"), text: z.string() }),
]) satisfies z.ZodType<Expected>;

/** Null stands for no file; `after` is in the file's line ends. */
export type ExpectedEdit<After> = { readonly path: string; readonly before: string | null; readonly after: After };

/** @throws ConflictError when the file holds anything but what was expected. */
export function expectedEdit<After extends string | null>(
  { text, inItsEndings }: FileNow,
  path: string,
  content: After,
  expected: Expected | undefined,
): ExpectedEdit<After | string> {
  if (expected?.kind === "absent" && text !== null) throw new ConflictError(`${path} exists by now`);
  if (expected?.kind === "text" && text === null) throw new ConflictError(`${path} is gone by now`);
  if (expected?.kind === "text" && inItsEndings(expected.text) !== text) {
    throw new ConflictError(`${path} has changed since it was read`);
  }
  return { path, before: text, after: content === null ? content : inItsEndings(content) };
}

/** The protocol's error for a change that did not take place; `action` ends "… was not". */
export function writeError(
  path: string,
  error: unknown,
  action: "written" | "removed" | "moved" = "written",
): RequestError {
  if (error instanceof ConflictError) return new RequestError(WRITE_CONFLICT, `${error.message}; read it again`);
  const why = messageOf(error);
  return RequestError.internalError({ path }, `${path} was not ${action}: ${why}`);
}
