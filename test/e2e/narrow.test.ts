import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const ANSWER = `The **average** divided by zero; \`max(1, n)\` mends it:

\`\`\`ts
// Prices are in cents.
export function average(prices: readonly number[]): number {
  const sum = prices.reduce((total, price) => total + price, 0);
  return sum / Math.max(1, prices.length); // "never" 0
}
\`\`\`

| name | before | after |
|---|---|---|
| average | NaN | 0 |
| a-rather-long-name-without-a-break | 12 | 12 |

1. \`src/a/rather/long/path/without/any/break/prices.ts\` has it
2. see [the guide](https://example.com/guide) first

> Nothing else has changed.

\`\`\`diff
-  return sum / prices.length;
+  return sum / Math.max(1, prices.length);
\`\`\`
`;
/** Scripts of the panel's page. What is wider than the panel and cannot be scrolled on its own. */
const TOO_WIDE = `(() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (element) =>
    element !== null && (/auto|scroll|hidden/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  return [...document.querySelectorAll("#root *")]
    .filter((element) => element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement))
    .map((element) => element.tagName + " " + element.className);
})()`;
/** Buttons and words of the dock that lie over each other. */
const LYING_OVER = `(() => {
  const parts = [...document.querySelectorAll(".dock button, .dock .count-added, .dock .count-removed, .dock .codicon")];
  const boxes = parts.map((part) => ({ part, box: part.getBoundingClientRect() }));
  return boxes.flatMap(({ part, box }, index) =>
    boxes
      .slice(index + 1)
      .filter((other) => !part.contains(other.part) && !other.part.contains(part))
      .filter(({ box: next }) => next.left < box.right - 1 && next.right > box.left + 1)
      .filter(({ box: next }) => next.top < box.bottom - 1 && next.bottom > box.top + 1)
      .map((other) => part.className + " and " + other.part.className),
  );
})()`;
/** How many colours a code block and its text have. */
const COLOURS = `new Set(
  [...document.querySelectorAll(".markdown pre, .markdown pre > code")].map((one) => getComputedStyle(one).color),
).size`;
const THEMES = ["light", "dark", "high-contrast", "high-contrast-light"] as const;

// The panel as narrow as a side bar can be, in every kind of theme.
describe("a narrow panel", () => {
  let window: VSCodeWindow;
  let model: ModelServer;

  beforeAll(async () => {
    model = await startModelServer();
    window = await VSCodeWindow.open({ name: "narrow", model });
    await window.openPanel();
    await window.panel.getByRole("combobox", { name: "Mode" }).selectOption("auto");
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await model.stop();
  });

  const inPanel = (script: string) => window.panel.locator("body").evaluate(script) as Promise<readonly string[]>;

  const pictures = async (name: string): Promise<void> => {
    for (const theme of THEMES) {
      await window.setTheme(theme);
      for (const width of [320, 200]) {
        await window.setSideBarWidth(width);
        expect(await inPanel(TOO_WIDE), `${name}, ${theme}, ${width} px`).toEqual([]);
        expect(await inPanel(LYING_OVER), `${name}, ${theme}, ${width} px`).toEqual([]);
        await window.screenshot(`narrow-${name}-${width}`);
      }
    }
  };

  test("shows an answer with code, a table and lists", async () => {
    model.script(say(ANSWER));
    await window.send("why is the average wrong?");
    await window.panel.getByText("Nothing else has changed.").first().waitFor();
    await window.panel.locator('.send-button[aria-label="Stop"]').waitFor({ state: "detached" });
    await pictures("answer");
  });

  test("shows code in a block in the block's own colour", async () => {
    const code = window.panel.locator(".markdown pre > code");
    for (const theme of THEMES) {
      await window.setTheme(theme);
      await expect.poll(() => code.first().evaluate(COLOURS), { message: theme }).toBe(1);
    }
  });

  test("shows edits, a command that failed, and what runs in the background", async () => {
    const asker = 'printf "Your name? "; read -r name';
    model.script(
      { parts: [call("patch", { path: "a.txt", old_string: "two", new_string: "TWO" })] },
      { parts: [call("terminal", { command: "ls does-not-exist-anywhere; exit 3" })] },
      { parts: [call("terminal", { command: "echo 'ready on port 8080'; tail -f /dev/null", background: true })] },
      { parts: [call("terminal", { command: asker, background: true })] },
      say("All of it runs."),
    );
    await window.send("start it");
    await window.panel.getByText("All of it runs.").first().waitFor();
    const strip = window.panel.getByRole("region", { name: "Background processes" });
    await strip
      .getByText(/^Waits for input/)
      .first()
      .waitFor();
    await pictures("processes-folded");
    await strip.getByRole("button").first().click();
    await strip.locator('[data-process="p1"]').getByRole("button").first().click();
    await window.page.keyboard.press("Tab");
    await pictures("processes-open");
  });
});
