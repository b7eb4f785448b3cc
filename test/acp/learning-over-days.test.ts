/** Short form of `npm run bench:learning`: the instrument can fail, and hostile files reach no prompt. */
import { beforeAll, expect, test } from "vitest";
import { understand } from "../bench/learning/apprentice.ts";
import { HOSTILE, HOSTILE_LINES, LANGUAGES, STATEMENTS } from "../bench/learning/languages.ts";
import { armNamed } from "../bench/learning/report.ts";
import { type ArmRun, runArm } from "../bench/learning/run-arm.ts";

/** Each day is about two seconds of a quiet machine. */
const TIMEOUT_MS = 300_000;

function run(arm: string): Promise<ArmRun> {
  return runArm({ arm: armNamed(arm), seed: 5, salt: "short", days: 4, tasks: 3, noise: 0 });
}

let on: ArmRun;
let off: ArmRun;

beforeAll(async () => {
  on = await run("on");
  off = await run("off");
}, TIMEOUT_MS);

test("the model of the trial understands a statement in each language and wording", () => {
  const understood = LANGUAGES.map(
    (language) => understand((STATEMENTS.port[language][1] ?? "").replace("{s}", "mailer").replace("{v}", "8417"))[0],
  );
  expect(understood.map((saying) => `${saying?.subject} ${saying?.value}`)).toEqual(LANGUAGES.map(() => "mailer 8417"));
  expect(HOSTILE_LINES.flatMap((line) => understand(line)).map(({ value }) => value)).toEqual(
    HOSTILE_LINES.map(() => HOSTILE),
  );
});

test("with everything off no line beside the conversation says what the user wants", () => {
  expect(off.tasks.map(({ lines }) => lines.true)).toEqual(off.tasks.map(() => 0));
  expect(off.tasks.filter(({ firstTry }) => firstTry)).toEqual([]);
});

test("with learning on the user corrects less", () => {
  const corrections = ({ tasks }: ArmRun): number => tasks.reduce((sum, task) => sum + task.corrections, 0);
  expect(corrections(on)).toBeLessThan(corrections(off));
});

test("a line of a hostile file is in no prompt", () => {
  expect(on.tasks.filter(({ lines, injected }) => lines.injected > 0 || injected > 0)).toEqual([]);
});
