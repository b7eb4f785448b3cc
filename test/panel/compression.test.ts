import { describe, expect, test } from "vitest";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";

// A summary stands for older messages; in the panel they stay, folded away under one line.
describe("a compressed conversation", () => {
  const panel = usePanel(() => openPanel());

  const line = () => panel().page.getByRole("button", { name: /messages summarised/ });
  const bubbles = () => panel().bubbles();
  const meter = () => panel().page.getByRole("button", { name: /^Context: / });
  const contents = () => panel().page.getByRole("dialog", { name: "Context window" });

  test("the meter's page compresses, and older messages are folded under one line that opens to them", async () => {
    for (const prompt of ["read a.txt", "list the files", "search two", "read a.txt", "list the files"]) {
      await panel().send(prompt);
      await panel().idle();
    }
    await meter().focus();
    await panel().page.keyboard.press("Enter");
    await contents().getByText("System prompt").waitFor();
    await panel().page.keyboard.press("Escape");
    await contents().waitFor({ state: "detached" });
    expect(await meter().evaluate((element) => element.matches(":focus"))).toBe(true);
    await meter().click();
    await panel().pictures("context-meter");
    for (const direction of ["rtl", "ltr"]) {
      await panel()
        .page.locator("html")
        .evaluate((html, dir) => html.setAttribute("dir", dir), direction);
      await panel().setWidth(200);
      expect(await panel().page.locator("body").evaluate(TOO_WIDE), direction).toEqual([]);
    }
    await panel().setWidth(320);
    await contents().getByRole("button", { name: "Compress Now" }).click();
    await contents().waitFor({ state: "detached" });
    await line().waitFor();
    await expect.poll(async () => (await bubbles()).length).toBeLessThan(6);
    await panel().pictures("compressed");
    await line().click();
    await expect.poll(bubbles).toContain("search two");
    await panel().pictures("compressed-open");
    await line().click();
    await expect.poll(bubbles).not.toContain("search two");
  });

  test("the fold is kept over a reload", async () => {
    await panel().reload();
    await line().waitFor();
    expect(await bubbles()).not.toContain("search two");
  });
});
