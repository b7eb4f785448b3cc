/** Digest of dropped messages, made without a model: requests, calls and answers in one line each. */
import type { Message } from "../messages/message.ts";
import type { TranscriptEntry } from "../sessions/conversation.ts";

/** Limit of one line. Characters. */
const LINE_CHARS = 200;
/** Part of the digest for the earlier summary, and part of that for its beginning. */
const EARLIER_SHARE = 0.5;
const BEGINNING_SHARE = 0.6;
/** Parts of the rest: requests, then calls; the answers get what remains. */
const ASKED_SHARE = 0.5;
const DONE_SHARE = 0.6;

/** Digest of at most `maxChars`. `earlier` is the summary of still earlier messages. */
export function digest(messages: readonly TranscriptEntry[], earlier: string | null, maxChars: number): string {
  const results = new Map(
    messages.flatMap(({ message }) => (message.role === "tool" ? [[message.tool_call_id, message.content]] : [])),
  );
  const lines = messages.map(({ message }) => linesOf(message, results));
  const before = cutMiddle(earlier ?? "", Math.floor(maxChars * EARLIER_SHARE));
  let left = maxChars - before.length;
  const asked = section(
    "The user asked",
    lines.flatMap((line) => line.asked),
    left * ASKED_SHARE,
  );
  left -= asked.length;
  const done = section(
    "Done",
    lines.flatMap((line) => line.done),
    left * DONE_SHARE,
  );
  left -= done.length;
  const said = section(
    "Said",
    lines.flatMap((line) => line.said),
    left,
  );
  return `${before}${asked}${done}${said}`.trim();
}

type Lines = { readonly asked: readonly string[]; readonly done: readonly string[]; readonly said: readonly string[] };

function linesOf(message: Message, results: ReadonlyMap<string | undefined, string | undefined>): Lines {
  if (message.role === "user" && !message.synthetic) return { asked: [line(textOf(message))], done: [], said: [] };
  if (message.role !== "assistant") return { asked: [], done: [], said: [] };
  const done = (message.tool_calls ?? []).map(
    ({ id, function: call }) => `${call.name} ${line(call.arguments)} → ${line(results.get(id) ?? "no result")}`,
  );
  return { asked: [], done, said: message.content ? [line(message.content)] : [] };
}

/** Heading with the newest lines that fit; empty when none fits. */
function section(name: string, lines: readonly string[], maxChars: number): string {
  const heading = `\n\n${name}:`;
  let room = maxChars - heading.length - "\n- (0000 earlier ones)".length;
  const kept: string[] = [];
  for (const entry of lines.toReversed().map((text) => `\n- ${text}`)) {
    if (entry.length > room) break;
    room -= entry.length;
    kept.unshift(entry);
  }
  if (kept.length === 0) return "";
  const left = lines.length - kept.length;
  return [heading, ...(left > 0 ? [`\n- (${left} earlier ones)`] : []), ...kept].join("");
}

/** Keeps the beginning, which has the goal, and the end, which has the state. */
function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const gap = "\n[…]\n";
  const head = Math.floor((maxChars - gap.length) * BEGINNING_SHARE);
  const tail = maxChars - gap.length - head;
  return `${text.slice(0, head).toWellFormed()}${gap}${text.slice(-tail).toWellFormed()}`;
}

function textOf({ content }: Extract<Message, { role: "user" }>): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "[image]")).join(" ");
}

function line(text: string): string {
  const one = text.replaceAll(/\s+/g, " ").trim();
  return one.length <= LINE_CHARS ? one : `${one.slice(0, LINE_CHARS).toWellFormed()}…`;
}
