import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "./basket.js";

test("adds up the prices of what is in the basket", () => {
  assert.equal(total(["apple", "bread"]), 360);
});
