/** Plans a compression: which messages to drop and which results to shorten. Pure; a call never loses its result. */
import * as z from "zod";
import { sectionDefault } from "../config/section-defaults.ts";
import { withContent } from "../messages/message.ts";
import { bothEnds } from "../platform/one-line.ts";
import type { Compression, PositionRange, TranscriptEntry } from "../sessions/conversation.ts";
import { isUsers, type Strategy, type Unit, unitsOf } from "./strategies.ts";
import { CHARS_PER_TOKEN, messageTokens } from "./token-meter.ts";

/** Part of the target for the newest messages; fewer of them stay if they are longer. */
const TAIL_SHARE = 0.6;
/** Part of the target for the first exchange, which stays if it is not longer. */
const HEAD_SHARE = 0.2;
/** Limits of a summary in tokens, and as a share of the dropped messages. */
const SUMMARY_TOKENS = { min: 300, max: 3_000, share: 0.2 } as const;
/** Limits of a result that is too long for the window. Characters. */
const CUT_CHARS = { max: 8_000, min: 600 } as const;
/** Length of the note about a cut. Characters. */
const CUT_NOTE_CHARS = 100;
/** Results of at most this length are not shortened. Characters. */
const LONG_OUTPUT_CHARS = 800;
/** Beginning of a shortened result that stays. Characters. */
const KEPT_CHARS = 200;
const REPEATED = "[The same output came again later; left out here to make room.]";

/** Text that replaces a tool result for the model. */
const shortenedResult = z.object({ position: z.number(), content: z.string() });
export type Shortened = z.infer<typeof shortenedResult>;

export type CompressionRequest = {
  /** CompressedTranscript without messages that were undone. */
  readonly transcript: readonly TranscriptEntry[];
  readonly compression: Compression | undefined;
  /** Estimated tokens of the conversation afterwards. */
  readonly target: number;
  /** Tokens below which shortening results is enough, so that no message is dropped. */
  readonly enough: number;
  /** Tokens above which the newest results are cut, which the model has not read yet. Default: the target. */
  readonly room?: number;
  readonly strategy: Strategy;
  /** Newest messages that stay; fewer if they are long. Default 20. */
  readonly protectedMessages?: number;
  /** Subject that the user wants to keep above all. The built-in plans leave it to the summary. */
  readonly focus?: string | undefined;
};

export type CompressionPlan = {
  /** All messages that the model no longer gets, also those of earlier compressions. */
  readonly dropped: readonly PositionRange[];
  readonly shortened: readonly Shortened[];
  /** Messages that are dropped now, in order. */
  readonly fresh: readonly TranscriptEntry[];
  /** Limit of their summary in tokens; 0 when there is nothing to sum up. */
  readonly summaryTokens: number;
  /** Summary of all dropped messages. Default: the agent makes one. */
  readonly summary?: string | undefined;
};

/** Choice of an engine that knows positions only. */
export const compressionChoice = z.object({
  drop: z.array(z.number()).default([]),
  replace: z.array(shortenedResult).default([]),
  summary: z.string().optional(),
});
export type CompressionChoice = z.infer<typeof compressionChoice>;

type CompressedTranscript = Pick<CompressionRequest, "transcript" | "compression">;

/** Messages that the model gets at the moment, with the texts that it gets. */
export function keptMessages({ transcript, compression }: CompressedTranscript): readonly TranscriptEntry[] {
  const isDropped = inRanges(compression?.dropped ?? []);
  const kept = transcript.filter(({ isCutOff, position }) => !isCutOff && !isDropped(position));
  return withShorter(kept, compression?.shortened ?? []);
}

/**
 * Plan for a choice. Drops a call and its results together, and never the user's last request. Undefined when nothing
 * remains to do.
 */
export function planChoice(state: CompressedTranscript, choice: CompressionChoice): CompressionPlan | undefined {
  const { transcript, compression } = state;
  const chosen = new Set(choice.drop);
  const units = unitsOf(keptMessages(state));
  const request = units.findLastIndex(isUsers);
  const going = units.filter((unit, at) => at !== request && unit.items.some(({ position }) => chosen.has(position)));
  const gone = new Set(going.flatMap(({ items }) => items.map(({ position }) => position)));
  const fresh = transcript.filter(({ position }) => gone.has(position));
  if (fresh.length === 0 && choice.replace.length === 0) return undefined;
  const isDropped = inRanges(compression?.dropped ?? []);
  return {
    dropped: rangesOf(
      transcript.filter(({ position }) => isDropped(position) || gone.has(position)),
      transcript.filter(({ isCutOff }) => !isCutOff),
    ),
    shortened: replaced(compression?.shortened ?? [], choice.replace).filter(({ position }) => !gone.has(position)),
    fresh,
    summaryTokens: fresh.length === 0 ? 0 : summaryBudget(fresh),
    summary: choice.summary,
  };
}

/** Undefined when nothing can be dropped or shortened. */
export function planCompression(room: CompressionRequest): CompressionPlan | undefined {
  const {
    compression,
    target,
    enough,
    strategy,
    protectedMessages = sectionDefault("compression").protectLastN,
  } = room;
  const limit = Math.max(target, room.room ?? target);
  const transcript = room.transcript.filter(({ isCutOff }) => !isCutOff);
  const isDropped = inRanges(compression?.dropped ?? []);
  const kept = transcript.filter(({ position }) => !isDropped(position));
  const units = unitsOf(withShorter(kept, compression?.shortened ?? []));
  const { middle, tail } = parts(units, target, protectedMessages);
  const pruned = shortenOutputs(middle.flatMap(({ items }) => items));
  const lighter = unitsOf(
    withShorter(
      units.flatMap(({ items }) => items),
      pruned,
    ),
  );
  const total = sum(lighter);
  const shortened = [...(compression?.shortened ?? []), ...pruned];
  const isEnough = pruned.length > 0 && total <= enough;
  const mayGo = new Set(middle.map(({ items }) => items[0]?.position));
  const candidates = lighter.filter(({ items }) => mayGo.has(items[0]?.position));
  const going = isEnough ? [] : strategy.choose(candidates, total - target);
  const gone = new Set(going.flatMap(({ items }) => items.map(({ position }) => position)));
  const fresh = kept.filter(({ position }) => gone.has(position));
  const excess = total - sum(going) - limit;
  const cuts = excess > 0 ? cutTail(tail, kept, excess) : [];
  if (fresh.length === 0 && pruned.length === 0 && cuts.length === 0) return undefined;
  return {
    dropped: rangesOf(
      transcript.filter(({ position }) => isDropped(position) || gone.has(position)),
      transcript,
    ),
    shortened: replaced(shortened, cuts).filter(({ position }) => !gone.has(position)),
    fresh,
    summaryTokens: fresh.length === 0 ? 0 : summaryBudget(fresh),
  };
}

type Parts = { readonly middle: readonly Unit[]; readonly tail: readonly Unit[] };

/** The first exchange, the newest messages and the user's last request stay; the units between them can be dropped. */
function parts(units: readonly Unit[], target: number, protectedMessages: number): Parts {
  const head = headCount(units, target);
  let tail = units.length;
  let messages = 0;
  let tokens = 0;
  while (tail > head) {
    const unit = units[tail - 1];
    if (unit === undefined) break;
    messages += unit.items.length;
    tokens += unit.tokens;
    const isLast = tail === units.length;
    if (!isLast && (messages > protectedMessages || tokens > target * TAIL_SHARE)) break;
    tail--;
  }
  const request = units.findLastIndex(isUsers);
  const middle = units.slice(head, tail).filter((unit) => unit !== units[request]);
  return { middle, tail: units.slice(tail) };
}

function headCount(units: readonly Unit[], target: number): number {
  let count = 0;
  let tokens = 0;
  for (const unit of units.slice(0, 2)) {
    tokens += unit.tokens;
    if (tokens > target * HEAD_SHARE) break;
    count++;
  }
  return count;
}

/** Cuts long results among the newest messages to their beginnings and ends. */
function cutTail(tail: readonly Unit[], kept: readonly TranscriptEntry[], excess: number): readonly Shortened[] {
  const long = tail
    .flatMap(({ items }) => items)
    .filter(({ message }) => message.role === "tool" && message.content.length > CUT_CHARS.min + CUT_NOTE_CHARS);
  const chars = cutLength(
    long.map(({ message }) => (message.content ?? "").length),
    excess,
  );
  return long.flatMap(({ position, message }) => {
    if ((message.content ?? "").length <= chars + CUT_NOTE_CHARS) return [];
    const whole = kept.find((entry) => entry.position === position)?.message ?? message;
    if (whole.role !== "tool") return [];
    const gap = `\n[… ${whole.content.length - chars} characters left out to make room …]\n`;
    return [{ position, content: bothEnds(whole.content, chars, gap) }];
  });
}

/** Length to which all results are cut to save `excess` tokens. */
function cutLength(lengths: readonly number[], excess: number): number {
  const needed = excess * CHARS_PER_TOKEN;
  let chars: number = CUT_CHARS.max;
  const saved = (): number => lengths.reduce((total, length) => total + Math.max(0, length - chars), 0);
  while (chars > CUT_CHARS.min && saved() < needed) chars = Math.max(CUT_CHARS.min, Math.floor(chars / 2));
  return chars;
}

/** A result that is cut again keeps only its new text. */
function replaced(before: readonly Shortened[], now: readonly Shortened[]): readonly Shortened[] {
  const positions = new Set(now.map(({ position }) => position));
  return [...before.filter(({ position }) => !positions.has(position)), ...now];
}

function withShorter(items: readonly TranscriptEntry[], shortened: readonly Shortened[]): readonly TranscriptEntry[] {
  const contents = new Map(shortened.map(({ position, content }) => [position, content]));
  return items.map((item) => {
    const { position, role, shownAs, isCutOff, message } = item;
    const content = contents.get(position);
    return content === undefined ? item : { position, role, shownAs, isCutOff, message: withContent(message, content) };
  });
}

/** Ranges of dropped messages; a position without a message belongs to the range around it. */
function rangesOf(going: readonly TranscriptEntry[], transcript: readonly TranscriptEntry[]): readonly PositionRange[] {
  const positions = new Set(going.map(({ position }) => position));
  const ranges: [number, number][] = [];
  let isOpen = false;
  for (const { position } of transcript) {
    const last = ranges.at(-1);
    if (!positions.has(position)) isOpen = false;
    else if (isOpen && last !== undefined) last[1] = position;
    else {
      ranges.push([position, position]);
      isOpen = true;
    }
  }
  return ranges;
}

function inRanges(ranges: readonly PositionRange[]): (position: number) => boolean {
  return (position) => ranges.some(([first, last]) => first <= position && position <= last);
}

function summaryBudget(fresh: readonly TranscriptEntry[]): number {
  const tokens = fresh.reduce((total, { message }) => total + messageTokens(message), 0);
  const { min, max, share } = SUMMARY_TOKENS;
  return Math.min(max, Math.max(min, Math.round(tokens * share)));
}

function sum(units: readonly Unit[]): number {
  return units.reduce((total, { tokens }) => total + tokens, 0);
}

const WITHOUT_IMAGES = "[its images were left out to make room; get them again if they are needed]";

/** Short versions of long results, without their images; of equal results only the newest keeps its beginning. */
function shortenOutputs(items: readonly TranscriptEntry[]): readonly Shortened[] {
  const seen = new Set<string>();
  return items
    .toReversed()
    .flatMap(({ position, message }): Shortened[] => {
      if (message.role !== "tool") return [];
      if (message.content.length <= LONG_OUTPUT_CHARS) {
        return message.images === undefined ? [] : [{ position, content: `${message.content}\n${WITHOUT_IMAGES}` }];
      }
      const isRepeated = seen.has(message.content);
      seen.add(message.content);
      return [{ position, content: isRepeated ? REPEATED : shortenOutput(message.content) }];
    })
    .toReversed();
}

/** Beginning of an output, with a note about the rest. */
function shortenOutput(content: string): string {
  const kept = content.slice(0, KEPT_CHARS).toWellFormed();
  const lines = content.split("\n").length;
  return `${kept}\n[… of ${lines} lines the rest was left out to make room; get it again if it is needed]`;
}
