import type { CDPSession } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { useFedPanel } from "../support/panel/fed-panel.ts";

/** `keyCode` of a key that an input method takes. */
const TAKEN = 229;

// Keyboards of the world, as Chromium reports them: input methods that compose words, and layouts without Latin letters.
describe("text of an input method", () => {
  const panel = useFedPanel();
  let keyboard: CDPSession;
  beforeAll(async () => {
    keyboard = await panel().page.context().newCDPSession(panel().page);
    await panel().page.evaluate(
      "addEventListener('compositionend', () => { window.ended = (window.ended ?? 0) + 1; })",
    );
  });
  const field = () => panel().locator(".composer textarea");
  const list = () => panel().locator("#completion");
  const posted = () => panel().posted.filter(({ type }) => type !== "ack" && type !== "focus");
  const compose = (text: string) =>
    keyboard.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
  const commit = (text: string) => keyboard.send("Input.insertText", { text });
  const take = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) {
      await keyboard.send("Input.dispatchKeyEvent", {
        type: "rawKeyDown",
        ...{ key, code: key, windowsVirtualKeyCode: TAKEN },
      });
      await keyboard.send("Input.dispatchKeyEvent", { type: "keyUp", key, code: key });
    }
  };
  const write = async (text: string): Promise<void> => {
    await field().fill("");
    await commit(text);
  };

  test("is sent by the Enter after the one that chose the word", async () => {
    await field().focus();
    const before = posted().length;
    await compose("にほん");
    await take("Enter");
    await compose("日本");
    await take("Enter", "Escape");
    await commit("日本");
    expect([posted().slice(before), await field().inputValue()]).toEqual([[], "日本"]);
    await panel().page.keyboard.press("Enter");
    await expect.poll(() => posted().at(-1)).toEqual({ type: "prompt", text: "日本" });
  });

  test("is composed in the middle of a message while an answer streams", async () => {
    await panel().reset();
    await write("ab");
    await panel().page.keyboard.press("ArrowLeft");
    await compose("하");
    await panel().update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "An answer" } });
    await panel().page.getByText("An answer").waitFor();
    await compose("한국");
    expect([await panel().page.evaluate("window.ended ?? 0"), await field().inputValue()]).toEqual([1, "a한국b"]);
    await commit("한국");
    await panel().page.keyboard.type("!");
    expect(await field().inputValue()).toBe("a한국!b");
  });

  test("keeps the keys of its words from the list of mentions", async () => {
    await write("@");
    await list().waitFor({ state: "attached" });
    await compose("か");
    await take("ArrowDown", "Enter", "Tab", "Escape");
    expect([await field().inputValue(), await list().count()]).toEqual(["@か", 1]);
    await commit("");
  });

  test.each(["看一下@", "見て＠", "한글@"])("opens the list of mentions behind a word: %s", async (text) => {
    await write(text);
    await list().waitFor({ state: "attached" });
  });

  test.each(["/", "／", "、"])("opens the list of commands with the sign of its keyboard: %s", async (sign) => {
    await panel().update({
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: "help", description: "List the commands" }],
    });
    await write(`${sign}he`);
    await list().waitFor();
    await panel().page.keyboard.press("Tab");
    await expect.poll(() => field().inputValue()).toBe("/help ");
  });

  test("answers a question by the Enter after the one that chose the word", async () => {
    await panel().feed({ kind: "question", requestId: "q1", message: "Which?", choices: [] });
    const input = panel().locator(".ask-card input");
    await input.focus();
    const before = posted().length;
    await compose("さん");
    await take("Enter");
    await commit("三");
    expect(posted().slice(before)).toEqual([]);
    await panel().locator(".ask-card button[type=submit]:enabled").waitFor();
    await panel().page.keyboard.press("Enter");
    await expect.poll(() => posted().at(-1)).toEqual({ type: "answer", requestId: "q1", text: "三" });
  });

  test("leaves the shortcuts of a Cyrillic keyboard their places", async () => {
    await field().focus();
    await keyboard.send("Input.dispatchKeyEvent", {
      type: "rawKeyDown",
      ...{ key: "а", code: "KeyF", windowsVirtualKeyCode: 70, modifiers: 2 },
    });
    await panel().page.getByRole("textbox", { name: "Find" }).waitFor();
    await panel().page.keyboard.press("Escape");
  });
});
