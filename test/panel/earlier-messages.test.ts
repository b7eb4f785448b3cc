import { beforeAll, describe, expect, test } from "vitest";
import { writeLongSession } from "../support/long-session.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";

/** Its tail, and two pages before it. */
const MESSAGES = 600;
const QUESTIONS = MESSAGES / 4;
/** Prompts and answers before the tail, as the panel says it. */
const EARLIER = "200 earlier messages";

/** Notes each frame in which the list grew by a page while a row that stayed in view changed its place. */
const WATCH_JUMPS = `(() => {
  const list = document.querySelector(".transcript");
  const watch = (globalThis.watch = { jumps: [], pages: 0 });
  const firstInView = () => {
    const { top } = list.getBoundingClientRect();
    const row = [...list.querySelectorAll(".row")].find((one) => one.getBoundingClientRect().top >= top);
    return row && { row, place: row.getBoundingClientRect().top, scrolled: list.scrollTop };
  };
  let height = list.scrollHeight;
  let first = firstInView();
  const frame = () => {
    const grown = list.scrollHeight - height;
    if (grown > 2_000) watch.pages += 1;
    if (grown > 2_000 && first?.row.isConnected) {
      // Scrolling that the page did not do itself is the user's.
      const moved = first.row.getBoundingClientRect().top - first.place;
      const scrolled = list.scrollTop - first.scrolled - grown;
      if (Math.abs(moved + scrolled) > 2) watch.jumps.push(moved + " for " + scrolled + " of " + grown);
    }
    height = list.scrollHeight;
    first = firstInView();
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()`;

const NEXT_FRAME = "new Promise((done) => requestAnimationFrame(done))";

// A long session is opened by its end; what is earlier comes a page at a time, and nothing that one reads moves.
describe("earlier messages of a long session", () => {
  const panel = usePanel(() =>
    openPanel({
      prepare: (place) => writeLongSession({ ...place, id: "20261101_120000_bbbbbbbb", messages: MESSAGES }),
    }),
  );

  beforeAll(async () => {
    await panel().runCommand("Hermes: Show Sessions");
    await panel().page.locator(".history-name", { hasText: "A long session" }).click();
    await answer(QUESTIONS).waitFor();
  });

  const log = () => panel().page.getByRole("log");
  const said = (text: string) => panel().page.locator(".row", { hasText: text });
  const answer = (number: number) => said(`Answer ${number}:`);
  const earlier = () => panel().page.getByRole("button", { name: /earlier message/i });
  const wheel = async (pixels: number): Promise<void> => {
    await log().hover();
    await panel().page.mouse.wheel(0, pixels);
  };
  /** Scrolls up by one frame's worth: less than the list's buffer, so that rows have their heights before they are in view. */
  const scrollUp = async (): Promise<void> => {
    await panel().page.mouse.wheel(0, -380);
    await panel().page.evaluate(NEXT_FRAME);
  };
  /** Numbers of the questions that are in the page, in order. */
  const questions = async (): Promise<number[]> => {
    const texts = await panel().page.locator(".user .bubble").allTextContents();
    return texts.map((text) => Number(/^Question (\d+):/.exec(text)?.[1]));
  };
  /** Place of the row that shows this text, and of how many. */
  const placeOf = (text: string): Promise<(string | null)[]> =>
    said(text).evaluate((row) => [row.getAttribute("aria-posinset"), row.getAttribute("aria-setsize")]);

  test("opening it shows its end and the number of earlier messages", async () => {
    expect(await panel().page.locator('.row[aria-setsize="-1"]').count()).toBeGreaterThan(0);
    // Far above what is in view, and there for the keyboard and a screen reader.
    await expect.poll(() => earlier().textContent()).toContain(EARLIER);
  });

  test("scrolling up loads all messages in order, and no visible message moves", async () => {
    await log().evaluate(WATCH_JUMPS);
    await log().hover();
    await expect
      .poll(
        async () => {
          await scrollUp();
          const inPage = await questions();
          const first = inPage[0] ?? Number.NaN;
          expect(inPage).toEqual(inPage.map((_, index) => first + index));
          return first;
        },
        { timeout: 100_000, interval: 1 },
      )
      .toBe(1);
    expect(await placeOf("Question 1:")).toEqual(["1", String(MESSAGES)]);
    expect(await placeOf("Question 2:")).toEqual(["5", String(MESSAGES)]);
    const watch = await log().evaluate(() => (globalThis as unknown as { watch: unknown }).watch);
    expect(watch).toEqual({ jumps: [], pages: expect.any(Number) });
    expect((watch as { pages: number }).pages).toBeGreaterThan(1);
    await panel().page.getByText("Beginning of the conversation").waitFor();
  });

  test("its beginning is marked", async () => {
    await expect
      .poll(async () => {
        await wheel(-5_000);
        return log().evaluate((list) => list.scrollTop);
      })
      .toBe(0);
    await panel().pictures("earlier-beginning");
  });

  test("loaded messages stay while the list of sessions is shown", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    await panel().page.getByRole("button", { name: "Back to the Conversation" }).click();
    await expect.poll(questions).toContain(1);
  });

  test("after a reload it shows its end again, and the keyboard loads earlier messages", async () => {
    await panel().reload();
    await answer(QUESTIONS).waitFor();
    await expect.poll(() => earlier().textContent()).toContain(EARLIER);
    await earlier().focus();
    await panel().page.keyboard.press("Enter");
    await expect.poll(() => earlier().textContent()).not.toContain("200");
    expect(await questions()).not.toContain(1);
  });
});

describe("a page of earlier messages that is slow or fails", () => {
  const panel = useFedPanel();

  test("is reported in its place, and can be requested again", async () => {
    const text = (words: string) => ({ content: { type: "text" as const, text: words } });
    const before = 5_001;
    await panel().update(
      { sessionUpdate: "session_info_update", _meta: { hermes: { earlier: { before, messages: 4_951 } } } },
      { sessionUpdate: "user_message_chunk", ...text("Where is the limit kept?") },
      { sessionUpdate: "agent_message_chunk", ...text("In `src/part.ts`, with a **note** on why.") },
    );
    await panel().page.getByText("Loading earlier messages…").waitFor();
    await panel().pictures("earlier-loading");
    await panel().feed({ kind: "earlier-failed", before, message: "The agent does not answer." });
    const requests = () => panel().posted.filter(({ type }) => type === "earlier").length;
    const asked = requests();
    const retry = panel().page.getByRole("button", { name: "Retry Earlier Messages" });
    await retry.waitFor();
    await panel().pictures("earlier-failed");
    await retry.click();
    await expect.poll(requests).toBe(asked + 1);
  });
});
