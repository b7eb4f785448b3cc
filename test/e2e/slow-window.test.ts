import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type SlowWire, slowWire } from "../support/network/slow-wire.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join("");
/** A key each 125 ms, without a pause. */
const KEY_MS = 125;

// A remote window, whose messages take 100 ms in each direction.
describe("a window far away", () => {
  let wire: SlowWire;
  let window: VSCodeWindow;

  beforeAll(async () => {
    wire = await slowWire(Number(inject("vscode").authority.split(":")[1]));
    window = await VSCodeWindow.open({
      name: "slow",
      files: { "guide.md": LINES },
      authority: `127.0.0.1:${wire.port}`,
    });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await wire.stop();
  });

  test("an edit lands in the file in which the user types steadily, and no key is lost", async () => {
    await window.send('run until test -e go; do sleep 0.1; done then replace "line 3\n" with "LINE 3\n" in guide.md');
    await window.toolCalls("in_progress").first().waitFor();
    await window.openFile("guide.md");
    await window.page.keyboard.press("Control+End");
    wire.delayMs = 100;
    writeFileSync(join(window.workspace, "go"), "");
    let typed = "";
    for (let count = 0, rest = 10; rest > 0; count += 1) {
      expect(count).toBeLessThan(300);
      const key = count % 7 === 6 ? " " : "abcdefg".charAt(count % 7);
      await Promise.all([window.page.keyboard.press(key), delay(KEY_MS)]);
      typed += key;
      if ((await window.toolCalls("completed").count()) > 1) rest -= 1;
    }
    wire.delayMs = 0;
    await window.page.keyboard.press("Control+S");
    await expect.poll(() => window.readFile("guide.md")).toBe(`${LINES.replace("line 3\n", "LINE 3\n")}${typed}`);
    // The review knows which lines are the agent's.
    await window.panel.getByRole("button", { name: /^Undo/ }).first().click();
    await expect.poll(() => window.readFile("guide.md")).toBe(LINES + typed);
  });
});
