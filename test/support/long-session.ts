/** A stored session of any length, as a journal on disk: questions, tool calls with diffs, answers in Markdown. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sessionsFolder } from "../../agent-core/config/home.ts";
import type { JournalEntry } from "../../agent-core/sessions/entry.ts";

export type LongSession = {
  /** HERMES_HOME of the session. */
  readonly home: string;
  readonly id: string;
  /** Its working folder, absolute. */
  readonly cwd: string;
  /** Number of messages with tool results, rounded down to whole turns of four. */
  readonly messages: number;
};

const MESSAGES_A_TURN = 4;
/** Milliseconds since 1970 of the first entry; a second passes with each turn. */
const BEGINS = Date.UTC(2026, 10, 1);

/** Writes the journal; its first message is "Question 1: …", its last one the answer to the last question. */
export function writeLongSession({ home, id, cwd, messages }: LongSession): void {
  const folder = sessionsFolder(home);
  mkdirSync(folder, { recursive: true });
  const turns = Math.floor(messages / MESSAGES_A_TURN);
  const entries: JournalEntry[] = [
    { type: "session", version: 1, id, cwd, at: BEGINS },
    { type: "title", title: `A long session of ${turns} questions`, at: BEGINS },
    ...Array.from({ length: turns }, (_, index) => turn(index + 1, cwd)).flat(),
  ];
  writeFileSync(join(folder, `${id}.jsonl`), `${entries.map((entry) => JSON.stringify(entry)).join("\n")}\n`);
}

function turn(number: number, cwd: string): readonly JournalEntry[] {
  const at = BEGINS + number * 1_000;
  const first = (number - 1) * MESSAGES_A_TURN;
  const callId = `call-${number}`;
  const isEdit = number % 3 === 0;
  const path = join(cwd, `src/part-${number % 40}.ts`);
  const call = {
    id: callId,
    type: "function",
    function: { name: isEdit ? "patch" : "read_file", arguments: "{}" },
  } as const;
  const before = `export const limit = ${number};\nexport const name = "part";\n`;
  return [
    {
      type: "message",
      position: first,
      message: { role: "user", content: `Question ${number}: what does part ${number} do?` },
      at,
    },
    {
      type: "message",
      position: first + 1,
      message: { role: "assistant", content: `I look at part ${number} first.`, tool_calls: [call] },
      at,
    },
    {
      type: "message",
      position: first + 2,
      message: { role: "tool", tool_call_id: callId, content: resultOf(number) },
      at,
    },
    {
      type: "tool",
      callId,
      name: call.function.name,
      title: `${isEdit ? "Edit" : "Read"} src/part-${number % 40}.ts`,
      kind: isEdit ? "edit" : "read",
      locations: [{ path, line: 1 }],
      diffs: isEdit ? [{ path, oldText: before, newText: before.replace("limit", "maximum") }] : [],
      ok: number % 17 !== 0,
      durationMs: 12,
      at,
    },
    { type: "message", position: first + 3, message: { role: "assistant", content: answerOf(number) }, at },
    { type: "turn-end", stopReason: "end_turn", at },
  ];
}

const resultOf = (number: number): string =>
  Array.from({ length: 4 + (number % 9) }, (_, line) => `${line + 1}: const value${line} = ${number * line};`).join(
    "\n",
  );

/** The answer to a question: from one line to some thirty, with lists and code. */
export function answerOf(number: number): string {
  const lines = [`Answer ${number}: part ${number} keeps a **limit** and says so in \`limit\`.`];
  if (number % 2 === 0) {
    lines.push("", "It matters in these places:", "");
    for (let item = 0; item <= number % 7; item += 1)
      lines.push(`- place ${item + 1} of part ${number}, see [the file](src/a.ts)`);
  }
  if (number % 5 === 0) {
    lines.push("", "```ts");
    for (let line = 0; line <= number % 11; line += 1)
      lines.push(`export const line${line} = part(${number}, ${line});`);
    lines.push("```", "", "Nothing else depends on it.");
  }
  return lines.join("\n");
}
