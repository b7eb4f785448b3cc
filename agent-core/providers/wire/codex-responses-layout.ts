/**
 * What a message keeps of the response it came from, as its `reasoning_details`: the reasoning items as they came, and
 * where between the texts and calls they stood. The API takes reasoning back only right before the item it led to.
 */
import * as z from "zod";
import type { AssistantMessage, ToolCall } from "../../messages/message.ts";
import { SECTION_BREAK } from "./text-sections.ts";

/** Sealed: a server that stores nothing can only read what it gave in full. */
const reasoningSchema = z.looseObject({
  type: z.literal("reasoning"),
  id: z.string(),
  summary: z.array(z.looseObject({ type: z.literal("summary_text"), text: z.string() })),
  encrypted_content: z.string().min(1),
});

const placeSchema = z.discriminatedUnion("type", [
  reasoningSchema,
  z.object({
    type: z.literal("message"),
    id: z.string().exactOptional(),
    phase: z.enum(["commentary", "final_answer"]).exactOptional(),
    /** Its part of the message's content, in UTF-16 units. */
    chars: z.number().int().nonnegative(),
  }),
  z.object({
    type: z.literal("function_call"),
    id: z.string().exactOptional(),
    /** The call's id in the message. */
    call_id: z.string(),
  }),
]);

/** One item of the response. */
export type Place = z.infer<typeof placeSchema>;
export type SealedReasoning = z.infer<typeof reasoningSchema>;
export type Phase = Extract<Place, { type: "message" }>["phase"];

/** One item of the way back. */
export type LaidOut =
  | { readonly type: "reasoning"; readonly item: SealedReasoning }
  | { readonly type: "text"; readonly text: string; readonly id: string | undefined; readonly phase: Phase }
  | { readonly type: "call"; readonly call: ToolCall; readonly id: string | undefined };

const ownTypes: ReadonlySet<unknown> = new Set(placeSchema.options.map(({ shape }) => shape.type.value));
const typedSchema = z.object({ type: z.string() });

/** Undefined when there is nothing worth to be kept, or when a reasoning item cannot go back. */
export function layoutOf(items: readonly unknown[]): readonly Place[] | undefined {
  const places = z.array(placeSchema).safeParse(items).data;
  const matters = places?.some((place) => place.type === "reasoning" || (place.type === "message" && place.phase));
  return matters ? places : undefined;
}

/**
 * The message's items in the response's order. Undefined when it has no layout, or does not agree with it any more:
 * then the reasoning would stand at a wrong place, which the API refuses.
 */
export function layOut(message: AssistantMessage): readonly LaidOut[] | undefined {
  const details = message.reasoning_details?.filter((part) => ownTypes.has(typedSchema.safeParse(part).data?.type));
  const places = layoutOf(details ?? []);
  if (places === undefined) return undefined;
  const rest: Rest = { content: message.content ?? "", at: 0, calls: [...(message.tool_calls ?? [])] };
  const laidOut: LaidOut[] = [];
  let led: LaidOut[] = [];
  for (const place of places) {
    if (place.type === "reasoning") {
      led.push({ type: "reasoning", item: place });
      continue;
    }
    const item = place.type === "message" ? takeText(rest, place) : takeCall(rest, place);
    if (item === "other") return undefined;
    if (item !== "empty") laidOut.push(...led, item);
    led = [];
  }
  return rest.at === rest.content.length && rest.calls.length === 0 ? laidOut : undefined;
}

/** Lives inside one function call only. */
type Rest = { readonly content: string; at: number; readonly calls: ToolCall[] };

function takeText(rest: Rest, { id, phase, chars }: Extract<Place, { type: "message" }>): LaidOut | "empty" | "other" {
  if (chars === 0) return "empty";
  if (rest.at > 0) {
    if (!rest.content.startsWith(SECTION_BREAK, rest.at)) return "other";
    rest.at += SECTION_BREAK.length;
  }
  const text = rest.content.slice(rest.at, rest.at + chars);
  if (text.length < chars) return "other";
  rest.at += chars;
  return { type: "text", text, id, phase };
}

function takeCall(rest: Rest, place: Extract<Place, { type: "function_call" }>): LaidOut | "other" {
  const call = rest.calls.shift();
  return call?.id === place.call_id ? { type: "call", call, id: place.id } : "other";
}
