import { expect, test } from "vitest";
import type { SessionEvent } from "../../../../extension/chat/session-state.ts";
import { TurnWatch } from "../../../../extension/chat/turn-watch.ts";

function watched(notify: string, isInSight = false, title?: string) {
  const lines: string[] = [];
  const notices: string[] = [];
  const clock = { now: 0 };
  const log = (level: string) => (line: string) => void lines.push(`${level} ${line}`);
  const watch = new TurnWatch({
    log: { info: log("info"), warn: log("warn"), error: log("error") },
    now: () => clock.now,
    notify: () => notify,
    isInSight: () => isInSight,
    show: (sessionId, text) => void notices.push(`${sessionId}: ${text}`),
  });
  const option = (category: string) => {
    const currentValue = category === "model" ? "openai:gpt-5" : "code";
    return { id: category, currentValue, currentName: currentValue, choices: [] };
  };
  const session = { sessionId: "20261120_1", targetId: "20261120_1", title, isRunning: false, option };
  const see = (event: SessionEvent, after = 0, isRunning = false): void => {
    clock.now += after;
    session.isRunning = isRunning;
    watch.observe(session, event);
  };
  const update = (value: Extract<SessionEvent, { type: "update" }>["update"], after = 0): void =>
    see({ type: "update", update: value }, after, true);
  return { lines, notices, see, update };
}

const prompt = { type: "prompt", id: "p1", prompt: { text: "my secret plan" } } as unknown as SessionEvent;
const call = { sessionUpdate: "tool_call", toolCallId: "t1", title: "Read secret.txt", kind: "read" } as const;

test("the log has a line for each session, turn, request, tool call and error, without texts of the user", () => {
  const { lines, see, update } = watched("never");
  see({ type: "opened", attempt: 1 });
  see(prompt, 0, true);
  update(call, 1_000);
  update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "failed" }, 200);
  update({ sessionUpdate: "notice", severity: "warning", title: "models.example is overloaded." }, 100);
  update({ sessionUpdate: "usage_update", used: 12_000, size: 200_000 }, 1_900);
  see({ type: "turn-failed", message: "models.example cannot be reached.", fault: "network" }, 100);
  expect(lines).toEqual([
    "info session …261120_1: opened, model openai:gpt-5, mode code",
    "info session …261120_1: turn started, model openai:gpt-5",
    "warn session …261120_1: tool call (read) failed after 0.2 s",
    "warn session …261120_1: models.example is overloaded.",
    "info session …261120_1: request, model openai:gpt-5: context 12,000 of 200,000 tokens, 2.0 s",
    "error session …261120_1: turn failed (network) after 3.3 s, 1 tool call: models.example cannot be reached.",
  ]);
});

test("updates of a replay are no news", () => {
  const { lines, see } = watched("always");
  see({ type: "update", update: call });
  expect(lines).toEqual([]);
});

test.each([
  { setting: "hidden", isInSight: false, ms: 6_000, stopReason: "end_turn", isShown: true },
  { setting: "hidden", isInSight: true, ms: 6_000, stopReason: "end_turn", isShown: false },
  { setting: "always", isInSight: true, ms: 6_000, stopReason: "end_turn", isShown: true },
  { setting: "never", isInSight: false, ms: 6_000, stopReason: "end_turn", isShown: false },
  { setting: "hidden", isInSight: false, ms: 1_000, stopReason: "end_turn", isShown: false },
  { setting: "hidden", isInSight: false, ms: 6_000, stopReason: "cancelled", isShown: false },
] as const)("a notice of the end: $isShown for $setting, in sight $isInSight, $ms ms, $stopReason", (row) => {
  const { notices, see } = watched(row.setting, row.isInSight, "Prices");
  see(prompt, 0, true);
  see({ type: "turn-ended", stopReason: row.stopReason }, row.ms);
  expect(notices).toEqual(row.isShown ? ["20261120_1: Hermes: “Prices” has finished."] : []);
});
