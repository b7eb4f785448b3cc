/** What stands for messages when no model sums them up: what was asked, touched, run and said last. */
import type { Message } from "../messages/message.ts";
import type { Said } from "../sessions/conversation.ts";

/** Of each kind so many lines stay, the newest. */
const LINES = 30;
const LINE_CHARS = 200;

/** `earlier`: the summary that stood for what was before. Never longer than `maxChars`. */
export function digest(messages: readonly Said[], earlier: string | null, maxChars: number): string {
  const results = new Map(
    messages.flatMap(({ message }) => (message.role === "tool" ? [[message.tool_call_id, message.content]] : [])),
  );
  const lines = messages.map(({ message }) => linesOf(message, results));
  const parts = [
    earlier ?? "",
    section(
      "The user asked",
      lines.flatMap(({ asked }) => asked),
    ),
    section(
      "Done",
      lines.flatMap(({ done }) => done),
    ),
    section(
      "Said",
      lines.flatMap(({ said }) => said),
    ),
  ];
  const text = parts.filter((part) => part !== "").join("\n\n");
  return text.length <= maxChars ? text : `[…]\n${text.slice(-maxChars).toWellFormed()}`;
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

function section(name: string, lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const left = lines.length - LINES;
  const more = left > 0 ? [`- (${left} earlier ones)`] : [];
  return [`${name}:`, ...more, ...lines.slice(-LINES).map((entry) => `- ${entry}`)].join("\n");
}

function textOf({ content }: Extract<Message, { role: "user" }>): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "[image]")).join(" ");
}

function line(text: string): string {
  const one = text.replaceAll(/\s+/g, " ").trim();
  return one.length <= LINE_CHARS ? one : `${one.slice(0, LINE_CHARS).toWellFormed()}…`;
}
