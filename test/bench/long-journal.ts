/** A journal as long sessions leave it: edits with their whole texts, results, and a compression now and then. */
import { closeSync, openSync, writeSync } from "node:fs";
import type { JournalEntry } from "../../agent-core/sessions/entry.ts";

export type JournalSize = ({ readonly bytes: number } | { readonly messages: number }) & {
  /** Of the file that each turn edits, and reads the greater part of. */
  readonly lines: number;
};

const TURNS_A_COMPRESSION = 60;
const MESSAGES_A_TURN = 6;

const words = Array.from({ length: 120 }, (_, index) => `word${(index * 7_919) % 5_000}`).join(" ");

/** Writes it to `path`; it ends with the turn in which the size is reached. */
export function writeLongJournal(path: string, id: string, size: JournalSize): void {
  const file = openSync(path, "w");
  let [bytes, messages] = [0, 0];
  const texts = {
    before: code(size.lines),
    after: code(size.lines + 1),
    result: code(Math.ceil((size.lines * 2) / 3)),
  };
  const isDone = (): boolean => ("bytes" in size ? bytes >= size.bytes : messages >= size.messages);
  const write = (entries: readonly JournalEntry[]): void => {
    bytes += writeSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  };
  write([{ type: "session", version: 1, id, cwd: "/project", at: 0 }]);
  write([{ type: "system-prompt", text: words.repeat(12), at: 0 }]);
  for (let turn = 1; !isDone(); turn += 1) {
    write(turnAt(messages, turn, texts));
    messages += MESSAGES_A_TURN;
    if (turn % TURNS_A_COMPRESSION === 0) write([compressionUpTo(messages - 100, turn)]);
  }
  closeSync(file);
}

type Texts = { readonly before: string; readonly after: string; readonly result: string };

function turnAt(position: number, at: number, { before, after, result }: Texts): readonly JournalEntry[] {
  const [edit, read] = [`call_${at}_0`, `call_${at}_1`];
  const locations = [{ path: "/project/a.ts" }];
  const tool = { type: "tool" as const, kind: "edit", locations, ok: true, durationMs: 12, at };
  const diffs = [{ path: "/project/a.ts", oldText: before, newText: after }];
  const hashes = { before: { hash: "a".repeat(64), mode: 420 }, after: { hash: "b".repeat(64), mode: 420 } };
  const change = { type: "file-change", path: "/project/a.ts", by: "edit", source: edit, ...hashes } as const;
  const tokens = { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 900, reasoningTokens: 0 };
  return [
    { type: "message", position, message: { role: "user", content: `turn ${at} ${words}` }, at },
    { type: "message", position: position + 1, message: calling(edit, "patch"), at },
    { ...tool, callId: edit, name: "patch", title: "Edit a.ts", diffs },
    { ...change, position: position + 2, at },
    { type: "message", position: position + 2, message: { role: "tool", tool_call_id: edit, content: "Edited." }, at },
    { type: "message", position: position + 3, message: calling(read, "read_file"), at },
    { ...tool, callId: read, name: "read_file", title: "Read a.ts", diffs: [] },
    { type: "message", position: position + 4, message: { role: "tool", tool_call_id: read, content: result }, at },
    { type: "message", position: position + 5, message: { role: "assistant", content: words }, at },
    { type: "usage", model: "bench", ...tokens, at },
    { type: "turn-end", stopReason: "end_turn", at },
  ];
}

function calling(id: string, name: string): Extract<JournalEntry, { type: "message" }>["message"] {
  const call = { name, arguments: JSON.stringify({ path: "a.ts", old_string: "one", new_string: "two" }) };
  return { role: "assistant", content: null, reasoning: words, tool_calls: [{ id, type: "function", function: call }] };
}

function compressionUpTo(last: number, at: number): JournalEntry {
  const tokens = { tokensBefore: 100_000, tokensAfter: 40_000 };
  const folded = { child: "next", strategy: "summary", dropped: [[2, last] as [number, number]], summary: words };
  return { type: "compression", ...folded, shortened: [], ...tokens, at };
}

function code(lines: number): string {
  const line = (_: unknown, index: number): string =>
    `  const value${index} = compute("${index}", { depth: ${index % 7} });\n`;
  return Array.from({ length: lines }, line).join("");
}
