import { describe, expect, test } from "vitest";
import { writeLongSession } from "../support/long-session.ts";
import { say } from "../support/model-server/model-server.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { openPanel, useModelServer, usePanel } from "../support/panel/open-panel.ts";

const MESSAGES = 10_000;
const QUESTIONS = MESSAGES / 4;
/** Of the whole panel: with every entry drawn there would be some 150,000. */
const MAX_NODES = 1_500;
/** More pixels than any conversation here is high. */
const FAR = 2_000_000;

// A conversation of thousands of messages: its end at once, all of it within reach, a few rows in the page.
describe("a very long conversation", () => {
  const panel = usePanel(() =>
    openPanel({
      prepare: (place) => writeLongSession({ ...place, id: "20261101_120000_aaaaaaaa", messages: MESSAGES }),
    }),
  );

  const log = () => panel().page.getByRole("log");
  const said = (text: string) => panel().page.locator(".row", { hasText: text });
  const question = (number: number) => said(`Question ${number}:`);
  const answer = (number: number) => said(`Answer ${number}:`);
  const jump = () => panel().page.getByRole("button", { name: "Jump to the Latest" });
  const bubbles = () => panel().bubbles();
  const wheel = async (pixels: number): Promise<void> => {
    await log().hover();
    await panel().page.mouse.wheel(0, pixels);
  };
  /** Settles when the list stands still: rows are measured as they come into view. */
  const rest = async (): Promise<void> => {
    const place = () => log().evaluate((list) => list.scrollTop);
    let before = Number.NaN;
    const moved = async (): Promise<number> => {
      const now = await place();
      const by = now - before;
      before = now;
      return by;
    };
    await expect.poll(moved).toBe(0);
  };
  const isInView = (row: ReturnType<typeof said>): Promise<boolean> =>
    row.evaluate((element) => {
      const list = element.closest(".transcript")?.getBoundingClientRect();
      const { top, bottom } = element.getBoundingClientRect();
      return list !== undefined && bottom > list.top && top < list.bottom;
    });
  /** Turned while the list is still on its way to another place, the wheel alone does not get it away from there. */
  const wheelAway = async (pixels: number, row: ReturnType<typeof said>): Promise<void> => {
    const isGone = async (): Promise<boolean> => {
      if (await isInView(row)) await wheel(pixels);
      return !(await isInView(row));
    };
    await expect.poll(isGone).toBe(true);
  };

  test("opened from the history, it shows its end and renders few other rows", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    const name = panel().page.locator(".history-name", { hasText: "A long session" });
    await name.waitFor();
    await name.click();
    await answer(QUESTIONS).waitFor();
    await expect.poll(() => isInView(answer(QUESTIONS))).toBe(true);
    expect(await panel().page.locator("*").count()).toBeLessThan(MAX_NODES);
    await panel().pictures("long-end");
  });

  test("Home shows the first message, with its position for screen readers, and End the last", async () => {
    await log().focus();
    await panel().page.keyboard.press("Home");
    await expect.poll(() => panel().page.locator(".row:focus").getAttribute("aria-posinset")).toBe("1");
    await expect.poll(() => isInView(question(1))).toBe(true);
    expect(await question(1).getAttribute("aria-setsize")).toBe(String(MESSAGES));
    await jump().waitFor();
    await panel().pictures("long-start");
    await question(1).focus();
    await panel().page.keyboard.press("Alt+ArrowDown");
    await expect.poll(() => panel().page.locator(".row:focus").getAttribute("aria-posinset")).toBe("2");
    await panel().page.keyboard.press("End");
    await expect.poll(() => panel().page.locator(".row:focus").getAttribute("aria-posinset")).toBe(String(MESSAGES));
    await expect.poll(() => isInView(answer(QUESTIONS))).toBe(true);
    await jump().waitFor({ state: "detached" });
  });

  test("the wheel reaches the first message, and one click the end", async () => {
    await expect
      .poll(async () => {
        await wheel(-FAR);
        return question(1).count();
      })
      .toBe(1);
    await expect.poll(() => isInView(question(1))).toBe(true);
    expect(await panel().page.locator("*").count()).toBeLessThan(MAX_NODES);
    await jump().click();
    await expect.poll(() => isInView(answer(QUESTIONS))).toBe(true);
    await jump().waitFor({ state: "detached" });
  });

  test("an opened card and a half-written edit survive while their rows are not rendered", async () => {
    await log().focus();
    await panel().page.keyboard.press("Home");
    const card = panel().page.locator('[data-tool-call="call-1"]');
    await card.getByRole("button").first().click();
    await card.getByText("const value0").waitFor();
    await question(1).hover();
    await question(1).getByRole("button", { name: "Edit Message and Send It Again" }).click();
    await panel().page.getByRole("textbox", { name: "Message to send again" }).fill("list the files, but");
    await panel().composer.focus();
    await jump().click();
    await card.waitFor({ state: "detached" });
    expect(await panel().page.getByRole("textbox", { name: "Message to send again" }).count()).toBe(0);
    await log().focus();
    await panel().page.keyboard.press("Home");
    await card.getByText("const value0").waitFor();
    const field = panel().page.getByRole("textbox", { name: "Message to send again" });
    await expect.poll(() => field.inputValue()).toBe("list the files, but");
    await panel().pictures("long-edit");
    await field.press("Escape");
  });

  test("the reading place is kept while the list of sessions is shown", async () => {
    await log().focus();
    await panel().page.keyboard.press("Home");
    await expect.poll(() => isInView(question(1))).toBe(true);
    // A scrollable card under the pointer takes the first turn of the wheel.
    await expect
      .poll(async () => {
        await wheel(1_500);
        return answer(1).count();
      })
      .toBe(0);
    await rest();
    const keys = await panel()
      .page.locator(".row")
      .evaluateAll((rows) => {
        const inView = rows.filter((row) => row.getBoundingClientRect().top > 200);
        return inView.map((row) => row.getAttribute("data-entry"));
      });
    const row = panel().page.locator(`[data-entry="${keys[0]}"]`);
    const before = (await row.boundingBox())?.y ?? Number.NaN;
    await panel().runCommand("Hermes: Show Sessions");
    await panel().page.getByRole("button", { name: "Back to the Conversation" }).click();
    await expect.poll(async () => Math.abs(((await row.boundingBox())?.y ?? 0) - before)).toBeLessThan(2);
  });

  test("a focused element that is scrolled out of view keeps the focus", async () => {
    await log().focus();
    await panel().page.keyboard.press("Home");
    const summary = panel().page.locator('[data-tool-call="call-1"] .fold-summary');
    await summary.focus();
    await wheelAway(60_000, summary);
    await expect.poll(() => summary.evaluate((element) => element.matches(":focus"))).toBe(true);
  });

  test("a selection is copied whole, with its entries that are not rendered", async () => {
    await log().focus();
    await panel().page.keyboard.press("Home");
    await question(1)
      .locator(".bubble")
      .click({ position: { x: 12, y: 12 } });
    await wheelAway(20_000, question(1));
    const end = Number(/\d+/.exec((await bubbles()).at(-1) ?? "")?.[0]);
    await question(end)
      .locator(".bubble")
      .click({ modifiers: ["Shift"], position: { x: 60, y: 12 } });
    await panel().page.keyboard.press("ControlOrMeta+c");
    await panel().composer.focus();
    await panel().page.keyboard.press("ControlOrMeta+v");
    // A long pasted text is a chip at first.
    await panel().page.getByRole("button", { name: "Insert as Text Instead" }).click();
    await expect.poll(() => panel().composer.inputValue()).toContain(`Answer ${end - 1}:`);
    const copied = await panel().composer.inputValue();
    await panel().composer.fill("");
    expect(end).toBeGreaterThan(20);
    for (let number = 2; number < end; number += 1) expect(copied).toContain(`Answer ${number}:`);
  });

  test("it is forked from one of its first messages", async () => {
    await log().focus();
    await panel().page.keyboard.press("Home");
    await question(2).hover();
    await question(2).getByRole("button", { name: "Fork the Session Before This Message" }).click();
    await expect.poll(() => panel().composer.inputValue()).toBe("Question 2: what does part 2 do?");
    await expect.poll(bubbles).toEqual(["Question 1: what does part 1 do?"]);
    await panel().composer.fill("");
  });

  test("editing its first message sends it again and removes all later messages", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    // Not its fork, which is called "A long session (2)".
    await panel().page.locator(".history-name", { hasText: "A long session", hasNotText: "(2)" }).click();
    await answer(QUESTIONS).waitFor();
    await log().focus();
    await panel().page.keyboard.press("Home");
    await question(1).hover();
    await question(1).getByRole("button", { name: "Edit Message and Send It Again" }).click();
    const field = panel().page.getByRole("textbox", { name: "Message to send again" });
    await field.fill("list the files");
    await field.press("Enter");
    await expect.poll(bubbles).toEqual(["list the files"]);
    await answer(1).waitFor({ state: "detached" });
  });
});

describe("a very long answer", () => {
  const model = useModelServer();
  const panel = usePanel(() => openPanel({ model: model() }));
  const PARAGRAPHS = 3_000;
  const paragraph = (number: number) => panel().page.getByText(`Part ${number} of the *`, { exact: true });
  const scrollTo = (place: number) =>
    panel()
      .page.locator(".transcript")
      .evaluate((list, top) => list.scrollTo(0, top), place);

  test("keeps only its blocks near the view in the page, and its height", async () => {
    const text = Array.from({ length: PARAGRAPHS }, (_, index) => `Part ${index} of the \\*`).join("\n\n");
    model().script(say(text));
    await panel().send("say much");
    await panel().idle();
    await paragraph(PARAGRAPHS - 1).waitFor();
    const nodes = () => panel().page.locator("*").count();
    await expect.poll(nodes).toBeLessThan(MAX_NODES);
    const height = () =>
      panel()
        .page.locator(".markdown")
        .last()
        .evaluate((answer) => answer.clientHeight);
    const before = await height();
    expect(before).toBeGreaterThan(PARAGRAPHS * 15);
    expect(await paragraph(1_000).count()).toBe(0);
    await scrollTo(0);
    await paragraph(0).waitFor();
    await expect.poll(() => paragraph(PARAGRAPHS - 1).count()).toBe(0);
    await expect.poll(nodes).toBeLessThan(MAX_NODES);
    expect(Math.abs((await height()) - before)).toBeLessThan(2);
  });

  test("is copied from the caret to a click far below, with its blocks that are not in the page", async () => {
    const { page, composer } = panel();
    // In the middle of the line, which is after the text.
    await paragraph(0).click();
    await scrollTo(FAR);
    await paragraph(PARAGRAPHS - 1).click({ modifiers: ["Shift"] });
    expect(await paragraph(1_000).count()).toBe(0);
    await page.keyboard.press("ControlOrMeta+c");
    await composer.focus();
    await page.keyboard.press("ControlOrMeta+v");
    await page.getByRole("button", { name: "Insert as Text Instead" }).click();
    await expect.poll(() => composer.inputValue()).toContain(`Part ${PARAGRAPHS - 1} of the *`);
    const lines = (await composer.inputValue()).split("\n").filter((line) => line.startsWith("Part "));
    expect(lines).toEqual(Array.from({ length: PARAGRAPHS - 1 }, (_, index) => `Part ${index + 1} of the *`));
    await expect.poll(() => page.locator("*").count()).toBeLessThan(MAX_NODES);
  });
});

describe("a message that the user sends from far above the end", () => {
  const panel = useFedPanel();

  test("is scrolled to, even when its first tool call arrives with it", async () => {
    const text = (words: string) => ({ content: { type: "text" as const, text: words } });
    const talk = Array.from({ length: 60 }, (_, index) => [
      { sessionUpdate: "user_message_chunk" as const, ...text(`Question ${index}?`) },
      { sessionUpdate: "agent_message_chunk" as const, ...text(`Answer ${index}.\n\n- one\n- two`) },
    ]).flat();
    await panel().update(...talk);
    const log = panel().page.getByRole("log");
    await log.getByText("Answer 59.").waitFor();
    await log.hover();
    await panel().page.mouse.wheel(0, -3_000);
    await panel().page.getByRole("button", { name: "Jump to the Latest" }).waitFor();
    await panel().update(
      { sessionUpdate: "user_message_chunk", ...text("Run the tests") },
      { sessionUpdate: "tool_call", toolCallId: "t1", title: "npm test", kind: "execute", status: "in_progress" },
    );
    await log.locator('[data-tool-call][data-status="in_progress"]').waitFor();
    await panel().page.getByRole("button", { name: "Jump to the Latest" }).waitFor({ state: "detached" });
  });
});
