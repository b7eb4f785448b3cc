import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

// Stored sessions: found, opened, renamed, forked and deleted in the panel; and what was said can be said otherwise.
/** It takes a second to stop it. */
const STUBBORN = "run `trap '' TERM; sleep 600`";

describe("sessions in the panel", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "history" });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  const page = () => window.panel.getByRole("region", { name: "Sessions" });
  const rows = () => page().getByRole("listitem");
  const names = () => page().locator(".history-title").allTextContents();
  const bubbles = () => window.panel.locator(".user .bubble").allTextContents();
  const say = async (text: string, answer: string): Promise<void> => {
    await window.send(text);
    await window.panel.getByText(answer).last().waitFor();
    await window.panel.locator('.send-button[aria-label="Stop"]').waitFor({ state: "detached" });
  };
  const pictures = async (name: string): Promise<void> => {
    for (const theme of ["light", "dark"] as const) {
      await window.setTheme(theme);
      await window.setSideBarWidth(320);
      await window.screenshot(name);
    }
  };

  test("a message is changed and sent again, and what followed it is gone", async () => {
    await say("read a.txt", "three");
    await say("list the files", "a.txt");
    await window.panel.locator(".user").first().hover();
    await pictures("message-actions");
    await window.panel.getByRole("button", { name: "Edit message and send it again" }).first().click();
    const field = window.panel.getByRole("textbox", { name: "Message to send again" });
    await pictures("message-edit");
    await field.fill("list the files");
    await field.press("Enter");
    await expect.poll(bubbles).toEqual(["list the files"]);
    await window.reload();
    await window.openPanel();
    await expect.poll(bubbles).toEqual(["list the files"]);
  });

  test("a fork begins with what was said before a message, which waits in the composer", async () => {
    await say("read a.txt", "three");
    await window.panel.locator(".user").last().hover();
    await window.panel.getByRole("button", { name: "Fork the session before this message" }).last().click();
    await expect.poll(() => window.composer.inputValue()).toBe("read a.txt");
    await expect.poll(bubbles).toEqual(["list the files"]);
    await window.composer.press("Enter");
    await expect.poll(bubbles).toEqual(["list the files", "read a.txt"]);
  });

  test("what is sent while a new session takes the place of a running turn is said in the new one", async () => {
    await window.send(STUBBORN);
    await window.toolCalls("in_progress").last().waitFor();
    await window.composer.fill("search two");
    await window.runCommand("Hermes: New Session");
    await window.composer.press("Enter");
    // Which of the two VS Code carries out first is open: it is said in the new session, or waits there to be.
    const unsent = () => window.composer.inputValue();
    await expect.poll(async () => [...(await bubbles()), await unsent()].filter(Boolean)).toEqual(["search two"]);
    if ((await unsent()) !== "") await window.composer.press("Enter");
    await expect.poll(bubbles).toEqual(["search two"]);
    await window.panel.getByText("a.txt").last().waitFor();
    await window.panel.locator('.send-button[aria-label="Stop"]').waitFor({ state: "detached" });
  });

  test("the list shows what was used last, and opens it", async () => {
    await window.runCommand("Hermes: Show Sessions");
    await expect.poll(() => rows().count()).toBe(3);
    expect((await names())[0]).toContain("search two");
    await rows().nth(1).hover();
    await pictures("history");
    await page().locator(".history-name").nth(1).click();
    await page().waitFor({ state: "detached" });
    await expect.poll(bubbles).toEqual(["list the files", "read a.txt", STUBBORN]);
    // The one that was left may be opened in another window by now.
    const stored = () => readdirSync(join(window.home, "vscode", "sessions"));
    await expect.poll(() => stored().filter((name) => name.endsWith(".lock"))).toEqual([]);
  });

  test("the keyboard alone moves in the list, and Escape leads back", async () => {
    const { keyboard } = window.page;
    await window.runCommand("Hermes: Show Sessions");
    await expect.poll(() => rows().count()).toBe(3);
    // The list takes the focus by itself, once the palette has given it back.
    await expect.poll(() => window.panel.locator("input[type=search]:focus").count()).toBe(1);
    await keyboard.press("ArrowDown");
    await window.panel.locator(".history-name:focus").waitFor();
    await keyboard.press("ArrowDown");
    await expect.poll(() => window.panel.locator(":focus .history-title").textContent()).toBe((await names())[1]);
    await keyboard.press("ArrowUp");
    await expect.poll(() => window.panel.locator(":focus .history-title").textContent()).toBe((await names())[0]);
    await keyboard.press("Escape");
    await page().waitFor({ state: "detached" });
  });

  test("a session is renamed in its place, found by its new name and by what was said in it", async () => {
    await window.runCommand("Hermes: Show Sessions");
    await expect.poll(() => rows().count()).toBe(3);
    await page().locator(".history-name").first().press("F2");
    await page().getByRole("textbox", { name: "Title of the session" }).fill("Where is two");
    await window.page.keyboard.press("Enter");
    await expect.poll(async () => (await names())[0]).toBe("Where is two");
    await page().getByRole("searchbox").fill("where two");
    await expect.poll(async () => [(await names())[0], (await names()).length]).toEqual(["Where is two", 2]);
    await page().getByRole("searchbox").fill("list fil"); // not typed to its end
    await page().locator("mark").first().waitFor();
    await pictures("history-search");
    await page().getByRole("button", { name: "Back to the conversation" }).click();
  });

  test("a session is exported into a file that the user names", async () => {
    await window.runCommand("Hermes: Export Session…");
    await window.quickInput.getByText("Markdown", { exact: true }).click();
    const field = window.quickInput.locator("input").first();
    await expect.poll(() => field.inputValue()).toContain(".md");
    await field.press("Enter");
    await window.page.locator(".tab.active", { hasText: ".md" }).first().waitFor();
  });

  test("a session is deleted after a question", async () => {
    await window.runCommand("Hermes: Show Sessions");
    await expect.poll(() => rows().count()).toBe(3);
    const [first, second, third] = await names();
    await page().locator(".history-name").nth(2).press("Delete");
    await pictures("history-delete");
    await page().getByRole("button", { name: "Delete", exact: true }).click();
    await expect.poll(names).toEqual([first, second]);
    expect([first, second]).not.toContain(third);
    // Whoever works with the keyboard goes on beside it.
    await expect.poll(() => window.panel.locator(":focus .history-title").textContent()).toBe(second);
  });

  test("the session that is open is deleted, and Escape leads to a new one", async () => {
    const [first, second] = await names();
    await page().locator(`.history-row[data-row]:has-text("${second}") .history-name`).press("Delete");
    await window.panel.getByRole("button", { name: "Keep", exact: true }).press("Shift+Tab");
    await window.page.keyboard.press("Enter");
    await expect.poll(names).toEqual([first]);
    await window.panel.locator("input[type=search]:focus").waitFor();
    await window.page.keyboard.press("Escape");
    await page().waitFor({ state: "detached" });
    await expect.poll(bubbles).toEqual([]);
  });

  test("what waits in the queue when a new session is begun waits in its composer, before what is typed there", async () => {
    await window.runCommand("Hermes: New Session");
    await window.send(STUBBORN);
    await window.toolCalls("in_progress").last().waitFor();
    await window.send("list the files");
    await window.panel.locator("[data-row]").waitFor();
    await window.composer.fill("search two");
    await window.runCommand("Hermes: New Session");
    await expect.poll(() => window.composer.inputValue()).toBe("list the files\n\nsearch two");
    await window.composer.fill("read a.txt");
    // A panel that is drawn anew gets everything again, and leaves what was typed since.
    await window.runCommand("View: Toggle Secondary Side Bar Visibility");
    await window.composer.waitFor({ state: "detached" });
    await window.openPanel();
    await expect.poll(() => window.composer.inputValue()).toBe("read a.txt");
    await window.composer.fill("");
  });
});
