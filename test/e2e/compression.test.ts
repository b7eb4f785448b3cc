import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

// A summary stands for older messages; in the panel they stay, folded away under one line.
describe("a compressed conversation", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "compression" });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  const line = () => window.panel.getByRole("button", { name: /messages summarised/ });
  const bubbles = () => window.panel.locator(".user .bubble").allTextContents();
  const pictures = async (name: string): Promise<void> => {
    for (const theme of ["light", "dark"] as const) {
      await window.setTheme(theme);
      await window.setSideBarWidth(320);
      await window.screenshot(name);
    }
  };

  test("older messages are folded under one line that opens to them", async () => {
    for (const prompt of ["read a.txt", "list the files", "search two", "read a.txt", "list the files"]) {
      await window.send(prompt);
      await window.panel.locator('.send-button[aria-label="Stop"]').waitFor({ state: "detached" });
    }
    await window.send("/compress");
    await line().waitFor();
    await expect.poll(async () => (await bubbles()).length).toBeLessThan(6);
    await pictures("compressed");
    await line().click();
    await expect.poll(bubbles).toContain("search two");
    await pictures("compressed-open");
    await line().click();
    await expect.poll(bubbles).not.toContain("search two");
  });

  test("it is so after a reload, too", async () => {
    await window.reload();
    await window.openPanel();
    await line().waitFor();
    expect(await bubbles()).not.toContain("search two");
  });
});
