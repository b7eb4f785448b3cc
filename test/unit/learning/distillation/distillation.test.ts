// Skills from repeated tasks: from episodes on the disk to SKILL.md files, by a scripted model.
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import * as groups from "../../../../agent-core/learning/distillation/clusters.ts";
import { distillation } from "../../../../agent-core/learning/distillation/distillation.ts";
import type { Episode } from "../../../../agent-core/learning/episode.ts";
import * as files from "../../../../agent-core/learning/episode-files.ts";
import type { Loop } from "../../../../agent-core/learning/loop.ts";
import { parseSkill } from "../../../../agent-core/skills/skill.ts";
import { sweep } from "../../../support/scale.ts";
import { live, MOMENTS, power } from "../support/dying-writes.ts";
import {
  type Bench,
  bench,
  DAY_MS,
  type Distiller,
  FAMILIES,
  faithful,
  familyAt,
  filesOf,
  invented,
  passedIn,
  run,
  START,
  seeded,
  single,
  store,
} from "./repeated-tasks.ts";

vi.mock("../../../../agent-core/config/home-file.ts", async (load) =>
  (await import("../support/dying-writes.ts")).mortal(await load(), (path) => !path.includes("episodes")),
);

vi.mock("../../../../agent-core/learning/episode-files.ts", { spy: true });
vi.mock("../../../../agent-core/learning/distillation/clusters.ts", { spy: true });

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
  expect(text).toContain('avg_feedback_score: "1.00"');
  const parsed = await parseSkill(text, "publish-glauno-build");
  expect(parsed).toMatchObject({
    ok: true,
    facts: { version: "1", project: "/project/shop", author: "hermes-agent" },
  });
});

test("with skills.write_approval a new skill waits without a file, and is on trial once accepted", async () => {
  const family = familyAt(0);
  await store(
    home,
    [1, 2, 3].map((day) => run(family, day - 1, START - day * DAY_MS)),
  );
  const { ports, notices } = bench(home, faithful);
  const asking = { ...ports, settings: () => ({ ...ports.settings(), asksForSkills: true }) };
  const loop = await runLoop(asking);
  expect(learnt()).toEqual([]);
  expect(notices).toEqual([expect.stringMatching(/^A new skill, ".+" from 3 sessions, waits for you$/)]);
  const [item] = await loop.store.items();
  expect(item).toMatchObject({ state: "proposed", actions: expect.arrayContaining(["accept", "undo", "forget"]) });
  expect(item?.text).toContain("+ Run in this order: `bin/zq7-pack --lane 4`");
  expect(item?.path).toBeUndefined();
  expect(await loop.store.act(item?.id ?? "", "accept")).toMatchObject({ ok: true });
  expect(learnt()).toHaveLength(1);
  expect(await loop.store.items()).toMatchObject([{ state: "trial", version: "1" }]);
});

test("a model whose statements are rejected is asked once more, with the reasons", async () => {
  const family = familyAt(0);
  await store(
    home,
    [0, 1, 2].map((index) => run(family, index, START - (index + 1) * DAY_MS)),
  );
  const wrong = JSON.stringify({ deltas: [{ op: "add", text: "Run `bin/mul-sign --force`." }] });
  const mending: Distiller = (prompt) => (prompt.includes("that were rejected") ? faithful(prompt) : wrong);
  const { ports, prompts } = bench(home, mending);
  await runLoop(ports);
  expect(prompts).toHaveLength(2);
  expect(prompts[1]).toContain('no episode has "bin/mul-sign --force"');
  expect(learnt()).toHaveLength(1);
});

test("a look without new sessions reads none, and one without a model makes no clusters", async () => {
  await store(home, mixed(60));
  const { ports } = bench(home, faithful);
  let isAvailable = false;
  const loop = await distillation({ ...ports, model: { ...ports.model, isAvailable: async () => isAvailable } });
  const read = vi.mocked(files.readEpisodes).mockClear();
  const clustered = vi.mocked(groups.clusterEpisodes).mockClear();
  for (let look = 0; look < 5; look += 1) expect(await loop.work.doNext(signal)).toBe(false);
  expect([read.mock.calls.length, clustered.mock.calls.length]).toEqual([1, 0]);
  isAvailable = true;
  while (await loop.work.doNext(signal));
  expect(learnt()).toHaveLength(FAMILIES.length);
  const reads = read.mock.calls.length;
  expect(await loop.work.keepUp?.(signal)).toBe(false);
  expect([reads, read.mock.calls.length]).toEqual([1, 1]);
});

test("two sessions of a kind make no skill, and the result says so", async () => {
  const family = familyAt(0);
  await store(home, [run(family, 0, START - DAY_MS), run(family, 1, START - 2 * DAY_MS)]);
  const { ports, prompts } = bench(home, faithful);
  const loop = await runLoop(ports);
  expect(learnt()).toEqual([]);
  expect(prompts).toEqual([]);
  expect(await loop.lastRun()).toEqual({ at: START, result: "0 repeated tasks in 2 sessions." });
});

test("sessions of delegated tasks, of other projects and of the week before do not count", async () => {
  const family = familyAt(0);
  await store(home, [
    run(family, 0, START - DAY_MS),
    run(family, 1, START - 2 * DAY_MS, { origin: "delegation" }),
    run(family, 2, START - 2 * DAY_MS, { cwd: "/project/other" }),
    run(family, 2, START - 8 * DAY_MS),
  ]);
  await runLoop(bench(home, faithful).ports);
  expect(learnt()).toEqual([]);
});

test("a second run on the same day asks nothing and changes nothing", async () => {
  await store(home, mixed(16));
  const first = bench(home, faithful);
  await runLoop(first.ports);
  const before = filesOf(home);
  const second = bench(home, faithful);
  await runLoop(second.ports);
  expect(second.prompts).toEqual([]);
  expect(filesOf(home)).toEqual(before);
});

test("a process that is killed at any write leaves the same store after its next run", async () => {
  const episodes = [0, 1, 2].flatMap((family) =>
    [0, 1, 2].map((index) => run(familyAt(family), index, START - (index + 1) * DAY_MS)),
  );
  await store(home, episodes);
  live();
  await runLoop(bench(home, faithful).ports);
  const wanted = filesOf(home);
  const { writes } = power;
  for (const moment of MOMENTS) {
    for (let diesAt = 1; diesAt <= writes; diesAt += 1) {
      home = mkdtempSync(join(tmpdir(), "hermes-distillation-"));
      live();
      await store(home, episodes);
      Object.assign(power, { writes: 0, diesAt, moment });
      await runLoop(bench(home, faithful).ports).catch(() => undefined);
      live();
      await runLoop(bench(home, faithful).ports);
      expect(filesOf(home), `killed ${moment} write ${diesAt}`).toEqual(wanted);
    }
  }
  expect(writes * MOMENTS.length).toBeGreaterThanOrEqual(40);
});

test.each([0, 0.1, 0.3, 0.6])(
  "a model that invents commands and flags with probability %f gets none into a skill",
  async (share) => {
    const chance = seeded(7);
    const real = new Set(FAMILIES.flatMap(({ commands }) => commands));
    await store(home, mixed(16));
    for (let day = 0; day < sweep(8, 1); day += 1) {
      const noisy: Distiller = (prompt) => {
        const steps = passedIn(prompt).map((command) => (chance() < share ? invented(command, chance) : command));
        const deltas = steps
          .slice(0, 3)
          .map((step) => ({ op: "add", text: chance() < 0.5 ? `Run \`${step}\`.` : `Run ${step} first.` }));
        return JSON.stringify({ name: "task", description: "A repeated task.", applicable_when: [], deltas });
      };
      const made = bench(home, noisy);
      await made.clock.advance(day * 60_000);
      await runLoop(made.ports);
      for (const name of learnt()) {
        const commands = [...skillFile(name).matchAll(/^- Run (?:`(.+)`\.|(.+) first\.)$/gm)].map(
          ([, quoted, plain]) => quoted ?? plain,
        );
        expect(commands.filter((command) => !real.has(command ?? ""))).toEqual([]);
      }
      home = mkdtempSync(join(tmpdir(), "hermes-distillation-"));
      await store(home, mixed(16));
    }
  },
);
