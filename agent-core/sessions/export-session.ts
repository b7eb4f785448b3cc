/** A stored session as a text of its own: Markdown to read, JSON for programs. */
import * as z from "zod";
import type { Message, ToolCall } from "../messages/message.ts";
import { redact } from "../providers/redact.ts";
import { type EntryOf, parseLine } from "./entry.ts";
import { readEntries, type StoredSession } from "./read-journal.ts";
import { answerText } from "./shown-message.ts";

export type ExportFormat = "markdown" | "json";

/** Version of the JSON's shape. */
const JSON_VERSION = 1;
/** Of a name of a file. */
const MAX_NAME_CHARS = 60;

const commandInput = z.object({ command: z.string() });

type ToolEntry = EntryOf<"tool">;

/** What looks like a key is masked, as in messages and logs. Rejects when the journal can no longer be read. */
export async function exportSession(session: StoredSession, format: ExportFormat): Promise<string> {
  return format === "json" ? asJson(session) : redact(asMarkdown(session));
}

/** A name for the file, without a folder. */
export function exportName({ id, title }: Pick<StoredSession, "id" | "title">, format: ExportFormat): string {
  const words = (title ?? "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, MAX_NAME_CHARS);
  return `${words || `session-${id}`}.${format === "json" ? "json" : "md"}`;
}

async function asJson(session: StoredSession): Promise<string> {
  const { id, cwd, title, model, systemPrompt, conversation, todos } = session;
  const entries = await readEntries(session.path, session.unsaved);
  const messages = conversation.said.map(({ position, message }) => ({ position, ...message }));
  const whole = { version: JSON_VERSION, id, cwd, title, model, systemPrompt, messages, todos, entries };
  // Text by text: in JSON as a whole, what looks like a key may end with a part of the JSON itself.
  const masked = (_: string, value: unknown): unknown => (typeof value === "string" ? redact(value) : value);
  return `${JSON.stringify(whole, masked, 2)}\n`;
}

function asMarkdown({ id, cwd, title, model, begunAt, toolEntry, conversation }: StoredSession): string {
  const facts = [
    begunAt === undefined ? undefined : new Date(begunAt).toISOString().slice(0, 16).replace("T", " "),
    model,
    `\`${cwd}\``,
    id,
  ];
  const calls = new Map<string, ToolCall>();
  const parts = conversation.said.flatMap(({ message }) => {
    if (message.role === "assistant") for (const call of message.tool_calls ?? []) calls.set(call.id, call);
    const by = message.role === "user" ? "You" : "Hermes";
    return said(message, { entryOf: toolEntry, callOf: (id) => calls.get(id) }).map((text): Part => ({ by, text }));
  });
  return `# ${title ?? "Session"}\n\n${facts.filter((fact) => fact !== undefined).join(" · ")}\n\n${underHeadings(parts)}\n`;
}

type Part = { readonly by: "You" | "Hermes"; readonly text: string };

/** One heading for each thing that was asked, and one for all that was done and said about it. */
function underHeadings(parts: readonly Part[]): string {
  const sections = parts.map(({ by, text }, at) => {
    const goesOn = by === "Hermes" && parts[at - 1]?.by === by;
    return goesOn ? text : `## ${by}\n\n${text}`;
  });
  return sections.join("\n\n");
}

type Calls = {
  readonly entryOf: StoredSession["toolEntry"];
  readonly callOf: (id: string) => ToolCall | undefined;
};

function said(message: Message, { entryOf, callOf }: Calls): readonly string[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return message.synthetic ? [] : [userWords(message.content)];
    case "assistant":
      return [
        ...(message.reasoning ? [folded("Thoughts", message.reasoning)] : []),
        ...(answerText(message) === "" ? [] : [answerText(message)]),
      ];
    case "tool":
      return [toolCall(message.content, entryOf(message.tool_call_id), callOf(message.tool_call_id))];
  }
}

function userWords(content: Extract<Message, { role: "user" }>["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `![an image](${part.image_url.url})`)).join("\n\n");
}

function toolCall(result: string, entry: ToolEntry | undefined, call: ToolCall | undefined): string {
  const state = entry?.ok === false ? " (failed)" : "";
  const command = commandOf(call);
  const parts = [...(command === undefined ? [] : [fenced(command, "sh")]), fenced(result)];
  return folded(`${entry?.title ?? "Tool call"}${state}`, parts.join("\n\n"));
}

/** A title has the beginning of a command only. */
function commandOf(call: ToolCall | undefined): string | undefined {
  if (call?.function.name !== "terminal") return undefined;
  return commandInput.safeParse(parseLine(call.function.arguments)).data?.command;
}

function folded(summary: string, text: string): string {
  const name = summary.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<details><summary>${name}</summary>\n\n${text}\n\n</details>`;
}

/** Longer than any fence inside. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
