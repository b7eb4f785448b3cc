// An environment for `hermes rollouts`: a function is broken, and its test fails. The reward is the share of tests that pass.
const bugs = [
  { body: "return a - b;", fixed: "adds two numbers" },
  { body: "return a * b;", fixed: "adds two numbers" },
  { body: "return a;", fixed: "adds two numbers" },
];

const test = `import assert from "node:assert";
import { test } from "node:test";
import { add } from "./add.mjs";
test("adds", () => assert.equal(add(2, 3), 5));
test("adds nothing", () => assert.equal(add(2, 0), 2));
`;

let at = 0;

export default {
  name: "fix-test",
  setup() {
    at = 0;
  },
  nextItem: () => bugs[at++],
  prompt: (item) => `The test add.test.mjs fails. Correct add.mjs, which ${item.fixed}. Leave the test as it is.`,
  async prepare(item, ctx) {
    await ctx.write("add.mjs", `export function add(a, b) {\n  ${item.body}\n}\n`);
    await ctx.write("add.test.mjs", test);
  },
  async reward(_item, _result, ctx) {
    // Whoever changes the test gets nothing.
    if ((await ctx.read("add.test.mjs")) !== test) return 0;
    return ctx.rewards.testsPass("node --test");
  },
  evaluate: () => bugs,
};
