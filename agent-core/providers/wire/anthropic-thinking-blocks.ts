/**
 * Anthropic's signed thinking in `reasoning_details`: opaque blocks that must go back unchanged and in their places, or
 * the API refuses the conversation. The history keeps text and calls elsewhere, so where thinking stands between them,
 * place-holders keep the order.
 */
import type { RedactedThinkingBlockParam, ThinkingBlockParam } from "@anthropic-ai/sdk/resources/messages";
import * as z from "zod";

/** Loose: fields that we do not know belong to what was signed. */
const thinkingSchema = z.looseObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string().min(1),
});
const redactedSchema = z.looseObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) });
const textPlaceSchema = z.object({ type: z.literal("anthropic.text"), chars: z.number() });
const callPlaceSchema = z.object({ type: z.literal("anthropic.tool_use") });

/** One place in the content of an answer; `chars` counts UTF-16 units of its text. */
export type Place =
  | { readonly kind: "thinking"; readonly block: ThinkingBlockParam | RedactedThinkingBlockParam }
  | { readonly kind: "text"; readonly chars: number }
  | { readonly kind: "call" };

/** What a finished answer hands to the history: its signed blocks, with place-holders where these are needed. */
export function detailsOfPlaces(places: readonly Place[]): readonly unknown[] {
  const lastThinking = places.findLastIndex(({ kind }) => kind === "thinking");
  const isInterleaved = places.slice(0, lastThinking + 1).some(({ kind }) => kind !== "thinking");
  return places.filter(({ kind }) => isInterleaved || kind === "thinking").map(detailOf);
}

/** Where everything of an answer goes in its content: as it was, or thinking first when the history no longer fits. */
export function placesOfDetails(
  details: readonly unknown[],
  { chars, calls }: { readonly chars: number; readonly calls: number },
): readonly Place[] {
  const places = details.flatMap(placeOf);
  const placedChars = places.reduce((sum, place) => sum + (place.kind === "text" ? place.chars : 0), 0);
  const placedCalls = places.filter(({ kind }) => kind === "call").length;
  const areAllPlaced = placedChars === chars && placedCalls === calls;
  if (areAllPlaced && placedChars + placedCalls > 0) return places;
  return [
    ...places.filter(({ kind }) => kind === "thinking"),
    { kind: "text", chars },
    ...Array.from({ length: calls }, (): Place => ({ kind: "call" })),
  ];
}

function detailOf(place: Place): unknown {
  switch (place.kind) {
    case "thinking":
      return place.block;
    case "text":
      return { type: "anthropic.text", chars: place.chars };
    case "call":
      return { type: "anthropic.tool_use" };
  }
}

/** None for the details of other APIs, and for blocks without a signature. */
function placeOf(detail: unknown): readonly Place[] {
  // The detail itself goes back, not a parsed copy: not a byte may change.
  if (isSigned(detail)) return [{ kind: "thinking", block: detail }];
  const text = textPlaceSchema.safeParse(detail).data;
  if (text !== undefined) return [{ kind: "text", chars: text.chars }];
  return callPlaceSchema.safeParse(detail).success ? [{ kind: "call" }] : [];
}

function isSigned(detail: unknown): detail is ThinkingBlockParam | RedactedThinkingBlockParam {
  return thinkingSchema.safeParse(detail).success || redactedSchema.safeParse(detail).success;
}
