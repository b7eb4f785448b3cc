/** Exports a stored session: as Markdown for people, or as JSON for programs. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as z from "zod";
import type { ContentPart, Message, ToolCall } from "../messages/message.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { fenced } from "../platform/visible-text.ts";
import { redact } from "../providers/redact.ts";
import { type EntryOf, parseLine } from "./entry.ts";
import { readEntries, type StoredSession } from "./read-journal.ts";
import { answerText } from "./shown-message.ts";

export type ExportFormat = "markdown" | "json";

const JSON_VERSION = 1;
/** Length limit of a suggested file name, without its extension. */
const MAX_NAME_CHARS = 60;

const commandInput = z.object({ command: z.string() });

/** Masks text that looks like a key. Rejects when the journal cannot be read. */
export async function exportSession(session: StoredSession, format: ExportFormat): Promise<string> {
  return format === "json" ? asJson(session) : redact(asMarkdown(session));
}

/** Suggested file name, without a folder. */
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
  const stored = await readEntries(session.path, session.unsaved);
  const entries = stored.map((entry) => (entry.type === "tool" ? { ...entry, diffs: session.diffsOf(entry) } : entry));
  const messages = conversation.transcript.map(({ position, message }) => ({ position, ...message }));
  const whole = { version: JSON_VERSION, id, cwd, title, model, systemPrompt, messages, todos, entries };
  // Each string is masked alone: a match over the whole JSON could swallow its syntax.
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
  const parts = conversation.transcript.flatMap(({ message }) => {
    if (message.role === "assistant") for (const call of message.tool_calls ?? []) calls.set(call.id, call);
    const by = message.role === "user" ? "You" : "Hermes";
    return said(message, { entryOf: toolEntry, callOf: (id) => calls.get(id) }).map((text): Part => ({ by, text }));
  });
  return `# ${title ?? "Session"}\n\n${facts.filter((fact) => fact !== undefined).join(" · ")}\n\n${underHeadings(parts)}\n`;
}

type Part = { readonly by: "You" | "Hermes"; readonly text: string };

/** Puts one heading over each prompt, and one over everything that answers it. */
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
  return content.map(partWords).join("\n\n");
}

function partWords(part: ContentPart): string {
  if (part.type === "image_url") return `![an image](${part.image_url.url})`;
  const { text, attached } = part;
  if (attached === undefined) return text;
  if (attached.name !== undefined) return `[${attached.name.replaceAll(/[[\]\\]/g, "\\$&")}](<${attached.uri}>)`;
  const [tag = ""] = text.split("\n", 1);
  return folded(
    `Attached ${/name="(.*?)"/.exec(tag)?.[1] ?? attached.uri}`,
    fenced(text.slice(tag.length + 1, text.lastIndexOf("\n"))),
  );
}

function toolCall(result: string, entry: EntryOf<"tool"> | undefined, call: ToolCall | undefined): string {
  const state = entry?.ok === false ? " (failed)" : "";
  // The title shows only the beginning of a command.
  const input = call?.function.name === "terminal" ? parseLine(call.function.arguments) : undefined;
  const command = commandInput.safeParse(input).data?.command;
  const parts = [...(command === undefined ? [] : [fenced(command, "sh")]), fenced(result)];
  return folded(`${entry?.title ?? "Tool call"}${state}`, parts.join("\n\n"));
}

function folded(summary: string, text: string): string {
  const name = summary.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<details><summary>${name}</summary>\n\n${text}\n\n</details>`;
}

export type Exported = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** Writes `text` to `path` (absolute) and creates its folders. Refuses a path that exists. */
export async function writeExport(path: string, text: string): Promise<Exported> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: "wx" });
    return { ok: true };
  } catch (error) {
    if (hasCode(error, "EEXIST")) {
      return { ok: false, message: `${path} already exists; choose another path.` };
    }
    return { ok: false, message: messageOf(error) };
  }
}
