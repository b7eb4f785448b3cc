/**
 * Reasoning in chat completions. A message stores it once, as text. Its details name the places where the server wrote
 * it, and requests return it there. OpenRouter's `reasoning_details` are opaque parts, which return unchanged but arrive
 * in one piece per token. Pieces of one part are joined; signatures and encrypted parts stay as they are.
 */
import * as z from "zod";
import type { AssistantMessage } from "../../messages/message.ts";

/** Fields of a message that hold its reasoning. */
const FIELDS = ["reasoning", "reasoning_content", "reasoning_text"] as const;
type Field = (typeof FIELDS)[number];

export type ReasoningPlaces = {
  readonly fields: ReadonlySet<Field>;
  /** True for `thinking` parts of the content. */
  readonly hasParts: boolean;
  /** LiteLLM's blocks of Anthropic's thinking, with their signatures. */
  readonly blocks: readonly ThinkingBlock[];
  /** Last `extra_content` of the message. */
  readonly extraContent: unknown;
};

const blockSchema = z.looseObject({
  type: z.string(),
  thinking: z.string().nullish(),
  signature: z.string().nullish(),
});
type ThinkingBlock = z.infer<typeof blockSchema>;
const blocksSchema = z.array(blockSchema);

export const noPlaces: ReasoningPlaces = { fields: new Set(), hasParts: false, blocks: [], extraContent: undefined };

/** Detail of a message whose calls were text. */
export const WRITTEN_CALLS = { type: "chat.written_calls" } as const;

/** Marks around thoughts that the model wrote into its text. `open` is empty when the prompt held it. */
export type WrittenMarks = { readonly open: string; readonly close: string };

const fieldDetail = z.object({ type: z.literal("chat.reasoning"), field: z.enum(FIELDS) });
const partDetail = z.object({ type: z.literal("chat.thinking_part") });
const writtenDetail = z.object({ type: z.literal("chat.written_thought"), open: z.string(), close: z.string() });
const blocksDetail = z.object({ type: z.literal("chat.thinking_blocks"), blocks: z.array(z.unknown()) });
const extraDetail = z.object({ type: z.literal("chat.extra_content"), value: z.unknown().optional() });
const detailSchema = z.discriminatedUnion("type", [fieldDetail, partDetail, writtenDetail, blocksDetail, extraDetail]);

type PlacedDelta = {
  readonly content?: unknown;
  readonly extra_content?: unknown;
  readonly thinking_blocks?: unknown;
} & {
  readonly [Name in Field]?: unknown;
};

/** An empty string is a place, too: DeepSeek's gateways require the field even then. */
export function addPlaces(places: ReasoningPlaces, delta: PlacedDelta): ReasoningPlaces {
  const added = FIELDS.filter((field) => typeof delta[field] === "string" && !places.fields.has(field));
  const hasParts =
    places.hasParts || (Array.isArray(delta.content) && delta.content.some(({ type }) => type === "thinking"));
  const extraContent = delta.extra_content ?? places.extraContent;
  const pieces = delta.thinking_blocks == null ? undefined : blocksSchema.safeParse(delta.thinking_blocks).data;
  const blocks = pieces === undefined ? places.blocks : joinBlocks(places.blocks, pieces);
  return {
    fields: added.length > 0 ? new Set([...places.fields, ...added]) : places.fields,
    hasParts,
    blocks,
    extraContent,
  };
}

/** Pieces of a block arrive one by one, its signature last. */
function joinBlocks(blocks: readonly ThinkingBlock[], pieces: readonly ThinkingBlock[]): readonly ThinkingBlock[] {
  const joined = [...blocks];
  for (const piece of pieces) {
    const last = joined.at(-1);
    const continues = last?.type === "thinking" && piece.type === "thinking" && !last.signature;
    if (!continues) joined.push(piece);
    else joined[joined.length - 1] = { ...last, ...piece, thinking: (last.thinking ?? "") + (piece.thinking ?? "") };
  }
  return joined;
}

export function detailsOfPlaces({ fields, hasParts, blocks }: ReasoningPlaces): readonly unknown[] {
  return [
    ...(blocks.length > 0 ? [{ type: "chat.thinking_blocks", blocks }] : []),
    ...[...fields].map((field) => ({ type: "chat.reasoning", field })),
    ...(hasParts ? [{ type: "chat.thinking_part" }] : []),
  ];
}

export function fieldsOfPlaces({ extraContent }: ReasoningPlaces): readonly unknown[] {
  return extraContent === undefined ? [] : [{ type: "chat.extra_content", value: extraContent }];
}

/** Detail of thoughts that the model wrote into its text. */
export function writtenThoughtDetail({ open, close }: WrittenMarks): unknown {
  return { type: "chat.written_thought", open, close };
}

/** Marks of the thoughts that the model wrote into this message; undefined when it did not. */
export function writtenMarksOf({ reasoning_details: details = [] }: AssistantMessage): WrittenMarks | undefined {
  return details.map((detail) => writtenDetail.safeParse(detail).data).find((detail) => detail !== undefined);
}

/** Content of a request's message, and its other fields. */
export type PlacedReasoning = { readonly content: unknown; readonly fields: Readonly<Record<string, unknown>> };

/** Returns the reasoning to its places. `content`: the message's content without reasoning. */
export function placeReasoning(message: AssistantMessage, content: string | null): PlacedReasoning {
  const { reasoning = "", reasoning_details: details = [] } = message;
  // Two answers that were merged name the same place twice.
  const given = new Map(details.map((detail) => [JSON.stringify(detail), detailSchema.safeParse(detail).data]));
  let placed: PlacedReasoning = { content, fields: {} };
  for (const detail of given.values()) if (detail !== undefined) placed = place(placed, detail, reasoning);
  return placed;
}

function place(
  { content, fields }: PlacedReasoning,
  detail: z.infer<typeof detailSchema>,
  reasoning: string,
): PlacedReasoning {
  switch (detail.type) {
    case "chat.reasoning":
      return { content, fields: { ...fields, [detail.field]: reasoning } };
    case "chat.thinking_blocks":
      return { content, fields: { ...fields, thinking_blocks: detail.blocks } };
    case "chat.extra_content":
      return { content, fields: { ...fields, extra_content: detail.value } };
    case "chat.thinking_part": {
      if (reasoning === "" || Array.isArray(content)) return { content, fields };
      const thinking = { type: "thinking", thinking: [{ type: "text", text: reasoning }] };
      return { content: [thinking, ...(content ? [{ type: "text", text: content }] : [])], fields };
    }
    case "chat.written_thought": {
      if (typeof content === "object" && content !== null) return { content, fields };
      const { open, close } = detail;
      return { content: `${open}${reasoning}${close}${content ? `\n\n${content}` : ""}`, fields };
    }
  }
}

const text = z.string().nullish();

/** The fields that are read; all others are kept. */
const pieceSchema = z.looseObject({
  type: z.string().startsWith("reasoning."),
  index: z.number().nullish(),
  text,
  summary: text,
  signature: text,
});

type Piece = z.infer<typeof pieceSchema>;

/** Adds pieces to the parts. Pieces of other kinds are kept unchanged. */
export function joinReasoningDetails(parts: readonly unknown[], pieces: readonly unknown[]): readonly unknown[] {
  const joined = [...parts];
  for (const piece of pieces) {
    const next = pieceSchema.safeParse(piece).data;
    const last = pieceSchema.safeParse(joined.at(-1)).data;
    if (next !== undefined && last !== undefined && continues(last, next)) joined[joined.length - 1] = join(last, next);
    else joined.push(piece);
  }
  return joined;
}

export function readableReasoning(pieces: readonly unknown[]): string {
  return pieces
    .map((piece) => pieceSchema.safeParse(piece).data)
    .map((detail) => detail?.text ?? detail?.summary ?? "")
    .join("");
}

/** True for parts of this API, false for those of other wires. */
export function isReasoningDetail(part: unknown): boolean {
  return pieceSchema.safeParse(part).success;
}

function continues(last: Piece, next: Piece): boolean {
  const isReadable = next.type === "reasoning.text" || next.type === "reasoning.summary";
  return isReadable && last.type === next.type && (last.index ?? 0) === (next.index ?? 0);
}

function join(last: Piece, next: Piece): Piece {
  const given = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== null && value !== undefined));
  return {
    ...last,
    ...given,
    ...((last.text ?? next.text) != null && { text: (last.text ?? "") + (next.text ?? "") }),
    ...((last.summary ?? next.summary) != null && { summary: (last.summary ?? "") + (next.summary ?? "") }),
  };
}
