import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";

// Stored sessions: found, opened, renamed, forked and deleted in the panel; and what was said can be said otherwise.
/** It takes a second to stop it. */
const STUBBORN = "run `trap '' TERM; sleep 600`";

/** True when the actions of a message lie over its first line. */
const COVERED = `(() => {
  const line = document.createRange();
  line.selectNodeContents(document.querySelector(".bubble"));
  return document.querySelector(".message-actions").getBoundingClientRect().bottom > line.getBoundingClientRect().top;
})()`;

describe("sessions in the panel", () => {
  const panel = usePanel(() => openPanel());

  const page = () => panel().page.getByRole("region", { name: "Sessions", exact: true });
  const rows = () => page().getByRole("listitem");
  const names = () => page().locator(".history-title").allTextContents();
  const bubbles = () => panel().bubbles();
  const locks = () => readdirSync(join(panel().home, "vscode", "sessions")).filter((name) => name.endsWith(".lock"));
  const say = async (text: string, answer: string): Promise<void> => {
    await panel().send(text);
    await panel().page.getByText(answer).last().waitFor();
    await panel().idle();
  };

  test("without a stored session the list says so", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    await page().getByText("No sessions in this folder yet.").waitFor();
    await panel().pictures("history-empty");
    await page().getByRole("searchbox").fill("average");
    await page().getByText("Nothing found in this folder.").waitFor();
    await panel().pictures("history-nothing-found");
    await page().getByRole("button", { name: "All Folders" }).click();
    await page().getByText("Nothing found.").waitFor();
    await page().getByRole("checkbox", { name: "All Folders" }).uncheck();
    await panel().page.keyboard.press("Escape");
  });

  test("the list is there again after a reload of the window", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    await page().getByText("No sessions in this folder yet.").waitFor();
    await panel().reload();
    await page().getByText("No sessions in this folder yet.").waitFor();
    await panel().page.keyboard.press("Escape");
  });

  test("editing a message sends it again and removes the messages after it", async () => {
    await say("read a.txt", "three");
    await say("list the files", "a.txt");
    await panel().page.locator(".user").first().hover();
    await panel().pictures("message-actions");
    expect(await panel().page.evaluate(COVERED)).toBe(false);
    await panel().page.getByRole("button", { name: "Edit Message and Send It Again" }).first().click();
    const field = panel().page.getByRole("textbox", { name: "Message to send again" });
    await panel().pictures("message-edit");
    await field.fill("list the files");
    await field.press("Enter");
    await expect.poll(bubbles).toEqual(["list the files"]);
    await panel().page.getByText("a.txt").last().waitFor();
    await panel().idle();
    await panel().reload();
    await expect.poll(bubbles).toEqual(["list the files"]);
    await panel().page.getByRole("button", { name: "Try Again", exact: true }).waitFor();
  });

  test("a fork has the messages before the chosen one, and that one in the composer", async () => {
    await say("read a.txt", "three");
    await panel().page.locator(".user").last().hover();
    await panel().page.getByRole("button", { name: "Fork the Session Before This Message" }).last().click();
    await expect.poll(() => panel().composer.inputValue()).toBe("read a.txt");
    await expect.poll(bubbles).toEqual(["list the files"]);
    await panel().composer.press("Enter");
    await expect.poll(bubbles).toEqual(["list the files", "read a.txt"]);
  });

  test("a message sent while a new session begins belongs to the new session, and the running turn continues", async () => {
    await panel().send(STUBBORN);
    await panel().toolCalls("in_progress").last().waitFor();
    await panel().composer.fill("search two");
    await panel().runCommand("Hermes: New Session");
    await panel().composer.press("Enter");
    // Which of the two VS Code carries out first is open: it is said in the new session, or waits there to be.
    const unsent = () => panel().composer.inputValue();
    await expect.poll(async () => [...(await bubbles()), await unsent()].filter(Boolean)).toEqual(["search two"]);
    if ((await unsent()) !== "") await panel().composer.press("Enter");
    await expect.poll(bubbles).toEqual(["search two"]);
    await panel().page.getByText("a.txt").last().waitFor();
    await panel().idle();
    await panel().page.locator(".background-line", { hasText: "is working" }).click();
    await panel().page.getByRole("button", { name: "Stop" }).click();
    await panel().idle();
    await panel().runCommand("Hermes: Show Sessions");
    await rows().filter({ hasText: "search two" }).locator(".history-name").click();
    await expect.poll(bubbles).toEqual(["search two"]);
  });

  test("the list shows the last used sessions first, and opens one", async () => {
    await say("read a.txt", "three");
    // The idle sessions that were left are closed: only the open one is locked.
    await expect.poll(locks).toHaveLength(1);
    await panel().runCommand("Hermes: Show Sessions");
    // The rows of the last look at the list stay until the new ones are there.
    await expect.poll(async () => (await names())[0]).toContain("search two");
    expect(await rows().count()).toBe(3);
    await rows().nth(1).hover();
    await panel().pictures("history");
    await page().locator(".history-name").nth(1).click();
    await page().waitFor({ state: "detached" });
    await expect.poll(bubbles).toEqual(["list the files", "read a.txt", STUBBORN]);
    await panel().page.locator(".composer textarea:focus").waitFor();
    // The one that was left may be open in another window now.
    await expect.poll(locks).toEqual([]);
  });

  test("the list works by keyboard alone, and Escape returns to the conversation", async () => {
    const { keyboard } = panel().page;
    await panel().runCommand("Hermes: Show Sessions");
    await expect.poll(() => rows().count()).toBe(3);
    // The list takes the focus by itself, once the palette has given it back.
    await expect.poll(() => panel().page.locator("input[type=search]:focus").count()).toBe(1);
    await keyboard.press("ArrowDown");
    await panel().page.locator(".history-name:focus").waitFor();
    await keyboard.press("ArrowDown");
    await expect.poll(() => panel().page.locator(":focus .history-title").textContent()).toBe((await names())[1]);
    await keyboard.press("ArrowUp");
    await expect.poll(() => panel().page.locator(":focus .history-title").textContent()).toBe((await names())[0]);
    await keyboard.press("Escape");
    await page().waitFor({ state: "detached" });
    await panel().page.locator(".composer textarea:focus").waitFor();
  });

  test("a session is renamed in its row, and found by its new name and its messages", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    await expect.poll(() => rows().count()).toBe(3);
    await page().locator(".history-name").first().press("F2");
    await page().getByRole("textbox", { name: "Title of the session" }).fill("Where is two");
    await panel().page.keyboard.press("Enter");
    await expect.poll(async () => (await names())[0]).toBe("Where is two");
    await page().getByRole("searchbox").fill("where two");
    await expect.poll(async () => [(await names())[0], (await names()).length]).toEqual(["Where is two", 2]);
    await page().getByRole("searchbox").fill("list fil"); // not typed to its end
    await page().locator("mark").first().waitFor();
    await panel().pictures("history-search");
    await page().getByRole("button", { name: "Back to the Conversation" }).click();
  });

  test("a pinned session is on top, and an archived one only under Archived", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    const names = panel().page.locator(".history-name");
    await expect.poll(() => rows().count()).toBe(3);
    const [first, second] = await panel().page.locator(".history-title").allInnerTexts();
    await names.nth(1).press("p");
    await panel().page.getByRole("heading", { name: "Pinned" }).waitFor();
    expect(await names.first().innerText()).toContain(second);
    await names.nth(1).focus();
    await panel().pictures("history-pinned");
    await names.nth(1).press("e");
    const shown = panel().page.locator(".history-title", { hasText: first ?? "" });
    await shown.waitFor({ state: "detached" });
    await panel().page.getByRole("checkbox", { name: "Archived" }).check();
    await shown.waitFor();
    await panel().pictures("history-archived");
    await names.first().press("e");
    await panel().page.getByText("No archived sessions in this folder.").waitFor();
    await panel().page.keyboard.press("Escape");
  });

  test("a session is deleted after a confirmation", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    await expect.poll(() => rows().count()).toBe(3);
    const [first, second, third] = await names();
    await page().locator(".history-name").nth(2).press("Delete");
    await panel().pictures("history-delete");
    await page().getByRole("button", { name: "Delete", exact: true }).click();
    await expect.poll(names).toEqual([first, second]);
    expect([first, second]).not.toContain(third);
    // The focus moves to the neighbour, so that keyboard users can continue.
    await expect.poll(() => panel().page.locator(":focus .history-title").textContent()).toBe(second);
  });

  test("deleting the open session and pressing Escape shows a new session", async () => {
    const others = await page().locator(".history-row:not(.history-current) .history-title").allTextContents();
    await page().locator(".history-current .history-name").press("Delete");
    await panel().page.getByRole("button", { name: "Keep", exact: true }).press("Shift+Tab");
    await panel().page.keyboard.press("Enter");
    await expect.poll(names).toEqual(others);
    await panel().page.locator("input[type=search]:focus").waitFor();
    await panel().page.keyboard.press("Escape");
    await page().waitFor({ state: "detached" });
    await expect.poll(bubbles).toEqual([]);
  });

  test("queued messages stay with their session, and typed text stays in the composer", async () => {
    await panel().runCommand("Hermes: New Session");
    await panel().send(STUBBORN);
    await panel().toolCalls("in_progress").last().waitFor();
    await panel().send("list the files");
    await panel().page.locator("[data-row]").waitFor();
    await panel().composer.fill("search two");
    await panel().runCommand("Hermes: New Session");
    await expect.poll(bubbles).toEqual([]);
    expect(await panel().composer.inputValue()).toBe("search two");
    await panel().page.locator(".background-line", { hasText: "is working" }).click();
    await panel().page.locator("[data-row]").getByText("list the files").waitFor();
    await panel().composer.fill("read a.txt");
    // A panel that is drawn anew gets everything again, and leaves what was typed since.
    await panel().hideAndShow();
    await expect.poll(() => panel().composer.inputValue()).toBe("read a.txt");
    await panel().composer.fill("");
  });

  test("a plan whose document is lost with the window leaves no button to the next document", async () => {
    await panel().runCommand("Hermes: New Session");
    await expect.poll(bubbles).toEqual([]);
    await panel().send("/mode plan");
    await say("list the files", "a.txt");
    await panel().page.getByRole("button", { name: "Edit the Plan" }).click();
    await expect.poll(() => panel().context("hermes.planPaths")).toEqual(["Untitled-1"]);
    await panel().reload();
    expect(panel().context("hermes.planPaths")).toEqual([]);
  });
});
