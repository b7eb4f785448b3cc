import { expect, test, vi } from "vitest";

vi.mock("vscode", () => ({}));
const { candidatesOf, parseFileLink } = await import("../../../extension/documents/file-links.ts");

test.each([
  ["src/a.ts", { path: "src/a.ts" }],
  ["src/prices.js:5", { path: "src/prices.js", line: 5 }],
  ["prices.js:5:12", { path: "prices.js", line: 5, column: 12 }],
  ["src/a.ts:12-20", { path: "src/a.ts", line: 12 }],
  ["src/a.ts#L12", { path: "src/a.ts", line: 12 }],
  ["src/a.ts#L12C3-L20", { path: "src/a.ts", line: 12, column: 3 }],
  ["a.ts:0", { path: "a.ts", line: 1 }],
  ["command:evil", undefined],
  ["file:///etc/passwd", undefined],
])("the link %s leads to its line and column", (href, link) => {
  expect(parseFileLink(href)).toEqual(link);
});

test("a relative link is searched in every folder, also behind the folder's name", () => {
  expect(candidatesOf("lib/a.ts", ["/w/app", "/w/lib"])).toEqual(["/w/app/lib/a.ts", "/w/lib/lib/a.ts", "/w/lib/a.ts"]);
  expect(candidatesOf("/w/app/../../etc/passwd", ["/w/app"])).toEqual(["/etc/passwd"]);
});
