// Skills that people wrote, and sessions that show that their commands do not hold.
import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { distillation } from "../../../../agent-core/learning/distillation/distillation.ts";
import type { Loop } from "../../../../agent-core/learning/loop.ts";
import { SessionSkills } from "../../../../agent-core/skills/session-skills.ts";
import { type Bench, bench, DAY_MS, faithful, familyAt, PROJECT, run, START, store } from "./repeated-tasks.ts";

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

test("a skill for another task stays, though a session that read it went a learnt way", async () => {
  await learn();
  write("Write the letter to the board of investors.");
  await read(right);
  expect(await isListed()).toBe(true);
});

test.each([
  [
    "a command that passed once its cause was mended",
    [
      ["git fetch", 1],
      ["ssh-add", 0],
      ["git fetch", 0],
      ["git rebase main", 0],
    ],
  ],
  [
    "a command that failed while nothing else did the work",
    [
      ["git fetch", 128],
      ["ls", 0],
    ],
  ],
  ["a learnt way for something else", right],
] as const)("a list of commands stays after two sessions with %s", async (_, commands) => {
  await learn();
  write("Words of our house.", ["git fetch", "git rebase", "git reset"]);
  await read(commands, commands);
  expect(await isListed()).toBe(true);
});

test("a skill that was withdrawn is listed once a later session went its way", async () => {
  write("Publish a glauno build.");
  await read(wrong, wrong);
  expect(await isListed()).toBe(false);
  await read(STEPS.map((step) => [`${step} 19`, 0] as const));
  expect(await isListed()).toBe(true);
  await read(wrong);
  expect(await isListed()).toBe(true);
});

test("the newest doubt of the open projects decides", async () => {
  const path = write("Publish a glauno build.");
  await read(wrong, wrong);
  utimesSync(path, made.clock.now() / 1_000 + 1, made.clock.now() / 1_000 + 1);
  await made.clock.advance(3_600_000);
  const parts = `${PROJECT}/parts`;
  for (const number of [40, 41]) {
    await made.clock.advance(3_600_000);
    const commands = wrong.map(([command, exit]) => ({ command, exit }));
    await store(home, [run(family, number, made.clock.now(), { cwd: parts, commands, skills: [`${NAME}@1.0.0`] })]);
    while (await loop.work.doNext(signal));
  }
  expect([await isListed(), await isListed(parts)]).toEqual([true, false]);
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
