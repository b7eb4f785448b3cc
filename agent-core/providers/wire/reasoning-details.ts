/**
 * OpenRouter's `reasoning_details`: opaque parts that go back to it unchanged, but arrive cut into one piece a token.
 * Pieces of the same part are joined; a signature or an encrypted part is never touched.
 */
import * as z from "zod";

const text = z.string().nullish();

/** What is read of a part; the rest is kept as it is. */
const detailSchema = z.looseObject({
  type: z.string().startsWith("reasoning."),
  index: z.number().nullish(),
  text,
  summary: text,
  signature: text,
});

type Detail = z.infer<typeof detailSchema>;

/** Adds pieces to the parts so far; what is not of this kind is kept as it came. */
export function joinReasoningDetails(parts: readonly unknown[], pieces: readonly unknown[]): readonly unknown[] {
  const joined = [...parts];
  for (const piece of pieces) {
    const next = detailSchema.safeParse(piece).data;
    const last = detailSchema.safeParse(joined.at(-1)).data;
    if (next !== undefined && last !== undefined && continues(last, next)) joined[joined.length - 1] = join(last, next);
    else joined.push(piece);
  }
  return joined;
}

/** The part of `pieces` that people can read. */
export function readableReasoning(pieces: readonly unknown[]): string {
  return pieces
    .map((piece) => detailSchema.safeParse(piece).data)
    .map((detail) => detail?.text ?? detail?.summary ?? "")
    .join("");
}

/** True for parts that this kind of API gave and takes back; those of other wires are not. */
export function isReasoningDetail(part: unknown): boolean {
  return detailSchema.safeParse(part).success;
}

function continues(last: Detail, next: Detail): boolean {
  const isReadable = next.type === "reasoning.text" || next.type === "reasoning.summary";
  return isReadable && last.type === next.type && (last.index ?? 0) === (next.index ?? 0);
}

function join(last: Detail, next: Detail): Detail {
  const given = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== null && value !== undefined));
  return {
    ...last,
    ...given,
    ...((last.text ?? next.text) != null && { text: (last.text ?? "") + (next.text ?? "") }),
    ...((last.summary ?? next.summary) != null && { summary: (last.summary ?? "") + (next.summary ?? "") }),
  };
}
