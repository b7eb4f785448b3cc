/** A session of the original Hermes Agent as the entries of a journal. */
import { createHash } from "node:crypto";
import * as z from "zod";
import type { ContentPart, Message, ToolCall } from "../../messages/message.ts";
import { redact } from "../../providers/redact.ts";
import type { EntryOf } from "../entry.ts";
import { isSessionId, sessionIdOf } from "../session-id.ts";
import { type MessageRow, numberOf, type SessionRow, textOf, timeOf } from "./state-rows.ts";

/** Before content that is a list of parts, as JSON. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the original marks it by one.
const PARTS_MARK = /^[\u0000\u0001]json:/;
/** What the original puts in the place of messages that it has summed up. */
const SUMMARY_MARK = "[CONTEXT COMPACTION";
const MAX_TITLE_CHARS = 100;
const ID_HASH_CHARS = 8;

/** What was said, and how a tool call is shown. */
export type ForeignEntry = EntryOf<"message" | "tool">;

/** The tokens and dollars of the whole session. */
export type ForeignUsage = Omit<EntryOf<"usage">, "type" | "at">;

const config = z.object({ cwd: z.string().optional(), _delegate_from: z.unknown() }).partial();

const calls = z.array(
  z.object({
    id: z.string().optional(),
    call_id: z.string().optional(),
    function: z.object({ name: z.string(), arguments: z.unknown().optional() }),
  }),
);

const parts = z.array(
  z.looseObject({ type: z.string(), text: z.string().optional(), image_url: z.unknown().optional() }),
);
const image = z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]);

/** Our id of the original's session: the same at every import. */
export function foreignId(row: Pick<SessionRow, "id" | "started_at">): string {
  const name = textOf(row.id) ?? "";
  if (isSessionId(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, ID_HASH_CHARS);
  return sessionIdOf(timeOf(row.started_at), hash);
}

/** A run of a sub-agent: its result stands in the session that it worked for. */
export function isDelegated(row: SessionRow): boolean {
  return configOf(row)._delegate_from != null;
}

/** Where it worked; undefined when nothing says so. */
export function foreignFolder(row: SessionRow): string | undefined {
  return textOf(row.cwd) || configOf(row).cwd || undefined;
}

export function foreignUsage(row: SessionRow): ForeignUsage {
  const cached = numberOf(row.cache_read_tokens);
  const cost = row.actual_cost_usd ?? row.estimated_cost_usd;
  return {
    model: textOf(row.model) ?? "unknown",
    // Ours counts what came from the cache as input, too; the original counts it apart.
    inputTokens: numberOf(row.input_tokens) + cached + numberOf(row.cache_write_tokens),
    outputTokens: numberOf(row.output_tokens),
    cachedInputTokens: cached,
    reasoningTokens: numberOf(row.reasoning_tokens),
    ...(cost !== null && { costUsd: numberOf(cost) }),
  };
}

/** Its messages in order, and how its tool calls are shown. What the original took back stays there. */
export function foreignEntries(rows: readonly MessageRow[], began: number): readonly ForeignEntry[] {
  const names = new Map<string, ToolCall>();
  return rows.flatMap((row): ForeignEntry[] => {
    if (row.active === 0 && row.compacted !== 1) return [];
    const message = messageOf(row);
    if (message === undefined) return [];
    const at = timeOf(row.timestamp) || began;
    const entry: ForeignEntry = { type: "message", message, imported: numberOf(row.row), at };
    if (message.role === "assistant") for (const call of message.tool_calls ?? []) names.set(call.id, call);
    return message.role === "tool" ? [shownCall(message, names.get(message.tool_call_id), row, at), entry] : [entry];
  });
}

function shownCall(
  { tool_call_id: callId, content }: Extract<Message, { role: "tool" }>,
  call: ToolCall | undefined,
  row: MessageRow,
  at: number,
): ForeignEntry {
  const name = call?.function.name ?? textOf(row.tool_name) ?? "tool";
  const ok = !/^(?:Error\b|\{"error")/.test(content);
  const shown = { title: titleOf(name, call?.function.arguments ?? ""), kind: "other", locations: [], diffs: [] };
  return { type: "tool", callId, name, ...shown, ok, durationMs: 0, at };
}

/** The tool and the first thing that it was told. */
function titleOf(name: string, json: string): string {
  const first = Object.values(parsed(json, z.record(z.string(), z.unknown())) ?? {}).find(
    (value) => typeof value === "string",
  );
  const title = typeof first === "string" ? `${name}: ${first.replaceAll(/\s+/g, " ")}` : name;
  return title.length > MAX_TITLE_CHARS ? `${title.slice(0, MAX_TITLE_CHARS - 1).toWellFormed()}…` : title;
}

function messageOf(row: MessageRow): Message | undefined {
  const content = textOf(row.content) ?? "";
  switch (row.role) {
    case "user": {
      const said = contentOf(content);
      if (said.length === 0) return undefined;
      const isOurs = row.display_kind === "hidden" || content.startsWith(SUMMARY_MARK);
      return { role: "user", content: said, ...(isOurs && { synthetic: true }) };
    }
    case "assistant":
      return assistantMessage(plain(contentOf(content)), row);
    case "tool": {
      const id = textOf(row.tool_call_id);
      // What tools print is stored without the secrets in it, here as everywhere.
      return id ? { role: "tool", tool_call_id: id, content: redact(plain(contentOf(content))) } : undefined;
    }
    default:
      return undefined; // what the original notes down for itself
  }
}

function assistantMessage(content: string, row: MessageRow): Message | undefined {
  const made = callsOf(textOf(row.tool_calls));
  const reasoning = textOf(row.reasoning) || textOf(row.reasoning_content) || "";
  if (content === "" && made.length === 0 && reasoning === "") return undefined;
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...(made.length > 0 && { tool_calls: made }),
    ...(reasoning !== "" && { reasoning }),
  };
}

function callsOf(json: string | null): readonly ToolCall[] {
  return (parsed(json ?? "", calls) ?? []).flatMap(({ id, call_id, function: { name, arguments: given } }) => {
    const callId = id ?? call_id;
    const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
    return callId === undefined ? [] : [{ id: callId, type: "function" as const, function: { name, arguments: text } }];
  });
}

function contentOf(content: string): string | readonly ContentPart[] {
  if (!PARTS_MARK.test(content)) return content;
  return (parsed(content.replace(PARTS_MARK, ""), parts) ?? []).flatMap((part): ContentPart[] => {
    if (part.text !== undefined) return [{ type: "text", text: part.text }];
    const url = image.safeParse(part.image_url).data;
    return url?.startsWith("data:") ? [{ type: "image_url", image_url: { url } }] : [{ type: "text", text: "[image]" }];
  });
}

function plain(content: string | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
}

function configOf(row: SessionRow): z.infer<typeof config> {
  return parsed(textOf(row.model_config) ?? "", config) ?? {};
}

/** Undefined for what is no JSON, or other JSON. */
function parsed<Value>(json: string, schema: z.ZodType<Value>): Value | undefined {
  try {
    return schema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined; // not JSON: the caller goes on without
  }
}
