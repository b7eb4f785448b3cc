/** What our agent says of a compression: `_meta.hermes.compression`. */

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
export function compressionIn(
  meta: Readonly<Record<string, unknown>> | null | undefined,
): CompressionUpdate | undefined {
  const hermes = meta?.["hermes"];
  if (typeof hermes !== "object" || hermes === null || !("compression" in hermes)) return undefined;
  // Of our own agent, whose type this is; another one has no such field.
  return hermes.compression as CompressionUpdate;
}
