import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";

// Everything that destroys work asks once where it is large, and can be undone.
describe("undo of the user's own undo", () => {
  const panel = usePanel(() => openPanel());

  const bar = () => panel().page.getByRole("region", { name: "Edits to review" });
  const hasNew = () => existsSync(join(panel().workspace, "new.txt"));
  const edit = async (): Promise<void> => {
    await panel().send("replace two with TWO in a.txt then create new.txt with hello");
    await bar().getByText("2 files").waitFor();
    await panel().idle();
  };

  test("Undo asks once for several files, and Redo brings back files and review", async () => {
    await edit();
    await bar().getByRole("button", { name: "Undo", exact: true }).click();
    await expect.poll(() => panel().warnings.at(-1)?.text).toBe("Undo all of Hermes' edits in 2 files?");
    panel().warnings.at(-1)?.choose("Undo All");
    await panel().page.getByText("Undid 2 files").waitFor();
    await expect.poll(() => [panel().readFile("a.txt"), hasNew()]).toEqual(["one\ntwo\nthree\n", false]);
    await panel().pictures("undone");
    await panel().page.getByRole("button", { name: "Redo" }).click();
    await bar().getByText("2 files").waitFor();
    await expect.poll(() => panel().readFile("a.txt")).toBe("one\nTWO\nthree\n");
    await expect.poll(hasNew).toBe(true);
  });

  test("the cards of edits say that the user undid them, until Redo", async () => {
    const undone = panel().toolCalls("completed").getByText("Undone", { exact: true });
    await expect.poll(() => undone.count()).toBe(0);
    await bar().getByRole("button", { name: "Undo", exact: true }).click();
    await expect.poll(() => panel().warnings.length).toBe(2);
    panel().warnings.at(-1)?.choose("Undo All");
    await expect.poll(() => undone.count()).toBe(2);
    await panel().pictures("undone-cards");
    await panel().page.getByRole("button", { name: "Redo" }).click();
    await expect.poll(() => undone.count()).toBe(0);
    await bar().getByText("2 files").waitFor();
  });

  test("undoing a restore returns the messages, and a new file is up for review again", async () => {
    await panel().page.locator(".user").first().hover();
    await panel().page.getByRole("button", { name: "Restore to Here" }).first().click();
    await panel().page.getByRole("button", { name: "Both" }).click();
    const line = panel().page.locator(".restore-line");
    await line.getByText("Restored 2 files and the conversation").waitFor();
    expect([await panel().bubbles(), hasNew()]).toEqual([[], false]);
    await panel().page.getByRole("button", { name: "Jump to the Latest" }).waitFor({ state: "detached" });
    await line.getByRole("button", { name: "Undo" }).click();
    await expect
      .poll(() => panel().bubbles())
      .toEqual(["replace two with TWO in a.txt then create new.txt with hello"]);
    await bar().getByText("2 files").waitFor();
    await expect.poll(hasNew).toBe(true);
    await panel().pictures("restore-undone");
  });

  test("an edited message is sent again with the files restored, by one button and by keys alone", async () => {
    const [before] = await panel().bubbles();
    await panel().page.getByRole("button", { name: "Edit Message and Send It Again" }).focus();
    await panel().page.keyboard.press("Enter");
    const files = panel().page.getByRole("list", { name: "Files that changed since then" });
    await expect.poll(() => files.locator(".restore-file .tool-title").allTextContents()).toEqual(["a.txt", "new.txt"]);
    await panel().page.getByRole("status").getByText("2 files have changed since then", { exact: true }).waitFor();
    await panel().pictures("resend-with-files");
    await panel().page.keyboard.press("ControlOrMeta+a");
    await panel().page.keyboard.type("read a.txt");
    await panel().page.getByRole("button", { name: "Restore 2 Files and Send" }).focus();
    await panel().page.keyboard.press("Enter");
    await expect.poll(() => panel().bubbles()).toEqual(["read a.txt"]);
    await panel().composer.and(panel().page.locator(":focus")).waitFor();
    await panel().page.locator(".restore-line").getByText("Restored 2 files", { exact: true }).waitFor();
    await panel().idle();
    expect([before, panel().readFile("a.txt"), hasNew()]).toEqual([
      "replace two with TWO in a.txt then create new.txt with hello",
      "one\ntwo\nthree\n",
      false,
    ]);
    await panel().page.getByRole("button", { name: "Edit Message and Send It Again" }).click();
    await panel().page.getByRole("textbox", { name: "Message to send again" }).press("Escape");
    expect([await files.count(), await panel().page.locator(".restore-card").count()]).toEqual([0, 0]);
    await panel().page.locator(":focus[aria-label='Edit Message and Send It Again']").waitFor();
  });

  test("a reload of the window changes no mark of a card, before and after Redo", async () => {
    const marks = () => panel().toolCalls("completed").getByText("Undone", { exact: true }).count();
    const undo = async (): Promise<void> => {
      const asked = panel().warnings.length;
      await bar().getByRole("button", { name: "Undo", exact: true }).click();
      await expect.poll(() => panel().warnings.length).toBe(asked + 1);
      panel().warnings.at(-1)?.choose("Undo All");
      await expect.poll(marks).toBe(2);
    };
    const reload = async (): Promise<number> => {
      await panel().reload();
      await panel().toolCalls("completed").nth(1).waitFor();
      return marks();
    };
    await edit();
    await undo();
    await panel().page.getByRole("button", { name: "Redo" }).click();
    await expect.poll(marks).toBe(0);
    expect(await reload()).toBe(0);
    await bar().getByText("2 files").waitFor();
    await undo();
    expect(await reload()).toBe(2);
  });
});
