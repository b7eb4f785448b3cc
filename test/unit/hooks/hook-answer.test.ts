import { expect, test } from "vitest";
import { hookVerdict } from "../../../agent-core/hooks/hook-answer.ts";

const DENY = { decision: "block", reason: "no" };

test.each([
  ["after its log", `checking\n${JSON.stringify(DENY)}\n`],
  ["before its log", `${JSON.stringify(DENY)}\ndone\n`],
  ["in lines of its own within its log", `checking\n${JSON.stringify(DENY, null, 2)}\ndone\n`],
  ["right behind another answer", `{"systemMessage":"hi"}${JSON.stringify(DENY)}`],
  ["before a zero byte", `${JSON.stringify(DENY)}\0`],
  ["beside another answer", `{"suppressOutput":true}\n${JSON.stringify(DENY)}`],
  ["after a byte order mark", `\ufeff${JSON.stringify(DENY)}`],
  ["with null for the rest", '{"hookSpecificOutput":{"permissionDecision":"deny","updatedInput":null},"reason":"no"}'],
  ["in capitals", '{"permissionDecision":"DENY","permissionDecisionReason":"no"}'],
  ["in Cursor's words", '{"permission":"deny","agentMessage":"no"}'],
])("a guard that denies %s denies", (_, output) => {
  const end = { exitCode: 0, output, errors: "" };
  expect(hookVerdict(end, { hook_event_name: "pre_tool_call", tool_input: {} }, "claude")).toMatchObject(DENY);
});

test.each(["[]", "true", '"ok"', "{}", '{"decision":null,"hookSpecificOutput":null}', "\u001b[32mok\u001b[0m"])(
  "a guard that prints %j lets the call pass",
  (output) => {
    const end = { exitCode: 0, output, errors: "" };
    expect(hookVerdict(end, { hook_event_name: "pre_tool_call", tool_input: {} }, "claude")).not.toHaveProperty(
      "decision",
    );
  },
);
