/** Works out what a conversation can do without: pure, and never splitting a call from its result. */
import type { Compression, PositionRange, TranscriptEntry } from "../sessions/conversation.ts";
import { type Shortened, shortenOutputs } from "./shorten-outputs.ts";
import type { Strategy } from "./strategies/strategy.ts";
import { CHARS_A_TOKEN, messageTokens } from "./token-estimate.ts";
import { isUsers, type Unit, unitsOf } from "./units.ts";

/** The newest messages stay; behaviour.md §Context (`protect_last_n`). */
const PROTECTED_MESSAGES = 20;
/** They may take so much of the target; fewer of them stay otherwise. */
const TAIL_SHARE = 0.6;
/** The first exchange stays unless it alone takes more than this share of the target. */
const HEAD_SHARE = 0.2;
/** A summary has so many tokens at most, and so large a share of what it stands for. */
const SUMMARY_TOKENS = { least: 300, most: 3_000, share: 0.2 } as const;
/** What is left of a result that is too long for the window, at most and at least. Characters. */
const CUT_CHARS = { most: 8_000, least: 600 } as const;
/** What says that something was cut. Characters. */
const CUT_NOTE_CHARS = 100;

export type Room = {
  /** All that was said and not taken back. */
  readonly said: readonly TranscriptEntry[];
  readonly compression: Compression | undefined;
  /** Tokens, as estimated, that the conversation may have afterwards. */
  readonly target: number;
  /** Tokens below which shorter outputs are enough, so that nothing need go. */
  readonly enough: number;
  readonly strategy: Strategy;
};

export type CompressionPlan = {
  /** Everything that the model no longer gets, what an earlier compression dropped included. */
  readonly dropped: readonly PositionRange[];
  readonly shortened: readonly Shortened[];
  /** What goes now and was not summed up before, in order. */
  readonly fresh: readonly TranscriptEntry[];
  /** Tokens that a summary of that may have; 0: none is needed. */
  readonly summaryTokens: number;
};

/** Undefined when nothing can go. */
export function planCompression(room: Room): CompressionPlan | undefined {
  const { compression, target, enough, strategy } = room;
  const said = room.said.filter(({ isUnfinished }) => !isUnfinished);
  const isDropped = inRanges(compression?.dropped ?? []);
  const kept = said.filter(({ position }) => !isDropped(position));
  const units = unitsOf(withShorter(kept, compression?.shortened ?? []));
  const { middle, tail } = parts(units, target);
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
  const fresh = kept.filter(({ position }) =>
    going.some(({ items }) => items.some((item) => item.position === position)),
  );
  const excess = total - sum(going) - target;
  const cuts = excess > 0 ? cutTail(tail, kept, excess) : [];
  if (fresh.length === 0 && pruned.length === 0 && cuts.length === 0) return undefined;
  const gone = new Set(fresh.map(({ position }) => position));
  return {
    dropped: rangesOf(
      said.filter(({ position }) => isDropped(position) || gone.has(position)),
      said,
    ),
    shortened: replaced(shortened, cuts).filter(({ position }) => !gone.has(position)),
    fresh,
    summaryTokens: fresh.length === 0 ? 0 : summaryBudget(fresh),
  };
}

type Parts = { readonly middle: readonly Unit[]; readonly tail: readonly Unit[] };

/** The first exchange, the newest messages and the user's last words stay; what is between them may go. */
function parts(units: readonly Unit[], target: number): Parts {
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
    if (!isLast && (messages > PROTECTED_MESSAGES || tokens > target * TAIL_SHARE)) break;
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

/** Long results, one or many at once, may be longer than all the rest: then their beginnings and their ends stay. */
function cutTail(tail: readonly Unit[], kept: readonly TranscriptEntry[], excess: number): readonly Shortened[] {
  const long = tail
    .flatMap(({ items }) => items)
    .filter(({ message }) => message.role === "tool" && message.content.length > CUT_CHARS.least + CUT_NOTE_CHARS);
  const chars = cutLength(
    long.map(({ message }) => (message.content ?? "").length),
    excess,
  );
  return long.flatMap(({ position, message }) => {
    if ((message.content ?? "").length <= chars + CUT_NOTE_CHARS) return [];
    const whole = kept.find((said) => said.position === position)?.message ?? message;
    return whole.role === "tool" ? [{ position, content: cutTo(whole.content, chars) }] : [];
  });
}

/** The length to which all of them are cut, so that together they are shorter by `excess` tokens. */
function cutLength(lengths: readonly number[], excess: number): number {
  const needed = excess * CHARS_A_TOKEN;
  let chars: number = CUT_CHARS.most;
  const saved = (): number => lengths.reduce((total, length) => total + Math.max(0, length - chars), 0);
  while (chars > CUT_CHARS.least && saved() < needed) chars = Math.max(CUT_CHARS.least, Math.floor(chars / 2));
  return chars;
}

function cutTo(content: string, chars: number): string {
  const half = chars / 2;
  const head = content.slice(0, half).toWellFormed();
  const end = content.slice(-half).toWellFormed();
  return `${head}\n[… ${content.length - chars} characters left out to make room …]\n${end}`;
}

/** A result that is cut again has its new text alone. */
function replaced(before: readonly Shortened[], now: readonly Shortened[]): readonly Shortened[] {
  const positions = new Set(now.map(({ position }) => position));
  return [...before.filter(({ position }) => !positions.has(position)), ...now];
}

function withShorter(items: readonly TranscriptEntry[], shortened: readonly Shortened[]): readonly TranscriptEntry[] {
  const contents = new Map(shortened.map(({ position, content }) => [position, content]));
  return items.map((said) => {
    const { position, role, shownAs, isUnfinished, message } = said;
    const content = contents.get(position);
    return content !== undefined && message.role === "tool"
      ? { position, role, shownAs, isUnfinished, message: { ...message, content } }
      : said;
  });
}

/** Ranges in which every message that is there goes; a position that nothing has belongs to those around it. */
function rangesOf(going: readonly TranscriptEntry[], said: readonly TranscriptEntry[]): readonly PositionRange[] {
  const positions = new Set(going.map(({ position }) => position));
  const ranges: [number, number][] = [];
  let isOpen = false as boolean;
  for (const { position } of said) {
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
  const { least, most, share } = SUMMARY_TOKENS;
  return Math.min(most, Math.max(least, Math.round(tokens * share)));
}

function sum(units: readonly Unit[]): number {
  return units.reduce((total, { tokens }) => total + tokens, 0);
}
