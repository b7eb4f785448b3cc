import { expect, test } from "vitest";
import { InferredVerdicts } from "../../../agent-core/agent/inferred-verdicts.ts";

const BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\n";
const AFTER = "one\nTWO\nthree\nfour\nFIVE\nfive b\nsix\n";

async function verdicts(
  now: string | null | undefined,
  before: string | null = BEFORE,
  after = AFTER,
): Promise<string[]> {
  let text: string | null | undefined = after;
  const inferred = new InferredVerdicts(async () => text);
  inferred.edited({ path: "/p/a.txt", oldText: before, newText: after });
  await inferred.endTurn();
  text = now;
  const found = await inferred.infer();
  expect(await inferred.infer()).toEqual([]);
  return found.map(({ path, outcome, lines }) => `${path} ${outcome} ${lines}`);
}

test("a hunk that is there is kept", async () => {
  expect(await verdicts(AFTER)).toEqual(["/p/a.txt kept 2", "/p/a.txt kept 3"]);
  expect(await verdicts(`new first line\n${AFTER}`)).toEqual(["/p/a.txt kept 2", "/p/a.txt kept 3"]);
});

test("a hunk whose old lines are back is undone", async () => {
  expect(await verdicts(AFTER.replace("TWO", "two"))).toEqual(["/p/a.txt undone 2", "/p/a.txt kept 3"]);
  expect(await verdicts(BEFORE)).toEqual(["/p/a.txt undone 2", "/p/a.txt undone 3"]);
});

test("a hunk with other text in its place is retyped", async () => {
  expect(await verdicts(AFTER.replace("TWO", "second"))).toEqual(["/p/a.txt retyped 2", "/p/a.txt kept 3"]);
});

test("lines that return in place of a deletion undo it, a deleted new file is undone, and an unreadable one says nothing", async () => {
  const shorter = "one\nthree\nfour\nfive\nsix\n";
  expect(await verdicts(BEFORE, BEFORE, shorter)).toEqual(["/p/a.txt undone 1"]);
  expect(await verdicts(shorter, BEFORE, shorter)).toEqual(["/p/a.txt kept 1"]);
  expect(await verdicts(null, null, "new\n")).toEqual(["/p/a.txt undone 1"]);
  expect(await verdicts(undefined, null, "new\n")).toEqual([]);
});

test("edits of a turn before this process are judged once, by their first and last texts", async () => {
  const path = "/p/a.txt";
  const edits = [
    { path, oldText: BEFORE, newText: "half\n" },
    { path, oldText: "half\n", newText: AFTER },
    { path: "/p/gone.txt", oldText: "x\n", newText: null },
  ];
  const inferred = new InferredVerdicts(
    async () => AFTER.replace("TWO", "two"),
    () => edits,
  );
  expect((await inferred.infer()).map(({ outcome }) => outcome)).toEqual(["undone", "kept"]);
  expect(await inferred.infer()).toEqual([]);
});
