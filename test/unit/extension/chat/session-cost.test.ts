import { expect, test } from "vitest";
import { sessionCost } from "../../../../extension/chat/session-cost.ts";

test("a cost is said when there is one", () => {
  expect([undefined, 0, 0.004, 0.126].map(sessionCost)).toEqual([undefined, undefined, "<$0.01", "$0.13"]);
});
