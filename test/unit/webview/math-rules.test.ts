import { describe, expect, test } from "vitest";
import { type MarkdownBlock, MarkdownStream } from "../../../webview/markdown/markdown-stream.ts";
import { formulaIn } from "../../../webview/markdown/math-rules.ts";
import { createParser } from "../../../webview/markdown/parser.ts";
import { appendText, emptyText } from "../../../webview/state/streamed-text.ts";

/** Formulas of a text, in their order; those of their own lines in brackets. */
function formulas(markdown: string): readonly string[] {
  const html = createParser().render(markdown);
  return [...html.matchAll(/<(?:span|div) class="math[^>]*>([^<]*)</g)].map(([, text = ""]) => {
    const formula = formulaIn(decoded(text));
    return formula?.isDisplay ? `[${formula.tex}]` : (formula?.tex ?? "no end");
  });
}

const decoded = (html: string): string => html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

describe("a formula", () => {
  test.each<[string, readonly string[]]>([
    ["Let $x$ be $a_1 * b_2 * c$, and $y$.", ["x", "a_1 * b_2 * c", "y"]],
    ["The sort is $O(n \\log n)$ or $O(n)$; ($n - 1$) steps", ["O(n \\log n)", "O(n)", "n - 1"]],
    ["where \\(x < y\\) and \\(n\\)", ["x < y", "n"]],
    ["**$e^{i\\pi}$** and $f(x) = \\text{the largest value}$", ["e^{i\\pi}", "f(x) = \\text{the largest value}"]],
    ["It is $$a + b$$ here", ["[a + b]"]],
    ["# Size $n^2$\n\n- $a = b$\n\n| $c^2$ |\n|---|\n| $d_1$ |", ["n^2", "a = b", "c^2", "d_1"]],
    ["$$\nx = 1\n$$", ["[x = 1]"]],
    [
      "So\n\\[\n\\begin{aligned}\na &= b \\\\\n- c &= d\n\\end{aligned}\n\\].\nand on",
      ["[\\begin{aligned}\na &= b \\\\\n- c &= d\n\\end{aligned}]"],
    ],
    ["1. First\n   $$\n   a = b\n   $$\n2. Second", ["[a = b]"]],
    ["> $$a = b$$", ["[a = b]"]],
  ])("is found in %j", (text, expected) => {
    expect(formulas(text)).toEqual(expected);
  });
});

describe("no formula", () => {
  test.each([
    "It costs $5 and $10.",
    "between $5-$10, $5/$10 or $5,$10",
    "US$5 and A$6",
    "$5 or 10$ a month",
    "$20,000 (was $30,000)",
    "the variables $HOME and $PATH, $HOME/bin:$PATH, $a=$b",
    "`$x$` and\n\n```sh\necho $x$ $y^2$\n```",
    "\\$x$ and $x\\$",
    "$ x $ and $x $",
    "\\[optional\\] and \\(see above\\)",
    "\\[x\\] done",
    "$this is a sentence, and this another$",
    "$$ is the number of the process\n\nand $$",
    "$$\na\n\nb\n$$",
    "[a link](https://a.example/$x$/y)",
    "https://a.example/?a=$x$",
    `$${"x+".repeat(2_000)}$`,
  ])("is in %j", (text) => {
    expect(formulas(text)).toEqual([]);
  });
});

test("a formula that streams ends like the whole text, in pieces of any size", () => {
  const text = "So\n\n$$\na\n- b\n= c\n$$\n\nand \\(x^2\\) or $y$.\n\n\\[\nz = 1\n\\]\nThe $5 and $10.\n";
  const whole = createParser().render(text);
  for (const size of [1, 2, 3, 7]) {
    const stream = new MarkdownStream(createParser());
    let [shown, blocks]: [typeof emptyText, readonly MarkdownBlock[]] = [emptyText, []];
    for (let at = 0; at < text.length; at += size) {
      shown = appendText(shown, text.slice(at, at + size));
      stream.update(shown, false);
    }
    do blocks = stream.update(shown, true);
    while (stream.isBehind);
    expect(blocks.map(({ html }) => html).join("")).toBe(whole);
  }
});

test("a formula without its end is text that grows", () => {
  const html = createParser().render("So\n$$\n- a <b\n");
  expect(html).toBe('<p>So</p>\n<div class="math math-display">$$\n- a &lt;b</div>\n');
  expect(formulaIn("$$\n- a")).toBeUndefined();
});
