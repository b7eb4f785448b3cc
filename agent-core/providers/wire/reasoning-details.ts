/**
 * OpenRouter's `reasoning_details`: opaque parts that return unchanged but arrive in one piece per token. Pieces of one
 * part are joined; signatures and encrypted parts stay as they are.
 */
import * as z from "zod";

const text = z.string().nullish();

/** The fields that are read; all others are kept. */
const detailSchema = z.looseObject({
  type: z.string().startsWith("reasoning."),
  index: z.number().nullish(),
  text,
  summary: text,
  signature: text,
});

type Detail = z.infer<typeof detailSchema>;

/** Adds pieces to the parts. Pieces of other kinds are kept unchanged. */
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

/** The readable text of `pieces`. */
export function readableReasoning(pieces: readonly unknown[]): string {
  return pieces
    .map((piece) => detailSchema.safeParse(piece).data)
    .map((detail) => detail?.text ?? detail?.summary ?? "")
    .join("");
}

/** True for parts of this API, false for those of other wires. */
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
