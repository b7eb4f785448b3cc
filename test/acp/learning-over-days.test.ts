/** Short form of `npm run bench:learning`: its instrument can be trusted. */
import { beforeAll, expect, test } from "vitest";
import { armNamed } from "../bench/learning/arms.ts";
import { filesWith } from "../bench/learning/chance.ts";
import { type ArmRun, runArm, type TaskRecord } from "../bench/learning/run-arm.ts";

const SALT = crypto.randomUUID();
/** Each day is about two seconds of a quiet machine. */
const TIMEOUT_MS = 300_000;

async function run(arm: string): Promise<ArmRun> {
  return runArm({ arm: armNamed(arm), seed: 1, salt: SALT, days: 3, tasks: 4, noise: 0.1 });
}

const withNeed = ({ tasks }: ArmRun): readonly TaskRecord[] => tasks.filter(({ right }) => right.length > 0);

let off: ArmRun;

beforeAll(async () => {
  off = await run("off");
}, TIMEOUT_MS);

test("no file has a token of the world before the run", () => {
  expect(off.tokens.length).toBeGreaterThan(30);
  expect(filesWith(off.tokens)).toEqual([]);
});

test("with everything off the model learns each need anew, from the user or its tools", () => {
  const regions = withNeed(off).flatMap(({ right }) => right);
  expect(regions.filter((region) => !["user's message", "result of terminal"].includes(region))).toEqual([]);
  expect(off.tasks.filter(({ kind, firstTry }) => kind === "preference" && firstTry)).toEqual([]);
});

test(
  "two runs with everything off are equal",
  async () => {
    const again = await run("off");
    // The sizes of requests vary with the lengths of temporary paths, and near the window with them the iterations.
    const facts = ({ tasks }: ArmRun) =>
      tasks.map(({ day, family, kind, corrections, firstTry, success, right, wrong }) => {
        return { day, family, kind, corrections, firstTry, success, right, wrong };
      });
    expect(facts(again)).toEqual(facts(off));
  },
  TIMEOUT_MS,
);

test(
  "a model that is given its needs is right at once",
  async () => {
    const { tasks } = await run("oracle");
    const taught = tasks.filter(({ kind }) => ["preference", "fact", "procedure", "decision"].includes(kind));
    expect(taught.filter(({ firstTry }) => !firstTry)).toEqual([]);
  },
  TIMEOUT_MS,
);
