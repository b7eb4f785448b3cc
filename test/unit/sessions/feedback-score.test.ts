import { describe, expect, test } from "vitest";
import type { JournalEntry } from "../../../agent-core/sessions/entry.ts";
import { feedbackScore } from "../../../agent-core/sessions/outcome-rates.ts";

const at = 1_000;

function user(content: string, position: number): JournalEntry {
  return { type: "message", position, message: { role: "user", content }, at };
}

function command(callId: string, line: string, ok: boolean): readonly JournalEntry[] {
  const call = { name: "terminal", arguments: JSON.stringify({ command: line }) };
  return [
    {
      type: "message",
      message: { role: "assistant", content: null, tool_calls: [{ id: callId, type: "function", function: call }] },
      at,
    },
    tool(callId, "execute", ok),
  ];
}

function tool(callId: string, kind: string, ok: boolean): JournalEntry {
  return {
    type: "tool",
    callId,
    name: "a tool",
    title: "A tool",
    kind,
    locations: [],
    diffs: [],
    ok,
    durationMs: 1,
    at,
  };
}

function verdict(outcome: "kept" | "undone" | "retyped", lines: number): JournalEntry {
  return { type: "verdict", path: "/p/a.ts", outcome, lines, at };
}

function permission(outcome: "once" | "rejected"): JournalEntry {
  return { type: "answer", callId: "c", tool: "terminal", request: "permission", outcome, by: "user", at };
}

function turnEnd(stopReason: string): JournalEntry {
  return { type: "turn-end", stopReason, at };
}

describe("the feedback score", () => {
  test("is null without a signal", () => {
    const entries = [user("add a button", 0), turnEnd("end_turn"), user("and a second one", 2), permission("once")];
    expect(feedbackScore(entries)).toEqual({ score: null, signals: 0 });
  });

  test("is the share of the reviewed lines that were kept", () => {
    const entries = [verdict("kept", 6), verdict("undone", 1), verdict("retyped", 1)];
    expect(feedbackScore(entries)).toEqual({ score: 0.75, signals: 1 });
  });

  test("counts the last test or build after the last edit, and no other command", () => {
    const edit = tool("e", "edit", true);
    expect(feedbackScore([edit, ...command("1", "npm test", true)])).toEqual({ score: 1, signals: 1 });
    const broken = [edit, ...command("1", "npm test", true), ...command("2", "cd app && npx tsc -p .", false)];
    expect(feedbackScore([...broken, ...command("3", "cat log.txt", true)])).toEqual({ score: 0, signals: 1 });
    expect(feedbackScore([...broken, tool("f", "edit", true)])).toEqual({ score: null, signals: 0 });
    expect(feedbackScore([...broken, tool("f", "edit", false)])).toEqual({ score: 0, signals: 1 });
  });

  test("is lowered by a message that follows an edit which the user took back, whatever it says", () => {
    const undone = [user("make it blue", 0), verdict("kept", 1), verdict("undone", 1), user("Lieber so: rot.", 2)];
    expect(feedbackScore(undone)).toEqual({ score: 0.25, signals: 2 });
    expect(feedbackScore([...undone, user("And now the tests.", 4)])).toEqual({ score: 0.25, signals: 2 });
  });

  test("is not lowered by words alone", () => {
    expect(feedbackScore([user("make it blue", 0), user("No, the other file", 2)])).toEqual({
      score: null,
      signals: 0,
    });
  });

  test("takes no first message for a correction", () => {
    expect(feedbackScore([user("No tests run on my machine", 0)])).toEqual({ score: null, signals: 0 });
  });

  test("is lowered by a rewind soon after the message, not by one long after it", () => {
    const messages = [0, 2, 4, 6, 8].map((position) => user("go on", position));
    expect(feedbackScore([...messages, { type: "rewind", keep: 8, at }])).toEqual({ score: 0, signals: 1 });
    expect(feedbackScore([...messages, { type: "rewind", keep: 0, at }])).toEqual({ score: null, signals: 0 });
  });

  test("is lowered by refused permissions and by turns that failed or reached their limit", () => {
    const entries = [permission("rejected"), turnEnd("error"), turnEnd("max_turn_requests"), turnEnd("cancelled")];
    expect(feedbackScore([...entries, verdict("kept", 3)])).toEqual({ score: 0.25, signals: 4 });
  });
});
