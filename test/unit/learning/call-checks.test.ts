// Learnt skills as checks of commands.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { HookPayload } from "../../../agent-core/hooks/hook.ts";
import { CallChecks, skipsSteps } from "../../../agent-core/learning/call-checks.ts";
import type { Fact } from "../../../agent-core/learning/facts.ts";
import { LearntContext } from "../../../agent-core/learning/learnt-context.ts";
import { ManualClock } from "../../support/manual-clock.ts";

test("a step before its time skips the ones before it, also in one call and in other spellings", () => {
  const procedure = { steps: ["bin/pack <name>", "bin/sign", "npm publish"] };
  const skips = (commands: readonly string[], ...ran: readonly string[]) =>
    skipsSteps(procedure, commands, new Set(ran));
  expect(skips(["bin/pack one"])).toBe(false);
  expect(skips(["npm publish"], "bin/pack")).toBe(true);
  expect(skips(["npm publish --tag x"], "bin/pack", "bin/sign")).toBe(false);
  expect(skips(["./bin/pack one", "env A=1 bin/sign", "npm publish"])).toBe(false);
  expect(skips(["bin/sign", "bin/pack one"])).toBe(true);
  expect(skips(["npm test"])).toBe(false);
});

test.each([
  ["Publish the release 2.0", "bin/push 2.0", true, "block"],
  ["Publish the release 2.0. I am in a hurry, as the ship leaves soon today.", "bin/push 2.0", true, "block"],
  ["Publish the release 2.0", "bin/ship 2.0", true, "block"],
  ["Publish the release 2.0", "cd src && git status", true, undefined],
  ["Publish the release 2.0", "timeout 60 ./bin/pack 2.0", true, undefined],
  ["Publish the release 2.0", "mkdir -p out && bin/pack 2.0", true, undefined],
  ["Release the lock in parser.c", "npm ci", true, undefined],
  ["Publish it", "npm ci", true, undefined],
  ["Publish the release 2.0", "bin/push 2.0", false, undefined],
  ["Show me the log", "bin/push 2.0", true, undefined],
])(
  "for %j, %j in place of the first step of a learnt skill is stopped once, with skills %j: %j",
  async (request, command, usesSkills, decision) => {
    const home = mkdtempSync(join(tmpdir(), "hermes-procedures-"));
    mkdirSync(join(home, "learning"), { recursive: true });
    const bullets = [{ text: "Publish the release: `bin/pack <name>`, then `bin/push <name>`." }];
    const skill = {
      name: "publish",
      project: "/p",
      state: "trial",
      description: "Publish the release.",
      applicableWhen: [],
      bullets,
      changedAt: 2,
    };
    const older = {
      ...skill,
      name: "older",
      changedAt: 1,
      bullets: [{ text: "`bin/sign <name>`, then `bin/pack <name>`." }],
    };
    writeFileSync(join(home, "learning", "distillation.json"), JSON.stringify({ skills: [older, skill] }));
    const context = new LearntContext({ home, sessionId: "s", roots: ["/p"], clock: new ManualClock(0), usesSkills });
    await context.promptText();
    await context.attach(request);
    const [hook] = context.hooks();
    const call = () => {
      return hook?.run({ tool_input: { command }, cwd: "/p" } as unknown as HookPayload, new AbortController().signal);
    };
    const first = await call();
    expect(first?.decision).toBe(decision);
    if (decision !== undefined) expect(first?.reason).toContain("`bin/pack <name>`, `bin/push <name>`");
    expect((await call())?.decision).toBeUndefined();
  },
);

test("a skill that is switched off refuses nothing", async () => {
  const home = mkdtempSync(join(tmpdir(), "hermes-procedures-"));
  mkdirSync(join(home, "learning"), { recursive: true });
  const skill = { name: "publish", project: "/p", state: "trial", description: "Publish the release.", changedAt: 2 };
  const bullets = [{ text: "`bin/pack`, then `bin/push`." }];
  const skills = [{ ...skill, applicableWhen: [], bullets }];
  writeFileSync(join(home, "learning", "distillation.json"), JSON.stringify({ skills }));
  const hooksWith = async (disabled: readonly string[]) => {
    const context = new LearntContext({ home, sessionId: "s", roots: ["/p"], clock: new ManualClock(0), disabled });
    await context.promptText();
    return context.hooks().length;
  };
  expect([await hooksWith([]), await hooksWith(["publish"])]).toEqual([1, 0]);
});

test("another command runs once the user has sent a second message", async () => {
  const checks = (isFirstTurn: boolean) =>
    new CallChecks({
      facts: [],
      procedures: [{ name: "publish", words: new Set(["publis", "releas"]), steps: ["bin/pack", "bin/push"] }],
      request: () => "Publish the release",
      isFirstTurn: () => isFirstTurn,
    });
  const verdicts = [true, false].map((isFirstTurn) =>
    checks(isFirstTurn).hooks[0]?.run(
      { tool_input: { command: "npm ci" }, cwd: "/p" } as unknown as HookPayload,
      new AbortController().signal,
    ),
  );
  expect((await Promise.all(verdicts)).map((verdict) => verdict?.decision)).toEqual(["block", undefined]);
});

test("a step of one list of a skill is no other command for its second list", async () => {
  const words = new Set(["publis", "releas"]);
  const [hook] = new CallChecks({
    facts: [],
    procedures: [
      { name: "publish", words, steps: ["bin/login", "bin/push"] },
      { name: "publish", words, steps: ["npm run build", "npm run pack"] },
    ],
    request: () => "Publish the release",
    isFirstTurn: () => true,
  }).hooks;
  const payload = { tool_input: { command: "npm run build" }, cwd: "/p" } as unknown as HookPayload;
  expect(await hook?.run(payload, new AbortController().signal)).toEqual({});
});

const PROHIBITIONS = [
  ["run", { on: "run", when: "^git push", forbid: "--force" }, "git push origin main", "git push --force origin main"],
  ["command", { on: "command", forbid: "--env[= ]prod" }, "bin/deploy --env staging", "bin/deploy --env prod"],
  ["needed option", { on: "run", when: "^vitest", require: "--run" }, "vitest --run a.test.ts", "vitest a.test.ts"],
  ["commit", { on: "commit", require: "^ship:" }, "git commit -m 'ship: fix login'", "git commit -m 'fix login page'"],
] as const;

test.each(PROHIBITIONS)(
  "a call that breaks a rule is refused after a message that says nothing of it: %s",
  async (...row) => {
    const [text, check, right, wrong] = row;
    let isFirstTurn = true;
    const fact = { id: "p-1", text, check, from: 1, source: "user" } as unknown as Fact;
    const options = { facts: [fact], procedures: [], request: () => "", isFirstTurn: () => isFirstTurn };
    const [hook] = new CallChecks(options).hooks;
    const call = async (command: string): Promise<unknown> => {
      const payload = { tool_input: { command }, cwd: "/p" } as unknown as HookPayload;
      return (await hook?.run(payload, new AbortController().signal))?.decision;
    };
    expect(await call(right)).toBeUndefined();
    isFirstTurn = false;
    expect([await call(wrong), await call(wrong)]).toEqual(["block", undefined]);
  },
);
