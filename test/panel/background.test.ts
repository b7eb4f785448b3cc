import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";

// Sessions that the panel does not show go on: their badges, their questions, and a turn that a reload interrupts.
describe("a turn without its panel", () => {
  const panel = usePanel(() => openPanel());

  const line = () => panel().page.locator(".background-line");
  const row = () => panel().page.locator(".history-row").first();

  test("it continues in the background, asks by a line that no notification covers, and is live when it is opened again", async () => {
    await panel().send("run until test -e go; do sleep 0.05; done then run rm a.txt");
    await panel().toolCalls("in_progress").first().waitFor();
    await panel().runCommand("Hermes: New Session");
    await line().getByText("“run until test -e go; do sleep 0.05; don…” is working").waitFor();
    await panel().pictures("background-working");
    writeFileSync(join(panel().workspace, "go"), "");
    await line()
      .getByText(/” asks for your answer$/)
      .waitFor();
    expect(panel().warnings).toEqual([]);
    await panel().runCommand("Hermes: Show Sessions");
    await row().getByText("asks for your answer").waitFor();
    await panel().pictures("background-asks");
    await panel().page.keyboard.press("Escape");
    await line().click();
    await panel().page.getByRole("alertdialog").getByRole("button", { name: "Allow Once" }).click();
    await panel().idle();
    expect([await line().count(), await panel().bubbles()]).toEqual([
      0,
      ["run until test -e go; do sleep 0.05; done then run rm a.txt"],
    ]);
  });

  test("an added folder is in new sessions, and one that has begun says that it keeps its own", async () => {
    await panel().runCommand("Hermes: New Session");
    await panel().send("read a.txt");
    await panel().idle();
    panel().addFolder("library", { "b.txt": "from the library" });
    await panel().page.locator(".notice").getByText("The folders of the workspace have changed.").waitFor();
    await panel().pictures("folders-changed");
    await panel().runCommand("Hermes: New Session");
    await panel().page.getByText("Reads and edits files and runs commands").waitFor();
    panel().addFolder("tools", { "c.txt": "from the tools" });
    await panel().send("read tools/c.txt");
    await panel().page.getByText("1|from the tools").first().waitFor();
    expect(await panel().page.locator(".notice").count()).toBe(0);
    await panel().idle();
  });

  test("after a reload of the window one click continues it", async () => {
    await panel().send("run until test -e never; do sleep 0.05; done");
    await panel().toolCalls("in_progress").first().waitFor();
    await panel().reload();
    const offer = panel().page.getByRole("region", { name: "Interrupted turn" });
    await offer.waitFor();
    await panel().pictures("interrupted");
    await offer.getByRole("button", { name: "Continue" }).click();
    await offer.waitFor({ state: "detached" });
    await expect.poll(async () => (await panel().bubbles()).at(-1)).toBe("Continue where you stopped.");
  });

  test("a message sent while a new session replaces a running turn belongs to the new session", async () => {
    await panel().idle();
    await panel().send("run `trap '' TERM; sleep 600`"); // takes a second to stop
    await panel().toolCalls("in_progress").last().waitFor();
    await panel().composer.fill("search two");
    const replaced = panel().runCommand("Hermes: New Session");
    await panel().composer.press("Enter");
    await replaced;
    await expect.poll(() => panel().bubbles()).toEqual(["search two"]);
  });
});

describe("@hermes in VS Code's own chat", () => {
  const panel = usePanel(() => openPanel());

  test("it answers in a session of its own, goes on with it in the same thread, and the panel opens it", async () => {
    writeFileSync(join(panel().workspace, "a.txt"), "one line\n");
    const first = await panel().askParticipant("read a.txt");
    expect(first.shown).toContain("progress: Read a.txt");
    expect(first.text).toContain("one line");
    expect(first.shown.at(-1)).toBe("button: Open in Hermes");
    const second = await panel().askParticipant("read b.txt", [first.answer]);
    expect(second.answer.metadata).toEqual(first.answer.metadata);
    expect(second.text).not.toContain("one line");
    await panel().runCommand("Hermes: Show Sessions");
    await panel()
      .page.locator(".history-row .history-name")
      .first()
      .click({ position: { x: 8, y: 8 } });
    await expect.poll(() => panel().bubbles()).toEqual(["read a.txt", "read b.txt"]);
  });
});
