/** What our agent says of a compression: `_meta.hermes.compression`. */
import { fieldsOf, hermesField, type Meta } from "./hermes-meta.ts";

/** A message of the user's by its position, or a tool call by its id. */
export type Anchor = { readonly position: number } | { readonly toolCallId: string };

/** Which messages gave way to what, and what that has saved. */
export type CompressionUpdate = {
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summary: string | null;
  /** What it begins with; where it ends, and the model sees the messages themselves again. */
  readonly first: Anchor | null;
  readonly firstKept: Anchor | null;
};

/** Undefined for an update that tells of no compression. */
export function compressionIn(meta: Meta): CompressionUpdate | undefined {
  const told = fieldsOf(hermesField(meta, "compression"));
  const { messages, tokensBefore, tokensAfter, summary } = told;
  const [first, firstKept] = [anchorOf(told["first"]), anchorOf(told["firstKept"])];
  const hasCounts = typeof messages === "number" && typeof tokensBefore === "number" && typeof tokensAfter === "number";
  if (!hasCounts || first === undefined || firstKept === undefined) return undefined;
  return {
    messages,
    tokensBefore,
    tokensAfter,
    summary: typeof summary === "string" ? summary : null,
    first,
    firstKept,
  };
}

/** Undefined for what is no anchor. */
function anchorOf(value: unknown): Anchor | null | undefined {
  if (value === null) return null;
  const { position, toolCallId } = fieldsOf(value);
  if (typeof position === "number") return { position };
  return typeof toolCallId === "string" ? { toolCallId } : undefined;
}
