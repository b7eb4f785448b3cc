import { expect, test } from "vitest";
import { isPath } from "../../../webview/markdown/path-links.ts";

test.each(["src/a.ts", "a.ts:5", "./a/b", "README.md#L3", "../x.ts:1:2", ".env"])("%s may name a file", (text) => {
  expect(isPath(text)).toBe(true);
});

test.each(["npm test", "foo()", "word", "1.5", "a::b", "https://x.example/a", "a".repeat(400), "x/../../y z"])(
  "%s names no file",
  (text) => {
    expect(isPath(text)).toBe(false);
  },
);
