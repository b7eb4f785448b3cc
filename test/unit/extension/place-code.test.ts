import { expect, test } from "vitest";
import { placeCode } from "../../../extension/documents/place-code.ts";

const FILE = `import { tax } from "./tax.js";

/** Sum. */
export function total(prices) {
  let sum = 0;
  for (const price of prices) {
    sum += price;
  }
  return sum;
}

export class Basket {
  constructor(items) {
    this.items = items;
  }

  price() {
    return total(this.items);
  }
}
`;

/** The file after the code is applied, or the reason why it is not. `selected`: text that is selected in the file. */
function apply(code: string, text = FILE, selected?: string): string {
  const start = selected === undefined ? 0 : text.indexOf(selected);
  const placed = placeCode(text, code, selected === undefined ? undefined : { start, end: start + selected.length });
  return placed.kind === "placed" ? placed.text : placed.kind;
}

const OLD = FILE.slice(FILE.indexOf("export function"), FILE.indexOf("\n\nexport class"));

test("a function replaces the one of its name, with another signature and another end too", () => {
  const code = "export function total(prices, rate) {\n  return rate * prices.length;\n}\n";
  expect(apply(code)).toBe(FILE.replace(OLD, code.trimEnd()));
  const python = "def a(x):\n    y = x\n    return y\n\n\ndef b():\n    pass\n";
  expect(apply("def a(x, z):\n    return x + z\n", python)).toBe(
    "def a(x, z):\n    return x + z\n\n\ndef b():\n    pass\n",
  );
});

test("a method takes the indentation of the file, and its comment comes along", () => {
  expect(apply("/** Price. */\nprice() {\n  return 1;\n}\n")).toBe(
    FILE.replace("  price() {\n    return total(this.items);", "  /** Price. */\n  price() {\n    return 1;"),
  );
  expect(apply("/** Sum of prices. */\nexport function total(prices) {\n  return 0;\n}")).toBe(
    FILE.replace(`/** Sum. */\n${OLD}`, "/** Sum of prices. */\nexport function total(prices) {\n  return 0;\n}"),
  );
});

test("statements between two lines of the file replace what is between them", () => {
  expect(apply("let sum = 0;\nsum = prices.length;\nreturn sum;\n")).toBe(
    FILE.replace("  for (const price of prices) {\n    sum += price;\n  }\n", "  sum = prices.length;\n"),
  );
});

test("a block that repeats most of the file replaces it, and one for an empty file fills it", () => {
  const whole = FILE.replace("./tax.js", "./taxes.js").replace("sum += price;", "sum += price * 2;");
  expect(apply(whole)).toBe(whole);
  expect(apply(whole, "")).toBe(whole);
  expect(apply('{\n  "a": 1,\n  "c": 3\n}\n', '{\n  "a": 1,\n  "b": 2\n}\n')).toBe('{\n  "a": 1,\n  "c": 3\n}\n');
});

test("a unified diff applies where its context is", () => {
  const diff =
    "--- a/x.js\n+++ b/x.js\n@@ -4,3 +4,3 @@\n export function total(prices) {\n-  let sum = 0;\n+  let sum = 1;\n   for (const price of prices) {\n";
  expect(apply(diff)).toBe(FILE.replace("sum = 0", "sum = 1"));
  expect(apply(diff.replace("-  let sum = 0", "-  let sum = 5"))).toBe("unclear");
  expect(apply("@@ -4,9 +4,1 @@\n-a\n+b\n")).toBe("unclear");
});

test("a selection is replaced by code that has no other place, in whole lines or within a line", () => {
  const code = "const sum = prices.reduce((a, b) => a + b, 0);\n";
  expect(apply(code, FILE, "let sum = 0;\n  for (const price of prices) {\n    sum += price;\n  }\n")).toBe(
    FILE.replace(
      "  let sum = 0;\n  for (const price of prices) {\n    sum += price;\n  }\n",
      "  const sum = prices.reduce((a, b) => a + b, 0);\n",
    ),
  );
  expect(apply("this.items.length\n", FILE, "total(this.items)")).toBe(
    FILE.replace("total(this.items)", "this.items.length"),
  );
});

test("line ends of the file and its missing last one stay", () => {
  const crlf = FILE.replaceAll("\n", "\r\n").trimEnd();
  const code = "export class Basket {\n  constructor() {}\n\n  price() {\n    return 0;\n  }\n}\n";
  expect(apply(code, crlf)).toBe(
    (FILE.slice(0, FILE.indexOf("export class")) + code).replaceAll("\n", "\r\n").trimEnd(),
  );
});

test.each([
  ["new code", "export function other() {\n  return 1;\n}\n", "unclear"],
  ["a line that is there twice", "x = 1;\n", "unclear", "x = 1;\ny();\nx = 1;\n"],
  ["a class without some of its methods", "export class Basket {\n  price() {\n    return 0;\n  }\n}\n", "unclear"],
  ["a part of a settings file", '{\n  "b": 5\n}\n', "unclear", '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n'],
  [
    "an import beside a function",
    `import { tax } from "./tax.js";\n\nexport function total() {\n  return 1;\n}\n`,
    "unclear",
    FILE.replace("/** Sum. */", "export function rate() {\n  return 0;\n}\n"),
  ],
  ["code that is left out", "export class Basket {\n  // ... existing code ...\n  price() {}\n}\n", "gap"],
  ["the same code", OLD, "same"],
])("%s has no place", (_, code, reason, text = FILE) => {
  expect(apply(code, text)).toBe(reason);
});
