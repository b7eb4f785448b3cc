import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundled } from "../../../agent-core/skills/bundled.gen.ts";
import { routeSkills } from "../../../agent-core/skills/route-skills.ts";
import type { SkillTriggers } from "../../../agent-core/skills/skill.ts";

/** Twelve proven skills of a team, each with its own subject. */
const SUBJECTS = "billing search mobile catalog mailer gateway ledger pricing stock auth media report".split(" ");

const team = SUBJECTS.map((subject) => ({
  name: `release-${subject}`,
  triggers: { globs: [`deploy/${subject}/**`], keywords: [`release|deploy ${subject}`, `${subject} rollback`] },
}));

/** Work that no skill describes, much of it with words of the triggers. */
const OTHERS: readonly string[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "messages-without-skill.json"), "utf8"),
);

test("each message of a team gets its own skill, and other work gets none", () => {
  for (const subject of SUBJECTS) {
    for (const message of [
      `Deploy ${subject} to staging`,
      `please release the new ${subject} service`,
      `We need a ${subject} rollback now`,
    ])
      expect(
        routeSkills(message, team).map(({ name }) => name),
        message,
      ).toEqual([`release-${subject}`]);
  }
  expect(OTHERS.filter((message) => routeSkills(message, team).length > 0)).toEqual([]);
});

test("no bundled skill is added to a message by itself: the model chooses by the description", () => {
  expect(bundled.length).toBeGreaterThan(5);
  for (const { triggers } of bundled) expect(triggers).toEqual({ globs: [], keywords: [] });
});

const route = (message: string, ...triggers: readonly Partial<SkillTriggers>[]): readonly number[] => {
  const candidates = triggers.map((each, id) => ({ id, triggers: { globs: [], keywords: [], ...each } }));
  return routeSkills(message, candidates).map(({ id }) => id);
};

test("a common word alone adds nothing; with a file that fits it does", () => {
  const deploy = { keywords: ["deploy*"], globs: ["deploy/**/*.yaml"] };
  expect(route("the deploy page is blue", deploy)).toEqual([]);
  expect(route("the deployment in deploy/eu/app.yaml is wrong", deploy)).toEqual([0]);
});

test("a second skill is added only when it fits nearly as well", () => {
  const [three, two] = [{ keywords: ["ship billing service"] }, { keywords: ["billing service"] }];
  expect(route("ship the billing service", three, three, three)).toEqual([0, 1]);
  expect(route("ship the billing service", two, three)).toEqual([1]);
});

test("the phrases of a keyword may come in any order, but in one sentence", () => {
  const failing = { keywords: ["test|tests & fail*"] };
  expect(route("it fails in two of the tests", failing)).toEqual([0]);
  expect(route("The upload fails. Run the tests.", failing)).toEqual([]);
});

test("an excluded phrase keeps a skill from the message only when its words are adjacent", () => {
  const skill = { keywords: ["add test*"], not: ["test user"] };
  expect(route("add a test user", skill)).toEqual([]);
  expect(route("add a test for each user", skill)).toEqual([0]);
});

test("code and quoted text of a message do not count", () => {
  expect(
    route("make this shorter:\n```\nwrite tests for it\n```\n> write tests for it", { keywords: ["write tests"] }),
  ).toEqual([]);
});
