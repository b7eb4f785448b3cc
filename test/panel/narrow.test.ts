import { beforeAll, describe, expect, test } from "vitest";
import { call, say } from "../support/model-server/model-server.ts";
import { openPanel, useModelServer, usePanel } from "../support/panel/open-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";

const ANSWER = `The **average** divided by zero; \`max(1, n)\` mends it:

\`\`\`ts
// Prices are in cents.
export function average(prices: readonly number[]): number {
  const sum = prices.reduce((total, price) => total + price, 0);
  return sum / Math.max(1, prices.length); // "never" 0
}
\`\`\`

| name | before | after |
|---|--:|:-:|
| average | NaN | 0 |
| a-rather-long-name-without-a-break | 12 | 12 |

1. \`src/a/rather/long/path/without/any/break/prices.ts\` has it
2. see [the guide](https://example.com/guide) first

- [x] mend it
- [ ] publish it

> Nothing else has changed.

\`\`\`diff
-  return sum / prices.length;
+  return sum / Math.max(1, prices.length);
\`\`\`
`;
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
/** Number of colours in a code block and in its text. */
const COLOURS = `new Set(
  [...document.querySelectorAll(".markdown pre, .markdown pre > code")].map((one) => getComputedStyle(one).color),
).size`;
/** Left edge and width of the messages, and of the composer. */
const COLUMNS = `[...document.querySelectorAll(".user .bubble, .composer-box")].slice(-2).map((part) => {
  const { left, width } = part.getBoundingClientRect();
  return [left, width];
})`;
/** Alignment of the cells of a row, and the looks of the items of a checklist. */
const CELLS_AND_ITEMS = `(() => {
  const of = (selector, name) => [...document.querySelectorAll(selector)].map((one) => getComputedStyle(one)[name]);
  const items = ".markdown ul > li";
  return {
    cells: of(".markdown tbody > tr:first-child > td", "textAlign").map((value) => value.replace("-webkit-", "")),
    borders: of(items, "borderTopWidth"),
    marks: of(items, "listStyleType"),
  };
})()`;
const THEMES = ["light", "dark", "high-contrast", "high-contrast-light"] as const;

// The panel as narrow as a side bar can be, and as wide as a tab, in every kind of theme.
describe("a narrow and a wide panel", () => {
  const model = useModelServer();
  const panel = usePanel(() => openPanel({ model: model() }));

  beforeAll(async () => {
    await panel().page.getByRole("combobox", { name: "Mode" }).selectOption("auto");
  });

  const inPanel = (script: string) => panel().page.locator("body").evaluate(script) as Promise<readonly unknown[]>;

  const fits = async (name: string): Promise<void> => {
    for (const theme of THEMES) {
      await panel().setTheme(theme);
      for (const width of [900, 320, 200]) {
        await panel().setWidth(width);
        expect(await inPanel(TOO_WIDE), `${name}, ${theme}, ${width} px`).toEqual([]);
        expect(await inPanel(LYING_OVER), `${name}, ${theme}, ${width} px`).toEqual([]);
      }
    }
    await panel().pictures(`narrow-${name}`);
  };

  test("shows an answer with code, a table and lists", async () => {
    model().script(say(ANSWER));
    await panel().send("why is the average wrong?");
    await panel().page.getByText("Nothing else has changed.").first().waitFor();
    await panel().idle();
    const styles = await inPanel(CELLS_AND_ITEMS);
    expect(styles).toEqual({ cells: ["start", "right", "center"], borders: ["0px", "0px"], marks: ["none", "none"] });
    await fits("answer");
  });

  test("keeps messages and composer in one column that one can read", async () => {
    await panel().setWidth(900);
    expect(await inPanel(COLUMNS)).toEqual(Array(2).fill([90, 720]));
    await panel().setWidth(320);
    expect(await inPanel(COLUMNS)).toEqual(Array(2).fill([12, 296]));
  });

  test("shows code in a block in the block's own colour", async () => {
    const code = panel().page.locator(".markdown pre > code");
    for (const theme of THEMES) {
      await panel().setTheme(theme);
      await expect.poll(() => code.first().evaluate(COLOURS), { message: theme }).toBe(1);
    }
  });

  test("folds a very long table, and shows all of it on request", async () => {
    model().script(say(`| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(1_000)}\nThe table ends.`));
    await panel().send("show the table");
    await panel().page.getByText("The table ends.").first().waitFor();
    await panel().idle();
    const rows = panel().page.locator(".markdown tbody tr", { hasText: /^\s*1\s*2\s*$/ });
    expect(await rows.count()).toBeLessThan(310);
    await panel().page.getByRole("button", { name: "more lines" }).click();
    await expect.poll(() => rows.count()).toBe(1_000);
    await panel().page.getByRole("button", { name: "more lines" }).waitFor({ state: "detached" });
  });

  test("shows edits, a failed command, and background processes", async () => {
    const asker = 'printf "Your name? "; read -r name';
    model().script(
      { parts: [call("patch", { path: "a.txt", old_string: "two", new_string: "TWO" })] },
      { parts: [call("terminal", { command: "ls does-not-exist-anywhere; exit 3" })] },
      { parts: [call("terminal", { command: "echo 'ready on port 8080'; tail -f /dev/null", background: true })] },
      { parts: [call("terminal", { command: asker, background: true })] },
      say("All of it runs."),
    );
    await panel().send("start it");
    await panel().page.getByText("All of it runs.").first().waitFor();
    const strip = panel().page.getByRole("region", { name: "Background processes" });
    await strip
      .getByText(/^Waits for input/)
      .first()
      .waitFor();
    await fits("processes-folded");
    await strip.getByRole("button").first().click();
    await strip.locator('[data-process="p1"]').getByRole("button").first().click();
    await panel().page.keyboard.press("Tab");
    await fits("processes-open");
  });
});
