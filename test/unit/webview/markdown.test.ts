import { describe, expect, test } from "vitest";
import { type MarkdownBlock, MarkdownStream } from "../../../webview/markdown/markdown-stream.ts";
import { createParser, fenceInfo, linkKind } from "../../../webview/markdown/parser.ts";
import { appendText, emptyText } from "../../../webview/state/streamed-text.ts";
import { ansiRuns } from "../../../webview/views/terminal-view.tsx";

type Rendered = {
  readonly blocks: readonly MarkdownBlock[];
  readonly updates: number;
  /** Most elements of one update. */
  readonly elements: number;
};

/** Renders the whole text. */
function rendered(text: string): Rendered {
  const stream = new MarkdownStream(createParser());
  const whole = appendText(emptyText, text);
  let [known, elements] = [0, 0];
  for (let updates = 1; ; updates += 1) {
    const blocks = stream.update(whole, true);
    elements = Math.max(elements, count(contentOf(blocks.slice(known)), "</"));
    known = blocks.length;
    if (!stream.isBehind) return { blocks, updates, elements };
  }
}

/** Blocks of a text that comes in pieces of `size`. */
function streamed(text: string, size: number): readonly MarkdownBlock[] {
  const stream = new MarkdownStream(createParser());
  let shown = emptyText;
  for (let at = 0; at < text.length; at += size) {
    shown = appendText(shown, text.slice(at, at + size));
    stream.update(shown, false);
  }
  let blocks = stream.update(shown, true);
  while (stream.isBehind) blocks = stream.update(shown, true);
  return blocks;
}

const contentOf = (blocks: readonly MarkdownBlock[]) =>
  blocks.map(({ html, code }) => html + (code?.text ?? "")).join("");
const count = (text: string, part: string) => text.split(part).length - 1;

describe("a long text", () => {
  const table = `| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(20_000)}`;
  const code = `\`\`\`ts\n${"const a = 1;\n".repeat(10_000)}\`\`\`\n`;

  test.each([
    ["emphasis", "a**".repeat(100_000)],
    ["brackets", "[a](".repeat(75_000)],
    ["one word", "a".repeat(300_000)],
    ["paragraphs", "a\n\n".repeat(100_000)],
    ["a table", table],
    ["code", code.repeat(2)],
  ])("of %s is rendered in updates of bounded size", (_, text) => {
    const { blocks, updates } = rendered(text);
    expect(Math.max(...blocks.map(({ source }) => source.length))).toBeLessThanOrEqual(50_000);
    expect(updates).toBeGreaterThanOrEqual(text.length / 100_000);
    expect(blocks.map(({ source }) => source.length).reduce((sum, length) => sum + length)).toBeGreaterThan(
      text.length - 100,
    );
  });

  const sentence = "The **fox** `jumps` over the [dog](a.ts) and *runs* to `a.ts:1`. ";

  test.each([
    ["paragraphs with many marks", `${sentence.repeat(4)}\n\n`.repeat(200)],
    ["long items with many marks", `- ${sentence.repeat(2)}\n`.repeat(400)],
    ["headings", "# a\n".repeat(5_000)],
    ["code blocks", "```ts\na\n```\n\n".repeat(2_000)],
    ["a wide table", `${"| a ".repeat(100)}|\n${"|---".repeat(100)}|\n${`${"| 1 ".repeat(100)}|\n`.repeat(100)}`],
  ])("of %s is rendered in updates of few elements", (_, text) => {
    expect(rendered(text).elements).toBeLessThan(1_200);
  });

  test("shows a list of a usual length in one part", () => {
    const { blocks } = rendered(`- ${sentence}\n`.repeat(80));
    expect(blocks.map(({ part }) => part)).toEqual([0]);
  });

  test("shows a paragraph with very many marks as plain text, and a usual one with its marks", () => {
    expect(contentOf(rendered("a**".repeat(1_000)).blocks)).toBe(`<p>${"a**".repeat(1_000)}</p>\n`);
    expect(count(contentOf(rendered("**a** ".repeat(200)).blocks), "<strong>")).toBe(200);
  });

  test("has the rows of a long table in parts under the same header", () => {
    const { blocks } = rendered(`Before.\n\n${table}\nAfter.`);
    const parts = blocks.filter(({ part }) => part > 0);
    expect(parts.every(({ html }) => count(html, "<th>") === 2 && count(html, "<td>") <= 600)).toBe(true);
    expect(count(contentOf(blocks), "<td>")).toBe(40_000);
    expect(blocks.at(-1)).toMatchObject({ html: "<p>After.</p>\n", part: 0 });
  });

  test("has long code in parts that together are the code", () => {
    const { blocks } = rendered(`${code}\nAfter.`);
    expect(blocks.map((block) => block.code?.text ?? "").join("")).toBe("const a = 1;\n".repeat(10_000));
    expect(blocks.map(({ part }) => part)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
  });

  test("has long code in a list item as code in every part, and the list after it", () => {
    const lines = Array.from({ length: 700 }, (_, index) => `   const a${index} = **${index}**;\n`).join("");
    const text = `1. First:\n\n   \`\`\`ts\n${lines}   \`\`\`\n\n2. Second **item**.\n`;
    for (const { blocks } of [rendered(text), { blocks: streamed(text, 400) }]) {
      const html = contentOf(blocks);
      expect(count(html, "<strong>")).toBe(1);
      expect(html).toContain("<strong>item</strong>");
      expect(count(html, "const a")).toBe(700);
      expect(html).not.toContain("```");
    }
  });

  test.each([400, 5_000])("that comes in pieces of %i characters ends as the whole would", (size) => {
    const rows = table.slice(0, 8_000);
    const text = `One.\n\n${rows}\nTwo **b**.\n\n${code.slice(0, 30_000)}\n\`\`\`\n\n${"- a\n".repeat(700)}\nEnd ${"w ".repeat(15_000)}`;
    const whole = rendered(text).blocks;
    const pieces = streamed(text, size);
    expect(contentOf(pieces)).toBe(contentOf(whole));
    expect(pieces.filter(({ part }) => part > 0).length).toBe(whole.filter(({ part }) => part > 0).length);
  });

  test("renders finished parts once while more arrives", () => {
    const stream = new MarkdownStream(createParser());
    let text = appendText(emptyText, table.slice(0, 15_000));
    const early = stream.update(text, false);
    text = appendText(text, table.slice(15_000, 20_000));
    const late = stream.update(text, false);
    expect(late[0]).toBe(early[0]);
  });
});

describe("characters that disturb their surroundings", () => {
  test("are code points in text, code, and output", () => {
    const { blocks } = rendered("a \u202eb `c\u2066d`\n\n```\ne\u001bf\n```\n");
    expect(contentOf(blocks)).toMatch(/⟨U\+202E⟩.*⟨U\+2066⟩.*⟨U\+001B⟩/s);
    expect(contentOf(streamed("```\ne\u202ef", 100))).toContain("e⟨U+202E⟩f");
    expect(ansiRuns("a\u202eb")).toEqual([{ text: "a⟨U+202E⟩b", classes: "" }]);
  });

  test("are counted where more than six marks are on one letter", () => {
    expect(contentOf(rendered(`a${"\u0336".repeat(300)}b`).blocks)).toBe(
      `<p>a${"\u0336".repeat(6)}⟨+294 marks⟩b</p>\n`,
    );
  });

  test("leave emoji and other scripts alone", () => {
    const text = "👨‍👩‍👧 नमस्ते שָׁלוֹם ภาษาไทย é می‌خواهم";
    expect(contentOf(rendered(text).blocks)).toBe(`<p>${text}</p>\n`);
  });
});

test("an address of a local file is no link", () => {
  expect(linkKind("file:///etc/passwd")).toBeUndefined();
});

test.each([
  ["ts", "ts", ""],
  ["ts src/a.ts", "ts", "src/a.ts"],
  ["TS:src/a.ts", "ts", "src/a.ts"],
  ['js title="src/a.js" {1,3}', "js", "src/a.js"],
  ["12:20:src/a.py", "py", "src/a.py"],
  ["Makefile", "makefile", ""],
  ["", "", ""],
])("the fence %j names a language and a file", (info, language, path) => {
  expect(fenceInfo(info)).toEqual({ language, path });
});

describe("folds and footnotes of an answer", () => {
  const FOLD = "<details>\n<summary><b>Why</b></summary>\n\n- **ten** per cent[^1]\n\n</details>\n";
  const TEXT = `Done.\n\n${FOLD}\nAfter it.\n\n[^1]: See the *guide*.\n`;
  const htmlOf = (text: string) => contentOf(rendered(text).blocks);

  test.each([1, 7, 1_000])("are the same in pieces of %i characters", (size) => {
    expect(contentOf(streamed(TEXT, size))).toBe(htmlOf(TEXT));
  });

  test("are text with a bold title and raised marks, and no other HTML", () => {
    const html = htmlOf(TEXT).replaceAll(/<p><\/p>|\n/g, "");
    expect(html).toBe(
      "<p>Done.</p><p><strong>Why</strong></p><ul><li><strong>ten</strong> per cent<sup>1</sup></li></ul>" +
        "<p>After it.</p><p><sup>1</sup> See the <em>guide</em>.</p>",
    );
    expect(htmlOf("<details><summary>a<img src=x></summary>")).toContain("<strong>a</strong>");
    expect(htmlOf("<details> is one, <summary>two</summary>\n")).toContain("&lt;details&gt; is one");
    for (const pattern of ["[^abc]+", "[^0]*", "[^9]{2}"]) expect(htmlOf(`Match ${pattern} here`)).toContain(pattern);
  });
});

test.each([
  ["Could not fetch https://a.example/b.git: no host.", "https://a.example/b.git"],
  ["See https://a.example:8080/b:c: it is there.", "https://a.example:8080/b:c"],
  ["https://a.example/b::", "https://a.example/b"],
])("The colon after an address is none of its characters in %s", (text, address) => {
  expect(contentOf(rendered(text).blocks)).toContain(`<a href="${address}" title="${address}">${address}</a>`);
});
