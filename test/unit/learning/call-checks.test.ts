// Learnt skills as checks of commands.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { HookPayload } from "../../../agent-core/hooks/hook.ts";
import { skipsSteps } from "../../../agent-core/learning/call-checks.ts";
import { LearntContext } from "../../../agent-core/learning/learnt-context.ts";
import { ManualClock } from "../../support/manual-clock.ts";

test("a later step skips earlier ones of other programs only", () => {
  const procedure = { steps: ["bin/pack <name>", "bin/sign", "npm publish"] };
  const skips = (command: string, ...ran: readonly string[]) => skipsSteps(procedure, command, new Set(ran));
  expect(skips("bin/pack one")).toBe(false);
  expect(skips("npm publish", "bin/pack")).toBe(true);
  expect(skips("npm publish --tag x", "bin/pack", "bin/sign")).toBe(false);
  expect(skips("npm test")).toBe(false);
});

test.each([
  ["Publish the release 2.0", true, "block"],
  ["Publish the release 2.0. I am in a hurry, as the ship leaves soon today.", true, "block"],
  ["Publish the release 2.0", false, undefined],
  ["Show me the log", true, undefined],
])(
  "for %j, with skills %j, a step before its time and a skill that always failed are stopped once: %j",
  async (request, usesSkills, decision) => {
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
      rivals: ["release-notes"],
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
    const call = (command: string) => {
      return hook?.run({ tool_input: { command }, cwd: "/p" } as unknown as HookPayload, new AbortController().signal);
    };
    const first = await call("bin/push 2.0");
    expect(first?.decision).toBe(decision);
    if (decision !== undefined) expect(first?.reason).toContain("`bin/pack <name>`, `bin/push <name>`");
    expect((await call("bin/push 2.0"))?.decision).toBeUndefined();
    const view = (name: string) => {
      const payload = { tool_name: "skill_view", tool_input: { name }, cwd: "/p" } as unknown as HookPayload;
      return hook?.run(payload, new AbortController().signal);
    };
    expect((await view("other"))?.decision).toBeUndefined();
    expect((await view("release-notes"))?.decision).toBe(decision);
    expect((await view("release-notes"))?.decision).toBeUndefined();
  },
);
