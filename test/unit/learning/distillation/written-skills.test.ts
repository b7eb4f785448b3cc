// Skills that people wrote, and sessions that show that their commands do not hold.
import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { distillation } from "../../../../agent-core/learning/distillation/distillation.ts";
import type { Loop } from "../../../../agent-core/learning/loop.ts";
import { SessionSkills } from "../../../../agent-core/skills/session-skills.ts";
import {
  type Bench,
  bench,
  DAY_MS,
  episode,
  faithful,
  familyAt,
  PROJECT,
  run,
  START,
  store,
} from "./repeated-tasks.ts";

const family = familyAt(0);
const NAME = "glauno-by-hand";
const STEPS = ["bin/old-pack", "bin/old-push"];
const signal = new AbortController().signal;

let home: string;
let made: Bench;
let loop: Loop;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "hermes-distillation-"));
  made = bench(home, faithful);
  loop = await distillation(made.ports);
});

/** The skill in a language, as it was written at the start. */
function write(description: string, steps: readonly string[] = STEPS): string {
  const folder = join(home, "skills", NAME);
  mkdirSync(folder, { recursive: true });
  const list = steps.map((step, at) => `${at + 1}. \`${step} NUMBER\``).join("\n");
  const path = join(folder, "SKILL.md");
  writeFileSync(path, `---\nname: ${NAME}\ndescription: ${description}\n---\n# Steps\n\n${list}\n`);
  utimesSync(path, START / 1_000 - 1, START / 1_000 - 1);
  return path;
}

/** One session an hour that read the skill and ran these commands. */
async function read(...sessions: readonly (readonly (readonly [string, number])[])[]): Promise<void> {
  for (const [at, commands] of sessions.entries()) {
    await made.clock.advance(3_600_000);
    const ran = commands.map(([command, exit]) => ({ command, exit }));
    await store(home, [run(family, at, made.clock.now(), { commands: ran, skills: [`${NAME}@1.0.0`] })]);
    while (await loop.work.doNext(signal));
  }
}

function sessionSkills(root = PROJECT): SessionSkills {
  return new SessionSkills({
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
  });
}

async function isListed(root = PROJECT): Promise<boolean> {
  return (await sessionSkills(root).promptText())?.includes(NAME) === true;
}

const right = family.commands.map((command) => [command, 0] as const);
const wrong = [["bin/old-pack 17", 1], ...right] as const;

/** Three sessions teach the right way. */
async function learn(requests = family.requests): Promise<void> {
  const taught = { ...family, requests };
  await store(
    home,
    [1, 2, 3].map((days) => run(taught, days - 1, START - days * DAY_MS)),
  );
  while (await loop.work.doNext(signal));
}

test("a skill whose commands failed in two sessions in a row is listed in other projects only", async () => {
  write("Publish a glauno build.");
  await read(wrong);
  expect(await isListed()).toBe(true);
  await read(wrong);
  expect([await isListed(), await isListed("/project/other")]).toEqual([false, true]);
  const line = `No longer offered to the model in ${PROJECT}: "${NAME}". Its commands did not hold in 2 sessions in a row that read it.`;
  expect(made.notices.filter((notice) => notice.includes(NAME))).toEqual([
    `${line} \`/skills enable ${NAME}\` offers it again.`,
  ]);
});

test("a failure that a session with all commands followed is forgotten", async () => {
  write("Publish a glauno build.");
  await read(
    wrong,
    STEPS.map((step) => [`${step} 18`, 0] as const),
    wrong,
  );
  expect(await isListed()).toBe(true);
});

test.each([
  ["Publish the glauno build (release).", "Publish the glauno build"],
  ["Das glauno-Paket veröffentlichen.", "Das glauno-Paket veröffentlichen, Nummer"],
  ["Publicar el paquete glauno.", "Publicar el paquete glauno"],
  ["发布glauno安装包。", "发布glauno安装包"],
  ["glaunoパッケージを公開する。", "glaunoパッケージを公開する"],
])("one session that did the work by the learnt way is enough: %s", async (description, request) => {
  const requests = [17, 18, 21].map((number) => `${request} ${number}`);
  await learn(requests);
  write(description);
  await made.clock.advance(3_600_000);
  const commands = right.map(([command, exit]) => ({ command, exit }));
  const firstMessage = `${request} 30`;
  await store(home, [episode(made.clock.now(), { firstMessage, commands, skills: [`${NAME}@1.0.0`] })]);
  while (await loop.work.doNext(signal));
  expect(await isListed()).toBe(false);
  expect(made.notices.at(-1)).toContain("A session that read it did the work as in");
});

test("two such sessions are enough where the skill and the requests have no common language", async () => {
  await learn([17, 18, 21].map((number) => `请发布新版本 ${number}`));
  write("Ship a build.");
  const shown: boolean[] = [];
  for (const number of [30, 31]) {
    await made.clock.advance(3_600_000);
    const commands = right.map(([command, exit]) => ({ command, exit }));
    const firstMessage = `请发布新版本 ${number}`;
    await store(home, [episode(made.clock.now(), { firstMessage, commands, skills: [`${NAME}@1.0.0`] })]);
    while (await loop.work.doNext(signal));
    shown.push(await isListed());
  }
  expect(shown).toEqual([true, false]);
});

test("a skill for another task stays, though a session that read it went a learnt way", async () => {
  await learn();
  write("Write the letter to the board of investors.");
  await read(right);
  expect(await isListed()).toBe(true);
});

test("the user names a doubted skill, enables it for good, or edits it", async () => {
  const path = write("Publish a glauno build.");
  await read(wrong, wrong);
  const skills = sessionSkills();
  await skills.loaded();
  expect(await skills.attach(`/${NAME} 17`)).toContain("bin/old-pack");
  const [list] = skills.commands();
  expect(await list?.run("", signal)).toContain(`not offered to the model: Its commands did not hold`);
  utimesSync(path, made.clock.now() / 1_000 + 1, made.clock.now() / 1_000 + 1);
  expect(await isListed()).toBe(true);
  utimesSync(path, START / 1_000, START / 1_000);
  expect(await isListed()).toBe(false);
  await list?.run(`enable ${NAME}`, signal);
  expect(await isListed()).toBe(true);
  await read(wrong, wrong);
  expect(await isListed()).toBe(true);
});
