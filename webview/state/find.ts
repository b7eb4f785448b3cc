/** Search within the conversation: over the state, because most rows are not in the page. */
import type { ToolCallContent } from "@zed-industries/agent-client-protocol";
import { CONTROL_CHARACTERS, ESCAPE_SEQUENCES } from "../../agent-core/platform/ansi.ts";
import { fieldsOf, ourMeta } from "./agent-meta.ts";
import { contentText } from "./content-text.ts";
import { partsOf } from "./nested-calls.ts";
import type { Entry, PanelState, TerminalState, ToolEntry } from "./state.ts";
import { type StreamedText, wholeText } from "./streamed-text.ts";

/** A hit. `nth`: its index among the hits of the entry. */
export type Hit = { readonly key: string; readonly nth: number };

export type Found = {
  /** Entries with hits, in order. `before`: number of hits in the entries before. */
  readonly entries: readonly { readonly key: string; readonly before: number; readonly count: number }[];
  readonly total: number;
};

type Texts = Pick<PanelState, "terminals" | "nestedCalls">;
type Searched = Texts & Pick<PanelState, "entries" | "open">;

export const NOTHING_FOUND: Found = { entries: [], total: 0 };

/** Finds `query` in messages, thoughts, tool calls, and the calls and tasks inside them. Case and the kind of white space do not matter. */
export function findIn(state: Searched, query: string): Found {
  const { entries, open } = state;
  const wanted = comparable(query);
  if (wanted === "") return NOTHING_FOUND;
  const found: Found["entries"][number][] = [];
  let total = 0;
  for (const entry of open === undefined ? entries : [...entries, open]) {
    const count = textsOf(entry, state).reduce((sum, text) => sum + placesOf(text, wanted).length, 0);
    if (count > 0) found.push({ key: entry.key, before: total, count });
    total += count;
  }
  return { entries: found, total };
}

/** Reads the texts of `count` entries from `from` on, so that the first search does not wait for all. False at the end. */
export function prepareTexts(state: Searched, from: number, count: number): boolean {
  const { entries } = state;
  for (const entry of entries.slice(from, from + count)) textsOf(entry, state);
  return from + count < entries.length;
}

/** Number of a hit, from 1. Undefined when the hit is no longer there. */
export function numberOf({ entries }: Found, hit: Hit | undefined): number | undefined {
  const entry = entries.find(({ key }) => key === hit?.key);
  return entry === undefined || hit === undefined || hit.nth >= entry.count ? undefined : entry.before + hit.nth + 1;
}

/** The hit with this number. Numbers beyond the last hit continue with the first, and the other way round. */
export function hitAt({ entries, total }: Found, number: number): Hit | undefined {
  const index = total === 0 ? 0 : (((number - 1) % total) + total) % total;
  const entry = entries.findLast(({ before }) => before <= index);
  return entry && { key: entry.key, nth: index - entry.before };
}

/** The first hit in `from` or after it, else the last one. `order`: keys of all entries. */
export function hitNear(found: Found, order: readonly string[], from: string | undefined): Hit | undefined {
  const places = new Map(order.map((key, index) => [key, index]));
  const start = from === undefined ? 0 : (places.get(from) ?? 0);
  const next = found.entries.find(({ key }) => (places.get(key) ?? 0) >= start);
  return next === undefined ? hitAt(found, found.total) : { key: next.key, nth: 0 };
}

/** Text in the form that is compared. It has the length of `text`, so that its positions are those of `text`. */
export function comparable(text: string): string {
  const plain = text.replaceAll(/\s/g, " ");
  const lower = plain.toLowerCase();
  if (lower.length === plain.length) return lower;
  // The lower case of a few letters is longer: they stay.
  return plain.replaceAll(/./gsu, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  );
}

/** Start of each occurrence of `wanted`; both are `comparable`. Occurrences do not overlap. */
export function placesOf(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

/** Comparable texts, by the entry or the output of a terminal that they come from. */
const known = new WeakMap<Entry | StreamedText, string>();

function remember(source: Entry | StreamedText, read: () => string): string {
  const text = known.get(source) ?? comparable(read());
  known.set(source, text);
  return text;
}

/** Separates the parts of a text: no hit reaches across. */
const PART = "\0";

function textsOf(entry: Entry, state: Texts): readonly string[] {
  const own = remember(entry, () => ownText(entry));
  if (entry.type !== "tool") return [own];
  const outputs = entry.content.flatMap((part) =>
    part.type === "terminal" ? (state.terminals.get(part.terminalId) ?? []) : [],
  );
  const goals = (entry.tasks ?? []).map(({ goal }) => comparable(goal));
  return [own, ...outputs.map(outputOf), ...goals, ...callsIn(entry, state).flatMap((call) => textsOf(call, state))];
}

/** Calls of a script, or of all tasks. */
function callsIn({ id, tasks = [] }: ToolEntry, { nestedCalls }: Texts): readonly ToolEntry[] {
  const groups = [undefined, ...tasks.map((task) => task.id)];
  return groups.flatMap((taskId) => partsOf(nestedCalls, { callId: id, taskId }));
}

/** Ids of the calls and tasks inside an entry that have a hit, which are folded at first. */
export function placesInside(state: Searched, key: string, query: string): ReadonlySet<string> {
  const wanted = comparable(query);
  const hasHit = (call: ToolEntry): boolean => textsOf(call, state).some((text) => text.includes(wanted));
  const placesIn = (call: ToolEntry): readonly string[] => {
    const calls = callsIn(call, state).filter(hasHit);
    const tasks = calls.flatMap(({ id }) => state.nestedCalls.parents.get(id)?.taskId ?? []);
    return [...calls.map(({ id }) => id), ...tasks, ...calls.flatMap(placesIn)];
  };
  const entry = state.entries.find((one) => one.key === key);
  return new Set(entry?.type === "tool" ? placesIn(entry) : []);
}

function ownText(entry: Entry): string {
  switch (entry.type) {
    case "user":
      return wholeText(entry.text);
    case "answer":
    case "thought":
      return shownText(wholeText(entry.text));
    case "tool":
      // The card of a delegation shows its tasks instead of its content.
      return [entry.title, scriptOf(entry), ...(entry.tasks === undefined ? entry.content.map(partText) : [])].join(
        PART,
      );
    case "summary":
    case "group":
      return "";
    default:
      return entry.text;
  }
}

function scriptOf({ name, rawInput }: ToolEntry): string {
  const { code } = fieldsOf(rawInput);
  return name === "execute_code" && typeof code === "string" ? code : "";
}

function partText(part: ToolCallContent): string {
  switch (part.type) {
    case "terminal":
      return "";
    case "diff":
      return [
        ...linesWithout(part.oldText ?? "", part.newText),
        ...linesWithout(part.newText, part.oldText ?? ""),
      ].join(PART);
    case "content":
      if (part.content.type === "image" || ourMeta(part._meta).hookText) return "";
      return shownText(contentText(part.content));
  }
}

/** The lines of `text` that are not in `other`. */
function linesWithout(text: string, other: string): readonly string[] {
  const lines = new Set(other.split("\n"));
  return text.split("\n").filter((line) => !lines.has(line));
}

/** Length of the searched end of a command's output: a card shows no more. Characters. */
const OUTPUT_CHARS = 8_000;

function outputOf({ text }: TerminalState): string {
  return remember(text, () =>
    wholeText(text).slice(-OUTPUT_CHARS).replaceAll(ESCAPE_SEQUENCES, "").replaceAll(CONTROL_CHARACTERS, ""),
  );
}

/** A fence with its code, code in a line, a link, and the marks of emphasis and headings. */
const MARKS =
  /^[ \t]*(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n([\s\S]*?)(?:^[ \t]*\1[^\n]*|$(?![\s\S]))|`([^`\n]+)`|!?\[([^[\]\n]+)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\*\*|~~|^#{1,6} +|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])/gm;

/** Markdown as text without its marks, nearly as the page shows it: a parser would take seconds for a long conversation. */
function shownText(markdown: string): string {
  return markdown.replaceAll(MARKS, "$2$3$4");
}
