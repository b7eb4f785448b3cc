// Uses of skills, and what follows from them: trial, retirement, and the rights of the user.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { readProcedures } from "../../../../agent-core/learning/call-checks.ts";
import { distillation } from "../../../../agent-core/learning/distillation/distillation.ts";
import type { LearntStore, Loop } from "../../../../agent-core/learning/loop.ts";
import { actOn } from "../../../../agent-core/learning/loops.ts";
import type { LearntItem } from "../../../../agent-core/protocol/learning.ts";
import { SkillLibrary } from "../../../../agent-core/skills/skill-library.ts";
import {
  type Bench,
  bench,
  DAY_MS,
  type Distiller,
  episode,
  faithful,
  familyAt,
  PROJECT,
  run,
  START,
  store,
} from "./repeated-tasks.ts";

const family = familyAt(0);
const NAME = "publish-glauno-build";
const signal = new AbortController().signal;

let home: string;
let made: Bench;
let loop: Loop;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "hermes-distillation-"));
  made = bench(home, faithful);
  loop = await distillation(made.ports);
});

async function work(): Promise<void> {
  while (await loop.work.doNext(signal));
}

/** The skill, learnt from three sessions with these scores. */
async function learn(...scores: readonly number[]): Promise<void> {
  await store(
    home,
    scores.map((score, at) => run(family, at, START - (at + 1) * DAY_MS, { score })),
  );
  await work();
}

/** Sessions in which the skill was used, one an hour. */
async function use(name: string, scores: readonly (number | null)[]): Promise<void> {
  for (const [at, score] of scores.entries()) {
    await made.clock.advance(3_600_000);
    await store(home, [run(family, at, made.clock.now(), { score, skills: [name] })]);
    await work();
  }
}

const item = async (): Promise<LearntItem | undefined> => (await loop.store.items())[0];
const file = (): string => join(home, "skills", "learnt", NAME, "SKILL.md");

/** Names of the skills that prompts list. */
async function listed(useLearnt = true, root = PROJECT): Promise<readonly string[]> {
  const library = new SkillLibrary({
    homeSkills: join(home, "skills"),
    roots: [root],
    trusted: () => true,
    externalFolders: [],
    disabled: [],
    pluginFolders: () => [],
    tools: () => ({ toolsets: [], tools: [] }),
    environment: {},
    now: () => 0,
    onUse: () => undefined,
    onDefect: (message) => expect.fail(message),
    useLearnt,
  });
  const { skills, failures } = await library.load();
  expect(failures).toEqual([]);
  return skills.flatMap(({ source, name, unusable }) => (source === "home" && unusable === undefined ? [name] : []));
}

test("a skill on trial is used at once, and is active after three good uses", async () => {
  await learn(1, 0, 0);
  expect(await listed()).toEqual([NAME]);
  expect(await listed(false)).toEqual([]);
  await use(`${NAME}@1`, [1, null]);
  expect(await item()).toMatchObject({ state: "trial", uses: 2, score: 1 });
  await use(`${NAME}@1`, [1]);
  expect(await item()).toMatchObject({ state: "active", uses: 3 });
  expect((await made.ledger.read()).at(-1)?.reason).toBe("Active: 3 sessions with it went well.");
});

test.each([40, 53, 54])("%i sessions of which two ended at each time are scored once", async (count) => {
  await learn(1, 1, 1);
  await made.clock.advance(3_600_000);
  const now = made.clock.now();
  const at = (index: number): number => now - 1_000 * Math.floor((index + 1) / 2);
  await store(
    home,
    Array.from({ length: count }, (_, index) => run(family, index, at(index))),
  );
  expect(await loop.work.keepUp?.(signal)).toBe(true);
  const again = await distillation(made.ports);
  expect([await loop.work.keepUp?.(signal), await again.work.keepUp?.(signal)]).toEqual([false, false]);
});

test("a skill with which sessions end badly is not offered", async () => {
  await learn(1, 1, 1);
  await use(`${NAME}@1`, [0, 0]);
  expect(await listed()).toEqual([]);
  expect(made.notices.at(-1)).toContain(`No longer offered: "${NAME}". In the last 2 sessions with it harmed: Run in`);
  await loop.store.act(`s-${NAME}`, "pin");
  expect(await listed()).toEqual([NAME]);
});

test("steps that stopped working give way to those of a later session, within a day", async () => {
  await learn(1, 1, 0);
  const moved = ["bin/nu1-pack --lane 9", "bin/mul-sign", "bin/zq7-push --all"];
  const failed = { command: family.commands[0] ?? "", exit: 1 };
  await made.clock.advance(DAY_MS);
  await store(home, [
    run(family, 1, made.clock.now(), { score: 0, skills: [`${NAME}@1`], commands: [failed, ...passed(...moved)] }),
  ]);
  await work();
  expect(readFileSync(file(), "utf8")).toContain("`bin/nu1-pack --lane 9`, then `bin/mul-sign`");
  expect(readFileSync(file(), "utf8")).not.toContain("zq7-pack");
  expect(made.notices.at(-1)).toMatch(/^Learnt: "publish-glauno-build" v2 from 4 sessions$/);
  expect(await loop.store.act(`s-${NAME}`, "undo")).toEqual({ ok: true, message: `"${NAME}" is version 1 again.` });
  expect(readFileSync(file(), "utf8")).toContain("zq7-pack");
});

test("a skill loses a step whose value a newer fact replaced, and does not learn it again", async () => {
  await learn(1, 1, 0);
  const step = family.commands[0] ?? "";
  const folder = join(home, "learning", "entities");
  mkdirSync(folder, { recursive: true });
  const times = "from 2026-11-01T10:00:00.000Z · until 2026-11-20T10:00:00.000Z";
  const facts = [
    `- [f-0000000001] The glauno build begins with \`${step}\`. · in ${PROJECT} · seen 1 · ${times} · replaced by f-0000000002`,
    `- [f-0000000002] The glauno build begins with \`bin/nu1\`. · in ${PROJECT} · seen 1 · from 2026-11-20T10:00:00.000Z`,
  ];
  writeFileSync(join(folder, "glauno.md"), `# glauno (project)\n\n${facts.join("\n")}\n`);
  await work();
  expect(await listed()).toEqual([]);
  expect(made.notices.at(-1)).toBe(`No longer offered: "${NAME}". \`${step}\` no longer holds`);
  await made.clock.advance(DAY_MS);
  await work();
  expect(await listed()).toEqual([]);
});

test("a session to which the user objected is no example for its skill, and one later session is", async () => {
  await learn(1, 1, 0);
  await made.clock.advance(DAY_MS);
  const corrections = ["No, that is wrong."];
  const old = { score: 0, corrections, commands: passed(...family.commands), skills: [`${NAME}@1`] };
  await store(home, [run(family, 1, made.clock.now(), old)]);
  await work();
  await made.clock.advance(DAY_MS);
  const found = [{ command: "bin/kao-tag 7", exit: 1 }, ...passed("bin/nu1-pack", "bin/kao-tag 7", "bin/lim-push")];
  await store(home, [run(family, 2, made.clock.now(), { score: null, commands: found })]);
  await work();
  expect(readFileSync(file(), "utf8")).toContain("`bin/nu1-pack`, then `bin/kao-tag 7`");
});

/** Commands that passed. */
const passed = (...commands: readonly string[]) => commands.map((command) => ({ command, exit: 0 }));

test("a skill is not offered while a file that names its step no longer does, until a session goes its way again", async () => {
  const project = join(home, "shop");
  const page = join(project, "docs", "publish.md");
  mkdirSync(dirname(page), { recursive: true });
  writeFileSync(page, "At last, run bin/zq7-push.\n");
  const session = (days: number) => {
    const commands = passed("cat docs/publish.md", ...family.commands);
    return run(family, days, made.clock.now() - days * DAY_MS, { cwd: project, commands });
  };
  await store(home, [session(1), session(2), session(3)]);
  await work();
  expect(await listed(true, project)).toEqual([NAME]);
  expect(await readProcedures(home, [project], "s")).toHaveLength(1);
  expect(readFileSync(file(), "utf8")).not.toContain("cites");
  writeFileSync(page, "At last, run bin/kao-push.\n");
  expect(await listed(true, project)).toEqual([]);
  expect(await readProcedures(home, [project], "s")).toEqual([]);
  await made.clock.advance(DAY_MS);
  await store(home, [session(1)]);
  await work();
  expect(await listed(true, project)).toEqual([]);
  await made.clock.advance(DAY_MS);
  await store(home, [session(0)]);
  await work();
  expect(await listed(true, project)).toEqual([NAME]);
});

test("steps that one session went through make no new skill", async () => {
  const ways = ["bin/ra1", "bin/ku2", "bin/mo3"].map((program) => passed(`${program} 7`, `${program}-push 7`));
  await store(
    home,
    ways.map((commands, at) => run(family, 0, START - (at + 1) * DAY_MS, { commands })),
  );
  await work();
  expect(await loop.store.items()).toEqual([]);
  expect((await made.ledger.read()).at(-1)?.reason).toMatch(/^Rejected: fewer than two sessions went this way/);
});

test("a skill that fails twice is not offered, and one session with other steps replaces them", async () => {
  await learn(1, 1, 0);
  const failed = { skills: [`${NAME}@1`], score: null, commands: [{ command: "bin/zq7-pack --lane 4", exit: 1 }] };
  for (const at of [0, 1]) {
    await made.clock.advance(3_600_000);
    await store(home, [run(family, at, made.clock.now(), failed)]);
    await work();
  }
  expect(await listed()).toEqual([]);
  expect((await item())?.reason).toMatch(/^Not offered now: In the last 2 sessions with it harmed: Run/);
  await made.clock.advance(DAY_MS);
  await store(home, [run(family, 2, made.clock.now(), { commands: passed("bin/nu1-pack", "bin/mul-sign") })]);
  await work();
  expect(readFileSync(file(), "utf8")).toContain("`bin/nu1-pack`, then `bin/mul-sign`");
  expect(await listed()).toEqual([NAME]);
});

test("a withheld skill on trial gives way to a session that shares no command with it", async () => {
  await learn(1, 1, 1);
  await use(`${NAME}@1`, [1]);
  const failed = { skills: [`${NAME}@1`], score: null, commands: [{ command: "bin/zq7-pack --lane 4", exit: 1 }] };
  await made.clock.advance(3_600_000);
  await store(home, [run(family, 0, made.clock.now() - 1, failed), run(family, 1, made.clock.now(), failed)]);
  await work();
  expect(await listed()).toEqual([]);
  await made.clock.advance(DAY_MS);
  const found = [{ command: "bin/kao-push", exit: 1 }, ...passed("bin/nu1-pack", "bin/kao-push")];
  await store(home, [run(family, 2, made.clock.now(), { score: null, commands: found })]);
  await work();
  expect(readFileSync(file(), "utf8")).toContain("`bin/nu1-pack`, then `bin/kao-push`");
});

test("a session that read a skill and did not go its way tells nothing about it, and one that went it unread does", async () => {
  await learn(1, 1, 1);
  const sessions = (commands: readonly string[], more: object) =>
    [0, 1, 2].map((at) => run(family, at, made.clock.now() - at, { commands: passed(...commands), ...more }));
  await made.clock.advance(3_600_000);
  await store(home, sessions(family.commands.slice(1), { skills: [`${NAME}@1`], score: 0, corrections: ["No."] }));
  await work();
  expect(await item()).toMatchObject({ state: "trial", uses: 0 });
  expect(await listed()).toEqual([NAME]);
  await made.clock.advance(3_600_000);
  await store(home, sessions(family.commands, { score: null }));
  await work();
  expect(await item()).toMatchObject({ state: "active", uses: 3 });
});

test("a withheld skill is tried in a tenth of the sessions, unless its file no longer names its step", async () => {
  await learn(1, 1, 1);
  await use(`${NAME}@1`, [0, 0]);
  expect(await listed()).toEqual([]);
  const ids = Array.from({ length: 200 }, (_, at) => `s-${at}`);
  const tries = async () => (await Promise.all(ids.map((id) => readProcedures(home, [PROJECT], id)))).flat().length;
  expect(await tries()).toBeGreaterThan(8);
  expect(await tries()).toBeLessThan(40);
  await use(`${NAME}@1`, [1]);
  expect(await tries()).toBe(200);
});

test("words beside one request reach no skill", async () => {
  const requests = ["Publish the glauno build 17. My diabetes is bad today.", ...family.requests.slice(1)];
  await store(
    home,
    requests.map((firstMessage, at) => run(family, at, START - (at + 1) * DAY_MS, { firstMessage })),
  );
  await work();
  expect(readFileSync(file(), "utf8")).toContain('applicable_when: "publish the glauno build"');
});

test("a correction of a session that used a skill changes the skill within a day", async () => {
  const follow: Distiller = (prompt) => {
    const rule = [...prompt.matchAll(/(?<=No, )a note ends with `\S+`/g)].at(-1)?.[0] ?? "";
    const id = /^- \[(b\d+)\].*; wrong now: the user corrected/m.exec(prompt)?.[1];
    const delta =
      id === undefined ? { op: "add", text: `Write: ${rule}.` } : { op: "edit", id, text: `Write: ${rule}.` };
    return JSON.stringify({ name: NAME, description: "Write a note.", deltas: [delta] });
  };
  made = bench(home, follow);
  loop = await distillation(made.ports);
  const corrected = (value: string) => ({
    score: 0,
    commands: [],
    corrections: [`No, a note ends with \`${value}\`.`],
  });
  await store(
    home,
    [0, 1, 2].map((at) => run(family, at, START - (at + 1) * DAY_MS, corrected("kau-1"))),
  );
  await work();
  expect(readFileSync(file(), "utf8")).toContain("a note ends with `kau-1`");
  await made.clock.advance(DAY_MS);
  await store(home, [run(family, 1, made.clock.now(), { ...corrected("mei-2"), skills: [`${NAME}@1`] })]);
  await work();
  expect(readFileSync(file(), "utf8")).toContain("a note ends with `mei-2`");
  expect(readFileSync(file(), "utf8")).not.toContain("kau-1");
});

test("a skill of another author is not judged by the sessions that used it", async () => {
  const path = join(home, "skills", "glauno-publishing", "SKILL.md");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "---\nname: glauno-publishing\ndescription: Publish.\n---\n1. Run `bin/wrong-tool`.\n");
  await store(
    home,
    [0, 1, 2, 3].map((at) => run(family, at, START - (at + 9) * DAY_MS)),
  );
  await use("glauno-publishing@", [0, 0, 0, 0, 0]);
  expect(await listed()).toContain("glauno-publishing");
  expect((await loop.store.items()).map(({ id }) => id)).not.toContain("s-glauno-publishing");
});

test("a file that the user edited changes only when the user accepts it", async () => {
  await learn(1, 0, 0);
  const edited = readFileSync(file(), "utf8").replace("- Run", "My own words.\n\n- Run");
  writeFileSync(file(), edited);
  await use(`${NAME}@1`, [0, 0, 0.5]);
  await made.clock.advance(DAY_MS);
  const more = { command: "bin/tag-it", exit: 0 };
  const commands = [...family.commands.map((command) => ({ command, exit: 0 })), more];
  await store(home, [run(family, 1, made.clock.now(), { commands })]);
  await work();
  expect(readFileSync(file(), "utf8")).toBe(edited);
  expect(await item()).toMatchObject({ state: "proposed", actions: ["accept", "undo", "pin", "forget"] });
  expect(await loop.store.act(`s-${NAME}`, "accept")).toEqual({ ok: true, message: `"${NAME}" is changed.` });
  const accepted = readFileSync(file(), "utf8");
  expect(accepted).toContain("My own words.");
  expect(accepted).toContain("`bin/tag-it`");
});

test("a skill that the user wrote for the task is kept, and one is learnt beside it when sessions with it end worse", async () => {
  const path = join(home, "skills", "my-publishing", "SKILL.md");
  mkdirSync(dirname(path), { recursive: true });
  const text = "---\nname: my-publishing\ndescription: Publish.\n---\nRun `make it`.\n";
  writeFileSync(path, text);
  const used = { skills: ["my-publishing@"] };
  await store(
    home,
    [1, 2, 3].map((day) => run(family, day, START - day * DAY_MS, { ...used, score: 0.9 })),
  );
  await work();
  expect(await loop.store.items()).toEqual([]);
  await made.clock.advance(DAY_MS);
  await store(home, [run(family, 1, made.clock.now(), { score: 0.5, skills: ["my-publishing@"] })]);
  await work();
  expect(readFileSync(path, "utf8")).toBe(text);
  expect((await loop.store.items()).map(({ text: learnt }) => learnt)).toEqual([expect.stringMatching(/^publish/)]);
});

test("beside a skill of the user with which each session has a failure, one is learnt", async () => {
  const path = join(home, "skills", "my-publishing", "SKILL.md");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "---\nname: my-publishing\ndescription: Publish.\n---\nRun `bin/wrong`.\n");
  const commands = [{ command: "bin/wrong", exit: 1 }, ...passed(...family.commands)];
  await store(
    home,
    [1, 2, 3].map((day) => run(family, day, START - day * DAY_MS, { skills: ["my-publishing@"], commands })),
  );
  await work();
  expect((await loop.store.items()).map(({ text }) => text)).toEqual([expect.stringMatching(/^publish/)]);
});

test("forgetting a skill removes its texts, and its sessions teach no new one", async () => {
  await learn(1, 0, 1);
  expect(await loop.store.act(`s-${NAME}`, "forget")).toEqual({ ok: true, message: `Forgotten: "${NAME}".` });
  expect(await loop.store.items()).toEqual([]);
  expect(readFileSync(join(home, "learning", "ledger.jsonl"), "utf8")).not.toContain("zq7-pack");
  await made.clock.advance(DAY_MS);
  await work();
  expect(existsSync(file())).toBe(false);
  expect(await loop.store.act(`s-${NAME}`, "pin")).toBeUndefined();
});

test("a skill goes with the episode of one of its sessions, and the others teach it anew", async () => {
  await learn(1, 0, 1, 1);
  const [session = ""] = (await item())?.sessions ?? [];
  const episodes: LearntStore = { items: async () => [], act: async () => ({ ok: true, message: "Forgotten." }) };
  await actOn([episodes, loop.store], `e-${session}`, "forget");
  expect(await loop.store.items()).toEqual([]);
  expect(existsSync(dirname(file()))).toBe(false);
  await made.clock.advance(DAY_MS);
  await work();
  expect((await item())?.sessions).not.toContain(session);
});

test("a skill goes with a forgotten fact whose value one of its steps has", async () => {
  await learn(1, 0, 1, 1);
  const [sample] = await loop.store.items();
  const facts = (text: string): LearntStore => ({
    items: async () => (sample === undefined ? [] : [{ ...sample, id: "f-000001", kind: "fact", text, sessions: [] }]),
    act: async (id) => (id === "f-000001" ? { ok: true, message: "Forgotten." } : undefined),
  });
  await actOn([facts("The packer is `bin/other`."), loop.store], "f-000001", "forget");
  expect(await loop.store.items()).toHaveLength(1);
  await actOn([facts("The packer is `bin/zq7-pack`."), loop.store], "f-000001", "forget");
  expect(await loop.store.items()).toEqual([]);
  expect(existsSync(dirname(file()))).toBe(false);
  expect(readFileSync(join(home, "learning", "ledger.jsonl"), "utf8")).not.toContain("zq7-pack");
});

test("a pinned skill is neither changed nor retired", async () => {
  await learn(1, 1, 1);
  await loop.store.act(`s-${NAME}`, "pin");
  await use(`${NAME}@1`, [0, 0, 0, 0, 0]);
  expect(await item()).toMatchObject({ state: "trial", pinned: true });
});

test("an item of another loop is none of the skills", async () => {
  expect(await loop.store.act("f-1", "undo")).toBeUndefined();
  await store(home, [episode(START)]);
  await work();
  expect(await loop.store.items()).toEqual([]);
});
