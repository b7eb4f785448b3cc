import { describe, expect, test } from "vitest";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";

// A summary stands for older messages; in the panel they stay, folded away under one line.
describe("a compressed conversation", () => {
  const panel = usePanel(() => openPanel());

  const line = () => panel().page.getByRole("button", { name: /messages summarised/ });
  const bubbles = () => panel().bubbles();

  test("older messages are folded under one line that opens to them", async () => {
    for (const prompt of ["read a.txt", "list the files", "search two", "read a.txt", "list the files"]) {
      await panel().send(prompt);
      await panel().idle();
    }
    await panel().send("/compress");
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
