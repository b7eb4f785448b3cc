/** What stands for messages when no model sums them up: what was asked, touched, run and said last. */
import type { Message } from "../messages/message.ts";
import type { TranscriptEntry } from "../sessions/conversation.ts";

/** Of one thing asked, done or said. */
const LINE_CHARS = 200;
/** What stood for earlier messages may take so much of it, and so much of that is its beginning. */
const EARLIER_SHARE = 0.5;
const BEGINNING_SHARE = 0.6;
/** Of what is left, the user's words come first, then what was done; the agent's words have the rest. */
const ASKED_SHARE = 0.5;
const DONE_SHARE = 0.6;

/** `earlier`: the summary that stood for what was before. Never longer than `maxChars`. */
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

/** Its newest lines, as many as there is room for; empty when there is none. */
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

/** The beginning says what it is all about, the end how far it has come. */
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
