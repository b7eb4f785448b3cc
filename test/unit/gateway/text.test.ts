import { describe, expect, test } from "vitest";
import type { Limits } from "../../../gateway/adapters/adapter.ts";
import { lengthOf, toMarkup } from "../../../gateway/text/markup.ts";
import { splitMarkdown } from "../../../gateway/text/split.ts";

describe("Markdown in a platform's markup", () => {
  const sample =
    "# Title\n\nA **bold** _word_ with `a<b` and [a link](https://x.y/?a=1&b=2)\n\n- one\n- two\n\n> said\n\n```js\nx < 1\n```";

  test.each<readonly [Limits["markup"], string]>([
    [
      "html",
      '<b>Title</b>\n\nA <b>bold</b> <i>word</i> with <code>a&lt;b</code> and <a href="https://x.y/?a=1&amp;b=2">a link</a>\n\n• one\n• two\n\n<blockquote>said</blockquote>\n\n<pre><code class="language-js">x &lt; 1</code></pre>',
    ],
    [
      "markdown",
      "**Title**\n\nA **bold** *word* with `a<b` and [a link](<https://x.y/?a=1&b=2>)\n\n• one\n• two\n\n> said\n\n```js\nx < 1\n```",
    ],
    [
      "mrkdwn",
      "*Title*\n\nA *bold* _word_ with `a&lt;b` and <https://x.y/?a=1&amp;b=2|a link>\n\n• one\n• two\n\n> said\n\n```\nx &lt; 1\n```",
    ],
    [
      "whatsapp",
      "*Title*\n\nA *bold* _word_ with `a<b` and a link (https://x.y/?a=1&b=2)\n\n• one\n• two\n\n> said\n\n```\nx < 1\n```",
    ],
    ["plain", "Title\n\nA bold word with a<b and a link (https://x.y/?a=1&b=2)\n\n• one\n• two\n\n> said\n\nx < 1"],
  ])("is written for %s", (markup, expected) => {
    expect(toMarkup(sample, markup)).toBe(expected);
  });

  test("keeps HTML of the model as text, and its tables as columns", () => {
    expect(toMarkup("<b>no</b>", "html")).toBe("&lt;b&gt;no&lt;/b&gt;");
    expect(toMarkup("| a | bb |\n|---|---|\n| ccc | d |", "html")).toBe("<pre>a   │ bb\n────┼───\nccc │ d</pre>");
  });
});

describe("A long text", () => {
  const fitsIn = (room: number) => (piece: string) => piece.length <= room;

  test("is cut between blocks, and no piece is lost or empty", () => {
    const text = Array.from({ length: 50 }, (_, at) => `Paragraph ${at} with some words.`).join("\n\n");
    const pieces = splitMarkdown(text, fitsIn(200));
    expect(pieces.every((piece) => piece.length <= 200 && piece !== "")).toBe(true);
    expect(pieces.join("\n\n")).toBe(text);
  });

  test("closes a code block at each cut and opens it again with its language", () => {
    const code = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
    const pieces = splitMarkdown(`Before\n\n\`\`\`py\n${code}\n\`\`\`\n\nAfter`, fitsIn(100));
    const blocks = pieces.filter((piece) => piece.includes("line"));
    expect(blocks.every((piece) => /```py\n[\s\S]*\n```/.test(piece))).toBe(true);
    expect(blocks.join("\n").match(/line \d+/g)).toHaveLength(40);
  });

  test("is cut neither within a link or code, nor within a letter", () => {
    const text = `${"word ".repeat(15)}[a link with words](https://example.org/path) ${"word ".repeat(10)}\`some code here\``;
    const pieces = splitMarkdown(text, fitsIn(80));
    expect(pieces.some((piece) => piece.includes("[a link with words](https://example.org/path)"))).toBe(true);
    const family = "👨‍👩‍👧‍👦";
    const letters = splitMarkdown(family.repeat(30), fitsIn(50));
    expect(letters.join("")).toBe(family.repeat(30));
    expect(letters.every((piece) => piece.length % family.length === 0)).toBe(true);
  });

  test("of one line and 100 kB is cut, where trying each place would take hours", () => {
    const limits = { measure: "utf16", markup: "html" } as const;
    const text = "شمس & <b> ".repeat(10_000);
    const pieces = splitMarkdown(
      text,
      (piece) => piece.length < 16_000 && lengthOf(toMarkup(piece, "html"), limits) <= 4_000,
    );
    expect(pieces.length).toBeLessThan(40);
  });
});
