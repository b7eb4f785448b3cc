import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";

/** Runs in the page: types for 600 ms, and says whether the first choice is still disabled. */
const TYPE_FOR_600_MS = `(async () => {
  const start = performance.now();
  while (performance.now() - start < 600) {
    window.dispatchEvent(new KeyboardEvent("keydown", { key: "a" }));
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  return document.querySelector(".ask-buttons button").disabled;
})()`;

// Permissions and questions in the panel: no keyboard by accident, and the whole call in plain sight.
describe("cards of requests", () => {
  const panel = usePanel(() => openPanel());

  const card = () => panel().page.getByRole("alertdialog");
  const choose = (mode: string) => panel().page.getByRole("combobox", { name: "Mode" }).selectOption(mode);
  const focused = () => panel().page.locator(":focus").getAttribute("aria-label");

  test("a question takes no key from the composer, and keys typed while it comes do not arm it", async () => {
    await panel().send("ask me Drop the table? choices Yes or No");
    await card().waitFor();
    await panel().page.keyboard.type("line3", { delay: 30 });
    expect(await panel().composer.inputValue()).toBe("line3");
    await panel().pictures("question");
    await panel().composer.fill("");
    await expect.poll(() => card().getByRole("button", { name: "Yes" }).isEnabled()).toBe(true);
    await panel().page.keyboard.press("ArrowUp");
    await panel().page.keyboard.press("1");
    await panel().page.getByText("The user answered: Yes").first().waitFor();
    await expect.poll(focused).toBe("Message Hermes");
  });

  test("typing keeps the buttons of a new card disabled", async () => {
    await panel().send("ask me Sure? choices Yes or No");
    await card().waitFor();
    // The page itself types and measures, so that a load of the machine makes no pause between two keys.
    const isDisabled = await panel().page.evaluate(TYPE_FOR_600_MS);
    expect(isDisabled).toBe(true);
    await card().getByRole("button", { name: "Skip" }).click();
    await card().waitFor({ state: "detached" });
    await panel().idle();
  });

  test("a permission shows hidden characters and the scope of its lasting answers, and leads back to the composer", async () => {
    await panel().send("run rm 'a\u202e.txt' a.txt");
    await card().getByText("⟨U+202E⟩").first().waitFor();
    await panel().pictures("permission");
    expect(panel().warnings).toEqual([]);
    await card().getByRole("button", { name: "No, Because…" }).click();
    await card().getByLabel("Why not").press("Escape");
    await card().and(panel().page.locator(":focus")).waitFor();
    await card().getByRole("button", { name: "No, Because…" }).click();
    await card().getByLabel("Why not").fill("keep it");
    await card().getByRole("button", { name: "Send" }).click();
    await panel().page.getByText("keep it").first().waitFor();
    await expect.poll(focused).toBe("Message Hermes");
    await panel().idle();
  });

  test("an edit that asks shows its change once, and names the file by its path in the workspace", async () => {
    await choose("ask");
    await panel().send("replace two with TWO in a.txt");
    await card().getByText("Edits a.txt: every edit asks in this mode", { exact: true }).waitFor();
    await card()
      .getByText(/^Stop asking for: editing: .*\/a\.txt$/)
      .waitFor();
    await panel().pictures("permission-edit");
    const { page } = panel();
    expect([
      await page.getByText("TWO", { exact: true }).count(),
      await page.getByText("lasting answer").count(),
    ]).toEqual([1, 0]);
    await card().getByRole("button", { name: "Allow Once" }).click();
    await panel().toolCalls("completed").getByText("TWO", { exact: true }).waitFor();
    await panel().idle();
    await choose("code");
  });

  test("a mode typed while a request waits acts at once: it runs a call that it allows", async () => {
    const file = join(panel().workspace, "b.txt");
    writeFileSync(file, "");
    await panel().send("run rm b.txt");
    await card().waitFor();
    await panel().send("/mode auto");
    await card().waitFor({ state: "detached" });
    await panel().page.locator(".notice").getByText("Mode: auto.").waitFor();
    await expect.poll(() => existsSync(file)).toBe(false);
    await panel().idle();
    expect(await panel().bubbles()).not.toContain("/mode auto");
    await choose("code");
  });

  test("a hidden panel's request is a notification, which answers without the panel", async () => {
    await panel().send("run sleep 0.3; rm a.txt");
    await panel().hide();
    await expect
      .poll(() => panel().warnings.map(({ text }) => text))
      .toEqual([expect.stringMatching(/^Hermes asks to run: sleep 0\.3; rm a\.txt \(.+\)$/)]);
    expect(panel().warnings[0]?.titles).toEqual(["Review", "Allow Once", "Reject"]);
    panel().warnings[0]?.choose("Allow Once");
    await expect.poll(() => existsSync(join(panel().workspace, "a.txt"))).toBe(false);
    await panel().hideAndShow();
  });
});
