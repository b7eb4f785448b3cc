// Skills from repeated tasks: from episodes on the disk to SKILL.md files, by a scripted model.
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { distillation } from "../../../../agent-core/learning/distillation/distillation.ts";
import type { Episode } from "../../../../agent-core/learning/episodes.ts";
import type { Loop } from "../../../../agent-core/learning/loop.ts";
import { parseSkill } from "../../../../agent-core/skills/skill.ts";
import { sweep } from "../../../support/scale.ts";
import { type Bench, bench, DAY_MS, FAMILIES, faithful, run, START, single, store } from "./repeated-tasks.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-distillation-"));
});

const signal = new AbortController().signal;

async function runLoop(ports: Bench["ports"]): Promise<Loop> {
  const loop = await distillation(ports);
  while (await loop.work.doNext(signal));
  return loop;
}

const learntFolder = (): string => join(home, "skills", "learnt");
const learnt = (): readonly string[] => (existsSync(learntFolder()) ? readdirSync(learntFolder()).toSorted() : []);
const skillFile = (name: string): string => readFileSync(join(learntFolder(), name, "SKILL.md"), "utf8");

/** Three runs of each family on different days, and single tasks between them. */
function mixed(count: number): readonly Episode[] {
  const planted = FAMILIES.flatMap((family, at) =>
    [0, 1, 2].map((index) => run(family, index, START - (index + 1) * DAY_MS - at * 3_600_000)),
  );
  const others = Array.from({ length: count - planted.length }, (_, index) =>
    single(index, START - ((index % 6) + 1) * DAY_MS + index * 60_000),
  );
  return [...planted, ...others];
}

test("planted families among mixed tasks become exactly one skill each", async () => {
  await store(home, mixed(sweep(500, 60)));
  const { ports, notices } = bench(home, faithful);
  const loop = await runLoop(ports);
  expect(learnt()).toHaveLength(FAMILIES.length);
  expect(notices).toContainEqual(expect.stringMatching(/^Learnt: "publish-glauno-build" v1 from 3 sessions$/));
  expect((await loop.store.items()).map(({ state }) => state)).toEqual(FAMILIES.map(() => "trial"));
  const text = skillFile("publish-glauno-build");
  expect(text).toContain("`bin/zq7-pack --lane 4`, then `bin/mul-sign`, then `bin/zq7-push --all`");
  const parsed = await parseSkill(text, "publish-glauno-build");
  expect(parsed).toMatchObject({
    ok: true,
    facts: { version: "1", project: "/work/shop", author: "hermes-agent", score: 1 },
  });
});
