import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";
import { sweep } from "../support/scale.ts";

const SESSIONS = sweep(2_000, 800);

/** Types of the script in the browser, which this project's types do not contain. */
type ScrolledList = {
  scrollTop: number;
  readonly scrollHeight: number;
  querySelectorAll(of: string): { length: number };
};
type BrowserWindow = { requestAnimationFrame(step: (now: number) => void): number };

/** Scrolls to the end of the list until it has all; what three of four frames take at most, at first and at last. */
function frameTimes(list: ScrolledList, sessions: number): Promise<number[]> {
  const { requestAnimationFrame } = globalThis as unknown as BrowserWindow;
  return new Promise((resolve) => {
    const early: number[] = [];
    const late: number[] = [];
    let last = performance.now();
    const step = (now: number): void => {
      const count = list.querySelectorAll(".history-name").length;
      if (count < sessions / 4) early.push(now - last);
      if (count > sessions * 0.75) late.push(now - last);
      last = now;
      list.scrollTop = list.scrollHeight;
      const slowest = (frames: number[]): number =>
        frames.sort((one, other) => one - other)[Math.floor(frames.length * 0.75)] ?? 0;
      if (count < sessions) requestAnimationFrame(step);
      else resolve([slowest(early), slowest(late)]);
    };
    requestAnimationFrame(step);
  });
}

function writeSessions({ home }: { readonly home: string }): void {
  const folder = join(home, "vscode", "sessions");
  mkdirSync(folder, { recursive: true });
  for (let number = 0; number < SESSIONS; number += 1) {
    const id = `20261120_120000_${number.toString(16).padStart(8, "0")}`;
    const at = 1_790_000_000_000 + number * 60_000;
    const entries = [
      { type: "session", version: 1, id, cwd: "/elsewhere", at },
      { type: "title", title: `About subject${number}`, at },
      { type: "message", message: { role: "user", content: `what is subject${number}?` }, at },
      { type: "message", message: { role: "assistant", content: "A thing of many." }, at },
    ];
    const path = join(folder, `${id}.jsonl`);
    writeFileSync(path, `${entries.map((entry) => JSON.stringify(entry)).join("\n")}\n`);
    utimesSync(path, at / 1_000, at / 1_000);
  }
}

// The list of many sessions is shown while their index is built, goes on as it is scrolled, and stays smooth.
describe("many sessions in the panel", () => {
  const panel = usePanel(() => openPanel({ prepare: writeSessions }));

  const page = () => panel().page.getByRole("region", { name: "Sessions", exact: true });
  const rows = () => page().getByRole("listitem");

  test("the list shows sessions while the index is built, and all of them afterwards", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    await page().getByRole("checkbox", { name: "All Folders" }).check();
    await expect.poll(() => rows().count()).toBeGreaterThan(0);
    await expect.poll(() => page().getByText("The index is being built").count()).toBe(0);
    await expect
      .poll(() => page().locator(".history-title").first().textContent())
      .toBe(`About subject${SESSIONS - 1}`);
    expect(await page().locator(".history-facts").first().textContent()).toContain("2 messages");
  });

  test("scrolling loads page after page, to the end", async () => {
    const list = page().locator(".history-rows");
    const [early = 0, late = 0] = await list.evaluate(frameTimes, SESSIONS);
    process.stdout.write(`3 of 4 frames take at most ${early.toFixed(1)} ms at first, ${late.toFixed(1)} ms at last\n`);
    expect(await rows().count()).toBe(SESSIONS);
  });

  test("a search answers at once, and loads further results on scrolling", async () => {
    await page().getByRole("searchbox").fill("subject77");
    await expect.poll(() => page().locator(".history-title").first().textContent()).toBe("About subject779");
    await page().getByRole("searchbox").fill("subject");
    await expect.poll(() => rows().count()).toBeGreaterThanOrEqual(50);
    // The button goes away and comes back with each page.
    await page().locator(".history-rows").hover();
    await panel().page.mouse.wheel(0, 10_000);
    await expect.poll(() => rows().count()).toBeGreaterThan(50);
  });
});

describe("a list of sessions", () => {
  const panel = useFedPanel();

  test("a list that is loaded again requests its next page again", async () => {
    const session = { title: "About it", updatedAt: 0, messages: 1, costUsd: 0, isCurrent: false };
    const sessions = Array.from({ length: 60 }, (_, number) => ({ ...session, sessionId: `s${number}` }));
    const list = { query: "", everywhere: false, isArchive: false, isLoading: false, hasMore: true, sessions };
    const requested = () => panel().posted.filter(({ type }) => type === "history-more").length;
    await panel().tell({ type: "command", id: "list", command: { kind: "show-sessions" } });
    await panel().tell({ type: "history", update: { kind: "page", page: list } });
    await panel().page.getByRole("button", { name: "Show More" }).scrollIntoViewIfNeeded();
    await expect.poll(requested).toBeGreaterThan(0);
    const before = requested();
    await panel().tell({ type: "history", update: { kind: "page", page: { ...list, sessions: [...sessions] } } });
    await expect.poll(requested).toBeGreaterThan(before);
  });
});
