/** Edits of every kind, for pictures of the review. Each is a file before and after an edit of the agent. */

export type HunkKind = {
  readonly name: string;
  /** File name; its ending chooses the language. */
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** VS Code wraps long lines. */
  readonly isWrapped?: true;
  /** Text of a line that the mouse points at. */
  readonly hoverOver?: string;
  /** The diff editor is open. */
  readonly isInDiff?: true;
};

const PRICES = Array.from({ length: 14 }, (_, index) => `["item-${index}", ${index + 10}]`).join(", ");

const SHOP = `export function total(prices) {
  let sum = 0;
  for (const price of prices) {
    sum += price;
  }
  return sum * 0.85;
}
`;

const AREA = `def area(width, height):
    """Area of a rectangle."""
    return width * height


def edge(width):
    return 2 * width
`;

const LOADER = `import { readFile } from "node:fs/promises";

export async function load(path) {
  const text = await readFile(path, "utf8");
  const rows = text.split("\\n");
  const first = rows[0];
  console.log("loaded", path, rows.length);
  return rows.map((row) => row.trim());
}

export function names(rows) {
  return rows.map((row) => row.name);
}
`;

const replaced = (text: string, ...pairs: readonly (readonly [string, string])[]): string =>
  pairs.reduce((changed, [old, fresh]) => {
    if (!changed.includes(old)) throw new Error(`no ${old} in ${text}`);
    return changed.replace(old, () => fresh);
  }, text);

const kind = (
  name: string,
  file: string,
  before: string,
  ...pairs: readonly (readonly [string, string])[]
): HunkKind => ({ name, file, before, after: replaced(before, ...pairs) });

/** A notebook as Jupyter writes it, with cells of code. */
const notebook = (...sources: readonly string[]): string => {
  const cells = sources.map((text) => ({
    cell_type: "code",
    execution_count: null,
    id: text.slice(0, 8).replaceAll(/\W/g, "-"),
    metadata: {},
    outputs: [],
    source: text.match(/[^\n]*\n|[^\n]+$/g),
  }));
  return `${JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, 1)}\n`;
};

const MARKDOWN = `# Guide

The server keeps every session for thirty days, and then it removes the journal, the copies of changed files and the index, unless the session is pinned or another window of the same home still shows it at that time.

Next chapter.
`;

export const hunkKinds: readonly HunkKind[] = [
  kind("one number", "total.js", SHOP, ["0.85", "0.9"]),
  kind("one operator", "area.py", AREA, ["width * height", "width + height"]),
  kind(
    "words inserted",
    "area.py",
    AREA,
    ["edge(width):", "edge(width, height):"],
    ["2 * width", "2 * (width + height)"],
  ),
  kind("words removed", "area.py", AREA, ["area(width, height):", "area(width):"]),
  kind("several words of one line", "loader.js", LOADER, [
    "rows.map((row) => row.trim())",
    'rows.filter((line) => line !== "").map((line) => line.trim())',
  ]),
  kind(
    "far right in a long line",
    "prices.js",
    `const prices = new Map([${PRICES}, ["apple", 3], ["pear", 4]]);\n\nexport default prices;\n`,
    ['["apple", 3]', '["apple", 5]'],
  ),
  kind("line replaced by another", "loader.js", LOADER, [
    "  const first = rows[0];",
    "  if (rows.length > 1000) throw new Error(path);",
  ]),
  kind("one line removed", "loader.js", LOADER, ['  console.log("loaded", path, rows.length);\n', ""]),
  kind("three lines removed", "loader.js", LOADER, [
    '  const first = rows[0];\n  console.log("loaded", path, rows.length);\n  return rows.map((row) => row.trim());\n',
    "",
  ]),
  {
    name: "twelve lines removed",
    file: "steps.py",
    before: `def run():\n    start()\n${Array.from({ length: 12 }, (_, i) => `    step(${i + 1}, "part ${i + 1}")\n`).join("")}    stop()\n`,
    after: "def run():\n    start()\n    stop()\n",
  },
  kind("three lines inserted", "loader.js", LOADER, [
    "  const first = rows[0];\n",
    "  const first = rows[0];\n  if (first === undefined) {\n    return [];\n  }\n",
  ]),
  {
    name: "new file",
    file: "fresh.js",
    before: "",
    after: 'export function greet(name) {\n  return "Hello " + name;\n}\n',
  },
  kind(
    "block moved",
    "loader.js",
    LOADER,
    ["export function names(rows) {\n  return rows.map((row) => row.name);\n}\n", ""],
    [
      "export async function load",
      "export function names(rows) {\n  return rows.map((row) => row.name);\n}\n\nexport async function load",
    ],
  ),
  kind("indentation", "area.py", AREA, ["    return 2 * width", "        return 2 * width"]),
  kind("blanks at the end removed", "list.txt", "apples\npears   \t\nplums\n", ["pears   \t", "pears"]),
  kind("tabs to spaces", "Makefile.txt", "all:\n\tbuild one\n\tbuild two\n\nclean:\n\trm\n", [
    "\tbuild one\n\tbuild two",
    "    build one\n    build two",
  ]),
  { name: "line ends to CRLF", file: "area.py", before: AREA, after: AREA.replaceAll("\n", "\r\n") },
  kind("right to left", "hebrew.txt", "שלום עולם\nהמחיר הוא חמישה שקלים ליחידה\nתודה רבה\n", ["חמישה", "שבעה"]),
  kind(
    "emoji and wide characters",
    "texts.js",
    'const a = "👩‍👩‍👧 家族の写真を送る";\nconst b = "完了";\nconst c = 1;\n',
    ["写真", "動画"],
    ["👩‍👩‍👧", "👨‍👩‍👦"],
  ),
  kind("word after tabs", "main.go", 'func main() {\n\tif ready {\n\t\t\tfmt.Println("one", name)\n\t}\n}\n', [
    "name",
    "title",
  ]),
  {
    ...kind(
      "word in a wrapped line",
      "guide.md",
      MARKDOWN,
      ["the copies of changed files", "the copies of removed files"],
      ["unless the session is pinned", "unless the session is open"],
    ),
    isWrapped: true,
  },
  kind("no newline at the end", "list.txt", "apples\npears\nplums\n", ["plums\n", "plums"]),
  kind("first line", "loader.js", LOADER, [
    'import { readFile } from "node:fs/promises";',
    'import { readFileSync } from "node:fs";',
  ]),
  kind("last line removed", "list.txt", "apples\npears\nplums\n", ["plums\n", ""]),
  kind("one line to five", "loader.js", LOADER, [
    "  return rows.map((row) => row.trim());\n",
    "  const trimmed = [];\n  for (const row of rows) {\n    trimmed.push(row.trim());\n  }\n  return trimmed;\n",
  ]),
  kind("five lines to one", "total.js", SHOP, [
    "  let sum = 0;\n  for (const price of prices) {\n    sum += price;\n  }\n  return sum * 0.85;\n",
    "  return 0.85 * prices.reduce((sum, price) => sum + price, 0);\n",
  ]),
  kind("three lines with a word each", "loader.js", LOADER, [
    '  const rows = text.split("\\n");\n  const first = rows[0];\n  console.log("loaded", path, rows.length);',
    '  const lines = text.split("\\n");\n  const first = lines[0];\n  console.log("loaded", path, lines.length);',
  ]),
  kind(
    "ten lines rewritten",
    "steps.py",
    `def run():\n${Array.from({ length: 10 }, (_, i) => `    step(${i + 1}, "part ${i + 1}")\n`).join("")}    stop()\n`,
    ...Array.from({ length: 10 }, (_, i) => [`step(${i + 1}, `, `await_step(${i + 1}, name=`] as const),
  ),
  { ...kind("hover over changed words", "total.js", SHOP, ["0.85", "0.9"]), hoverOver: "return sum" },
  {
    ...kind("hover below removed lines", "loader.js", LOADER, ['  console.log("loaded", path, rows.length);\n', ""]),
    hoverOver: "row.trim",
  },
  kind(
    "several hunks",
    "loader.js",
    LOADER,
    ['"utf8"', '"latin1"'],
    ['  console.log("loaded", path, rows.length);\n', ""],
    ["row.name", "row.title"],
  ),
  {
    name: "notebook cells",
    file: "prices.ipynb",
    before: notebook("import csv\n\nrows = list(csv.reader(open(path)))", "total = sum(rows)\nprint(total * 0.85)"),
    after: notebook(
      "import csv\n\nrows = list(csv.DictReader(open(path)))\nlen(rows)",
      "total = sum(rows)\nprint(total * 0.9)",
    ),
  },
  {
    name: "notebook with a removed cell",
    file: "prices.ipynb",
    before: notebook("import csv", "import json\njson.loads(text)", "print(1)"),
    after: notebook("import csv", "print(1)", "print(2)\nprint(3)"),
  },
  { ...kind("diff editor", "total.js", SHOP, ["0.85", "0.9"]), isInDiff: true },
];
