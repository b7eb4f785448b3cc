// A week of work with a real agent, and everything learnt from it on the page in the editor and in the panel.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import { ManualClock } from "../support/manual-clock.ts";
import type { Answer } from "../support/model-server/answer.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { LearningTab } from "../support/panel/fed-learning.ts";
import { openPanel, type Panel } from "../support/panel/open-panel.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const VERIFY = "bin/verify --lane 4";

let model: ModelServer;
let panel: Panel;
let learning: LearningTab;

const SKILL = {
  name: "publish-prices",
  description: "Publish the price list.",
  applicable_when: ["publish the price list"],
  deltas: [
    { op: "add", text: `Check the list with \`${VERIFY}\` first.` },
    { op: "add", text: "Publish it with `bin/publish --all`." },
  ],
};

/** Rule of the user, as a model states it. */
const RULE = { text: "Always write prices in cents.", quote: "always write prices in cents.", explicit: true };

/** Steps of the turn that begins with the last message of the user. The skill is loaded once its prompt lists it. */
function turn(messages: readonly Record<string, unknown>[]): Answer {
  const from = messages.findLastIndex(({ role }) => role === "user");
  const done = messages.slice(from).filter(({ role }) => role === "tool").length;
  if (!String(messages[from]?.["content"]).includes("Publish")) return say("Noted.");
  const isListed = String(messages[0]?.["content"]).includes(`- ${SKILL.name}:`);
  const steps = [
    ...(isListed ? [call("skill_view", { name: SKILL.name })] : []),
    call("terminal", { command: VERIFY }),
    call("terminal", { command: "bin/publish --all" }),
  ];
  const step = steps[done];
  return step === undefined ? say("The list is published.") : { parts: [step] };
}

function answer(messages: readonly Record<string, unknown>[]): Answer {
  const system = String(messages[0]?.["content"]);
  if (system.startsWith("You keep what later sessions")) {
    const transcript = String(messages[1]?.["content"]);
    const [, position] = /\[(\d+) tool terminal\]/.exec(transcript) ?? [];
    const fact = { subject: "prices", kind: "project", scope: "project", position: Number(position) };
    const lane = { ...fact, text: "The lane for checks of prices is `4`.", quote: "lane 4 is for prices" };
    const episode = { summary: "Checked and published the price list.", task_type: "publish", outcome: "success" };
    const facts = position === undefined ? [] : [lane];
    return say(JSON.stringify({ episode, facts, user_signals: transcript.includes(RULE.quote) ? [RULE] : [] }));
  }
  if (system.includes("You improve the skills")) return say(JSON.stringify(SKILL));
  return turn(messages);
}

/** Five days of work in `home`: publications of a price list, rules of the user, and a job that runs late. */
async function work(home: string, cwd: string): Promise<void> {
  const before = process.env["HOME"];
  const clock = new ManualClock(Date.now() - 5 * DAY);
  const environment = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-1" };
  const agent = new AcpAgent(environment, home, clock);
  await agent.initialize();
  await agent.request("_hermes/cron/act", {
    action: "create",
    name: "Morning check",
    schedule: "0 9 * * *",
    prompt: "Say how it stands.",
    workdir: cwd,
  });
  for (const day of [1, 2, 3, 4]) {
    const { result } = await agent.request("session/new", { cwd, mcpServers: [] });
    const { sessionId } = result as { sessionId: string };
    await agent.request("session/set_mode", { sessionId, modeId: "auto" });
    await agent.prompt(sessionId, `Publish the price list of shop ${day}.`);
    if (day === 2) await agent.prompt(sessionId, "No, always write prices in cents.");
    await agent.request("_hermes/session/rename", { sessionId, title: `Price list of shop ${day}` });
    await agent.request("session/close", { sessionId });
    await clock.stall(DAY);
    await agent.request("_hermes/learning/run", {});
    await agent.request("_hermes/cron/tick", {});
  }
  await agent.stop();
  if (before !== undefined) process.env["HOME"] = before;
}

beforeAll(async () => {
  model = await startModelServer();
  model.respondWith(({ messages }) => answer(messages));
  panel = await openPanel({
    model,
    prepare: async ({ home, cwd }) => {
      mkdirSync(join(cwd, "bin"));
      writeFileSync(join(cwd, "bin", "verify"), "#!/bin/sh\necho lane 4 is for prices\n", { mode: 0o755 });
      writeFileSync(join(cwd, "bin", "publish"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
      await work(home, cwd);
    },
  });
  learning = new LearningTab(await panel.openTab("Hermes: Show What Was Learnt"));
});
afterAll(async () => {
  await learning.close();
  await panel.close();
  await model.stop();
});

const show = async (section: string): Promise<void> => {
  await learning.page.getByRole("tab", { name: new RegExp(`^${section}`) }).click();
};
const row = (text: string) => learning.locator("[data-row]").filter({ hasText: text }).first();

test("preferences and facts come before summaries, with reason, use and the sessions by their titles", async () => {
  await row("Always write prices in cents.").waitFor();
  await learning.pictures("week-learnt");
  const rows = await learning.locator("[data-row]").evaluateAll((all) => all.map(({ dataset }) => dataset["row"]?.[0]));
  expect(rows.join("")).toMatch(/^[fp]{2}e+$/);
  expect(await row("Always write prices in cents.").textContent()).toContain("You stated it.");
  expect(await row("Always write prices in cents.").textContent()).toMatch(/used [1-9]×/);
  const links = row("The lane for checks of prices is 4.").locator(".learning-session");
  expect(await links.allTextContents()).toEqual([4, 3, 2].map((shop) => `Price list of shop ${shop}`));
  expect(await row("Say how it stands").textContent()).not.toContain("planned job");
});

test("the title of a session opens it in the panel", async () => {
  await row("Always write prices in cents.").getByRole("button", { name: "Price list of shop 2" }).click();
  await expect.poll(() => panel.bubbles()).toContain("No, always write prices in cents.");
});

test("the report and the skill come from the sessions of the week", async () => {
  await show("Report");
  await learning.page.getByText("Success: ").first().waitFor();
  await learning.pictures("week-report");
  expect(await learning.page.getByText("Corrections a task: ").first().textContent()).toContain("of 8 cases");
  await show("Skills");
  const text = await row("publish-prices: Publish the price list.").textContent();
  expect(text).toContain("Version 1 · on trial · workspace · score 100% from 1 use");
  await learning.pictures("week-skills");
});

test("a job that ended is announced, and counted on the icon until the panel is shown", async () => {
  await show("Jobs");
  const job = row("Morning check");
  expect(await job.textContent()).toMatch(/every day at 09:00 \(.+\).*late: planned .* ran .*: Noted\./);
  await learning.pictures("week-jobs");
  // The run of today's 09:00 began with the panel.
  await expect.poll(() => panel.notifications.at(-1)?.text).toContain("Late: planned");
  await panel.hide();
  await job.getByRole("button", { name: "Run Now: Morning check" }).click();
  await expect.poll(() => panel.notifications.at(-1)?.text).toBe('The job "Morning check" finished.');
  await expect.poll(() => panel.badge()).toBe(1);
  await panel.hideAndShow();
  await expect.poll(() => panel.badge()).toBe(0);
  panel.notifications.at(-1)?.choose("Open");
  await expect.poll(() => panel.bubbles()).toEqual(["Say how it stands."]);
});

test("an item that the user has forgotten is gone from the page and from the files", async () => {
  await show("Learnt");
  await row("Always write prices in cents.")
    .getByRole("button", { name: /^Forget/ })
    .click();
  await row("Always write prices in cents.").getByRole("button", { name: "Forget", exact: true }).click();
  await learning.page.getByText("Forgotten: Always write prices in cents.").waitFor();
  expect(await row("prices in cents").count()).toBe(0);
  const learnt = join(panel.home, "learning");
  const files = readdirSync(learnt, { recursive: true, encoding: "utf8" }).filter((name) => /\.(md|jsonl)$/.test(name));
  expect(files.filter((name) => readFileSync(join(learnt, name), "utf8").includes("prices in cents"))).toEqual([]);
});

test("a switch of a loop is written to config.yaml", async () => {
  await show("Settings");
  await learning.pictures("week-settings");
  await learning.page.getByRole("switch", { name: "Distil skills" }).click();
  await expect.poll(() => learning.page.getByRole("switch", { name: "Distil skills" }).isChecked()).toBe(false);
  expect(readFileSync(join(panel.home, "config.yaml"), "utf8")).toMatch(/"?distillation"?: false/);
});
