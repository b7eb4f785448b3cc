import { expect, test } from "vitest";
import { snippetOf } from "../../../../agent-core/sessions/index/search-text.ts";

/** Marked parts of the snippet. */
function marked(text: string, query: string): readonly string[] {
  const { snippet, marks } = snippetOf(text, query);
  return marks.map(([start, end]) => snippet.slice(start, end));
}

test("words of the query are marked completely and in order", () => {
  expect(marked("The grey cat and the Greyhound saw a cat.", "cat grey ")).toEqual(["grey", "cat", "cat"]);
});

test("text without blanks is marked within a longer run, as are separate words", () => {
  expect(marked("我在 main 里用红色的按钮。", "main 红色 按钮")).toEqual(["main", "红色", "按钮"]);
});

test("case and accents are ignored, parts of a name are words, and the last word may be a prefix", () => {
  expect(marked("Größe, GRÖSSE und grobe_liste", "grose")).toEqual([]);
  expect(marked("Café, CAFE und cafe_liste", "café")).toEqual(["Café", "CAFE", "cafe"]);
  expect(marked("the parser parses a parson", "pars")).toEqual(["parser", "parses", "parson"]);
  expect(marked("the parser parses a parson", "pars* a parser")).toEqual(["parser", "parses", "a", "parson"]);
  expect(marked("the parser is there", "th pa")).toEqual([]); // two letters begin too many words
});

test("a long text is shown from shortly before the first match", () => {
  const { snippet } = snippetOf(`${"words ".repeat(100)}needle${" more".repeat(100)}`, "needle");
  expect(snippet).toMatch(/^….{40}needle.*…$/);
});

test("without a match it begins as the text does", () => {
  expect(snippetOf("two\n lines", "none")).toEqual({ snippet: "two lines", marks: [] });
});

test("a snippet has the words of a Markdown message, without its marks", () => {
  const text =
    "## The **total** is wrong\n\n> - `sum()` in [cart.js](src/cart.js) adds *every* price, ~~not~~ **the `net` one**.\n\n```js\nreturn a * b * c;\n```\n1. Run `npm test`";
  const { snippet, marks } = snippetOf(text, "wrong");
  expect(snippet).toBe(
    "The total is wrong sum() in cart.js adds every price, not the net one. return a * b * c; 1. Run npm test",
  );
  expect(marks.map(([start, end]) => snippet.slice(start, end))).toEqual(["wrong"]);
});

test.each([
  [
    "the target of a link",
    "Read [the docs](https://example.com/guide/install) first",
    "example.com",
    ["example", "com"],
  ],
  ["the language of a fence", "Use this:\n\n```yaml\nkey: 1\n```", "yaml", ["yaml"]],
  ["the address of a picture", "![](shots/login-page.png)", "login", ["login"]],
  ["the target of one of many links", `${"[a](b) ".repeat(99)}[x](needle.md)`, "needle", ["needle"]],
])("a snippet shows %s where only that has a word of the query", (_, text, query, words) => {
  expect(marked(text, query)).toEqual(words);
});

test.each([
  "2 * 3 * 4 = 24",
  "src/*.ts and lib/*.js",
  "a_b __init__ -x --flag",
  "x[0](y) ** 2",
  "#5 and C# `",
  "-1 > 0 |",
])("a snippet leaves a text alone that only looks like Markdown: %s", (text) => {
  expect(snippetOf(text, "none").snippet).toBe(text);
});
