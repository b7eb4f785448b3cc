import { expect, test } from "vitest";
import { formatCost } from "../../../webview/views/words.ts";

test("a cost is shown unless it is unknown or zero", () => {
  expect([undefined, 0, 0.004, 0.126].map(formatCost)).toEqual([undefined, undefined, "<$0.01", "$0.13"]);
});
