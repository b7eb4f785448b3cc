import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";

// Messages that the user types during a turn: queued visibly, sent into the turn, or replacing it.
describe("messages typed while a turn runs", () => {
  const panel = usePanel(() => openPanel());

  const queue = () => panel().page.getByRole("list", { name: "Queued messages" });
  const field = () => queue().getByRole("textbox", { name: "Queued message" });
  const order = () => queue().locator("li .tool-title").allTextContents();
  const focused = () => panel().page.locator(":focus").getAttribute("aria-label");
  const type = async (text: string): Promise<void> => {
    await panel().composer.fill(text);
    await panel().composer.press("Enter");
  };
  /** Starts a command that ends as soon as `file` is there. */
  const startWaitingFor = async (file: string): Promise<void> => {
    await panel().send(`run until test -e ${file}; do sleep 0.1; done`);
    await panel().page.getByText(`until test -e ${file}`).first().waitFor();
  };

  test("a queued message is visible, and can be edited and removed", async () => {
    await startWaitingFor("first");
    await type("read a.txt");
    await type("list the files");
    await queue().getByText("read a.txt").waitFor();
    await panel().pictures("queue");
    await queue().getByRole("button", { name: "Edit Queued Message" }).first().click();
    await field().fill("read b.txt");
    await panel().pictures("queue-edit");
    await field().press("Enter");
    await queue().getByText("read b.txt").waitFor();
    await queue().getByRole("button", { name: "Remove Queued Message" }).first().click();
    await expect.poll(() => queue().getByRole("listitem").count()).toBe(1);
  });

  test("a queued message is moved, edited, left unchanged and removed by keyboard alone", async () => {
    const { keyboard } = panel().page;
    await type("read a.txt");
    await expect.poll(order).toEqual(["list the files", "read a.txt"]);
    await panel().composer.press("ArrowUp");
    await keyboard.press("ArrowUp");
    await expect.poll(order).toEqual(["read a.txt", "list the files"]);
    await expect.poll(focused).toBe("Move Queued Message, 1 of 2");
    await keyboard.press("ArrowDown");
    await expect.poll(order).toEqual(["list the files", "read a.txt"]);
    await expect.poll(focused).toBe("Move Queued Message, 2 of 2");
    await queue().getByRole("button", { name: "Edit Queued Message" }).last().press("Enter");
    await field().press("Shift+Enter");
    await keyboard.type("and b.txt");
    await keyboard.press("Escape");
    await expect.poll(order).toEqual(["list the files", "read a.txt"]);
    await queue().getByRole("button", { name: "Remove Queued Message" }).last().press("Enter");
    await expect.poll(order).toEqual(["list the files"]);
    await expect.poll(focused).toBe("Send Queued Message Now");
  });

  test("a message that is being edited gets the focus when a neighbour that had it disappears", async () => {
    await type("read a.txt");
    await expect.poll(order).toEqual(["list the files", "read a.txt"]);
    await queue().getByRole("button", { name: "Edit Queued Message" }).last().click();
    await field().waitFor();
    await queue().getByRole("button", { name: "Remove Queued Message" }).press("Enter");
    await expect.poll(focused).toBe("Queued message");
    await field().press("Escape");
    await expect.poll(order).toEqual(["read a.txt"]);
    await type("list the files");
    await expect.poll(order).toEqual(["read a.txt", "list the files"]);
    await queue().getByRole("button", { name: "Remove Queued Message" }).first().click();
    await expect.poll(order).toEqual(["list the files"]);
  });

  test("a queued message is moved by mouse", async () => {
    await type("read a.txt");
    await expect.poll(order).toEqual(["list the files", "read a.txt"]);
    const row = (index: number) => queue().getByRole("listitem").nth(index);
    await row(1).locator(".queue-grip").dragTo(row(0));
    await expect.poll(order).toEqual(["read a.txt", "list the files"]);
    await queue().getByRole("button", { name: "Remove Queued Message" }).first().click();
    await expect.poll(order).toEqual(["list the files"]);
  });

  test('"send now" puts it into the running turn, after the command', async () => {
    await queue().getByRole("button", { name: "Send Queued Message Now" }).click();
    await queue().locator(".codicon-loading").waitFor();
    writeFileSync(join(panel().workspace, "first"), "");
    await queue().waitFor({ state: "detached" });
    await panel().page.getByText("list the files").first().waitFor();
    await panel().page.getByText("a.txt").last().waitFor();
  });

  test("Ctrl+Enter sends the typed message into the running turn", async () => {
    await startWaitingFor("now");
    await panel().composer.fill("list the files");
    await panel().composer.press("Control+Enter");
    await queue().locator(".codicon-loading").waitFor();
    writeFileSync(join(panel().workspace, "now"), "");
    await queue().waitFor({ state: "detached" });
  });

  test("a message that is being edited is sent after the edit, not at the end of the turn", async () => {
    await startWaitingFor("edited");
    await type("read nothing.txt");
    await queue().getByRole("button", { name: "Edit Queued Message" }).click();
    await field().fill("read a.txt");
    writeFileSync(join(panel().workspace, "edited"), "");
    await panel().page.getByRole("button", { name: "Send", exact: true }).waitFor();
    expect(await field().inputValue()).toBe("read a.txt");
    await field().press("Enter");
    await queue().waitFor({ state: "detached" });
    await panel().page.getByText("1|one").last().waitFor();
  });

  test("a queued message can replace the running turn", async () => {
    await startWaitingFor("second");
    await type("read a.txt");
    await queue().getByRole("button", { name: "Stop and Send Queued Message" }).click();
    await queue().waitFor({ state: "detached" });
    await panel().page.getByText("1|one").last().waitFor();
    expect(existsSync(join(panel().workspace, "second"))).toBe(false);
  });

  test("after a stop the queue waits for the user", async () => {
    await startWaitingFor("third");
    await type("read a.txt");
    await queue().getByText("read a.txt").waitFor();
    await panel().page.getByRole("button", { name: "Stop", exact: true }).click();
    await queue().getByRole("button", { name: "Send Queued Message Now" }).waitFor();
    await expect.poll(() => queue().getByRole("button", { name: "Stop and Send Queued Message" }).count()).toBe(0);
    await queue().getByRole("button", { name: "Send Queued Message Now" }).click();
    await queue().waitFor({ state: "detached" });
  });
});
