import { describe, expect, test } from "vitest";
import { emptyState } from "../../webview/state/state.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";

/** True while a scroller has the sign that more follows below. */
const CUE = new Function("scroller", 'return getComputedStyle(scroller, "::after").content !== "none"') as (
  element: unknown,
) => boolean;
/** Numbers of lines that elements are broken into. */
const LINES = new Function(
  "elements",
  `return elements.map((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size;
  });`,
) as (elements: unknown) => readonly number[];

// Requests, waits and commands of buttons: what the user needs to see of them before the next step.
describe("lines of a turn", () => {
  const panel = useFedPanel();

  const button = (name: string) => panel().page.getByRole("button", { name });
  const pictures = (state: string) => panel().pictures(state);

  test("the dock below a high request, and its command, say that more of them follows", async () => {
    const file = { path: "a.ts", label: "a.ts", isWaiting: false, pendingHunks: 1, added: 1, removed: 1 };
    await panel().feed({ kind: "prompt", id: "p1", text: "Clean up" });
    const options = [{ optionId: "once", name: "Allow Once", kind: "allow_once" }] as const;
    const reasons = ["Runs git push --force-with-lease, which overwrites the branch --no-verify of the others there"];
    const toolCall = { toolCallId: "c1", title: "push --force" };
    const command = "git push --force-with-lease --no-verify\n".repeat(40);
    await panel().feed({ kind: "permission", requestId: "r1", options, reasons, command, toolCall });
    const shown = panel().page.locator(".ask-command");
    await expect.poll(() => shown.evaluate(CUE)).toBe(true);
    expect(await shown.locator(".option").evaluateAll(LINES)).toEqual(Array.from({ length: 80 }, () => 1));
    await panel().page.getByRole("alertdialog").focus();
    await panel().page.keyboard.press("Tab");
    await panel().page.locator(".ask-command:focus").waitFor();
    await pictures("long-command");
    await panel().page.keyboard.press("End");
    await expect.poll(() => shown.evaluate(CUE)).toBe(false);
    await panel().tell({ type: "facts", facts: { ...emptyState.facts, review: [file] } });
    await panel().page.setViewportSize({ width: 320, height: 420 });
    const lines = panel().page.locator(".dock-lines");
    await expect.poll(() => lines.evaluate(CUE)).toBe(true);
    await panel().pictures("dock-cut");
    await panel().page.setViewportSize({ width: 320, height: 420 });
    await button("Undo").focus();
    await expect.poll(() => lines.evaluate(CUE)).toBe(false);
    for (const width of [200, 230, 260, 290, 320]) {
      await panel().setWidth(width);
      const rows = await panel().page.locator(".ask-reasons .option").evaluateAll(LINES);
      expect(rows, `${width} px`).toEqual([1, 1]);
    }
    await panel().tell({ type: "facts", facts: emptyState.facts });
    await panel().reset();
  });

  test("the wait before a retry is the only line of a turn that waits", async () => {
    await panel().feed({ kind: "prompt", id: "p1", text: "Hurry" });
    const working = panel().locator(".working");
    await working.waitFor();
    const retry = { id: "t1", reason: "slow down.", delayMs: 60_000, waitedMs: 0 };
    await panel().update({ sessionUpdate: "notice", severity: "warning", title: "slow", _meta: { hermes: { retry } } });
    await panel().page.getByText("slow down. Next try in").waitFor();
    await pictures("retry-alone");
    expect(await working.count()).toBe(0);
    await panel().reset();
  });

  test("the commands of buttons are shown in their words, live and in a restored session", async () => {
    await panel().feed({ kind: "prompt", id: "p1", text: "/carry-out code" });
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    for (const text of ["/carry-out ask\n1. Only the parser.", "/carry-out it"])
      await panel().update({ sessionUpdate: "user_message_chunk", messageId: text, content: { type: "text", text } });
    const bubbles = () => panel().locator(".bubble").allTextContents();
    await expect
      .poll(bubbles)
      .toEqual([
        "Carry Out the Plan",
        "Carry Out the Plan, and Approve Each Edit\n1. Only the parser.",
        "/carry-out it",
      ]);
    await pictures("commands-in-words");
    await panel().reset();
  });

  test("a paused goal goes on by a button, until the next message", async () => {
    const goal = (state: "active" | "paused") =>
      panel().update({ sessionUpdate: "session_info_update", _meta: { hermes: { goal: state } } });
    const line = panel().page.getByRole("region", { name: "Paused goal" });
    await panel().feed({ kind: "prompt", id: "p1", text: "/goal Write it" });
    await goal("active");
    await goal("paused");
    expect(await line.count()).toBe(0);
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" }, { kind: "interrupted" });
    await line.getByText("The goal is paused").waitFor();
    await pictures("goal-paused");
    await line.getByRole("button", { name: "Continue" }).click();
    await expect.poll(() => panel().posted.at(-1)).toEqual({ type: "prompt", text: "/goal resume" });
    await panel().feed(
      { kind: "prompt", id: "p2", text: "/goal resume" },
      { kind: "turn-end", stopReason: "end_turn" },
    );
    await line.waitFor({ state: "detached" });
    await panel().reset();
  });

  test("the message takes the focus of a find bar that came over another page, and of the button to the latest", async () => {
    const message = panel().locator(".composer textarea:focus");
    await panel().feed({ kind: "prompt", id: "p1", text: "Count\n\n".repeat(5) });
    const text = "1\n\n".repeat(100);
    await panel().update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    await panel().tell({ type: "command", id: "c1", command: { kind: "show-sessions" } });
    await panel().locator(".history-search input:focus").waitFor();
    await panel().tell({ type: "command", id: "c2", command: { kind: "find" } });
    await panel().locator(".find-bar input:focus").press("Escape");
    await message.waitFor();
    await panel().locator(".transcript").press("Home");
    await button("Jump to the Latest").press("Enter");
    await message.waitFor();
    await panel().reset();
  });
});
