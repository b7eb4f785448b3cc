/** Learning as it may be after a month: items, skills, reports of two weeks, and jobs. Pictures of the page show it. */
import type { CronState } from "../../../agent-core/protocol/cron.ts";
import type { HealthReport, LearningState, LearntItem, Rate } from "../../../agent-core/protocol/learning.ts";
import type { LearningData } from "../../../agent-core/protocol/learning-page.ts";

const DAY = 86_400_000;
/** Time at which the page shows the sample. */
export const NOW = Date.UTC(2026, 10, 23, 9, 12);
const DAYS = 14;

const at = (days: number): number => NOW - days * DAY;
const sessionOn = (days: number): string =>
  `${new Date(at(days)).toISOString().slice(0, 10).replaceAll("-", "")}_140300_0a1b2c3d`;

type Given = Partial<LearntItem> & Pick<LearntItem, "id" | "kind" | "text" | "reason">;

function item(days: number, given: Given): LearntItem {
  return {
    loop: "consolidation",
    scope: "user",
    sessions: [sessionOn(days)],
    at: at(days),
    seen: 1,
    used: 0,
    state: "active",
    pinned: false,
    actions: ["pin", "undo", "forget"],
    path: "/home/ada/.hermes/learning/entities/user.md",
    ...given,
  };
}

const PROJECT = "/home/ada/prices";
const isSkill = { loop: "distillation", kind: "skill", path: "/home/ada/.hermes/skills/run-tests/SKILL.md" } as const;

export const items: readonly LearntItem[] = [
  item(0, {
    id: "f-1",
    kind: "fact",
    scope: PROJECT,
    state: "proposed",
    actions: ["undo", "forget", "accept"],
    text: "Tests of this project run with `npm run verify -- --lane 4`.",
    reason: "A file, a page or the output of a command says it. It is not used until you keep it.",
    sessions: [sessionOn(2), sessionOn(1), sessionOn(0)],
    seen: 3,
  }),
  item(1, {
    id: "p-1",
    kind: "preference",
    seen: 4,
    used: 31,
    pinned: true,
    actions: ["unpin", "undo", "forget"],
    text: "Answers are short and in British English.",
    reason: "You corrected the spelling twice, and said “shorter, please” twice.",
    sessions: [sessionOn(9), sessionOn(6), sessionOn(4), sessionOn(1)],
  }),
  item(3, {
    id: "p-2",
    kind: "preference",
    scope: PROJECT,
    seen: 2,
    used: 12,
    text: "New functions get a doc comment in one sentence.",
    reason: "You undid two functions without one, and typed the comment instead.",
  }),
  item(4, {
    id: "f-2",
    kind: "fact",
    scope: PROJECT,
    seen: 5,
    used: 18,
    text: "Prices are stored in cents; only the view divides by 100.",
    reason: "You said so, and an edit that divided twice was undone.",
  }),
  item(8, {
    id: "e-1",
    kind: "episode",
    scope: PROJECT,
    used: 2,
    actions: ["forget"],
    text: "Moved the average into prices.ts, after the first version divided by zero for an empty list.",
    reason: "Summary of the session.",
  }),
  item(9, {
    id: "f-3",
    kind: "fact",
    scope: "/home/ada/shop",
    state: "closed",
    seen: 2,
    used: 7,
    text: "The staging server is at port 8080.",
    reason: "Since 19 November it is 8443: you corrected it.",
  }),
  item(2, {
    ...isSkill,
    id: "s-1",
    version: "3",
    score: 0.86,
    uses: 14,
    used: 14,
    seen: 6,
    text: "run-tests: find the lane of a test, run it alone, then the whole lane.",
    reason: "From 6 sessions; the last version runs the failing test first.",
    sessions: [sessionOn(12), sessionOn(10), sessionOn(7), sessionOn(5), sessionOn(3), sessionOn(2)],
  }),
  item(5, {
    ...isSkill,
    id: "s-2",
    state: "trial",
    version: "1",
    score: null,
    uses: 2,
    used: 2,
    scope: PROJECT,
    text: "release-notes: read the merged changes, group them, and write one line for each.",
    reason: "From 3 sessions with the same steps.",
  }),
  item(11, {
    ...isSkill,
    id: "s-3",
    state: "retired",
    version: "2",
    score: 0.31,
    uses: 5,
    used: 5,
    actions: ["undo", "forget"],
    text: "fix-types: add a cast where the compiler complains.",
    reason: "You undid its edits in 4 of 5 sessions.",
  }),
];

function rate(name: string, value: number, n: number, baseline: number): Rate {
  return { name, value, n, baseline };
}

/** Report of `days` days ago. Success grows; the tool `terminal` fails more often since three days. */
function report(days: number): HealthReport {
  const done = (DAYS - days) / DAYS;
  const wave = Math.sin(days * 1.7) * 0.02;
  const n = 38 + ((days * 7) % 9);
  const isBad = days < 3;
  return {
    date: new Date(at(days)).toISOString().slice(0, 10),
    period: { from: at(days + 7), to: at(days) },
    sessions: n,
    rates: [
      rate("task_success_rate", 0.68 + 0.17 * done + wave, n, 0.7),
      rate("avg_feedback_score", 0.71 + 0.12 * done - wave, n, 0.72),
      rate("tool_error_rate", isBad ? 0.09 : 0.05 + wave / 2, n * 9, 0.05),
      rate("retry_rate", 0.03 + Math.abs(wave) / 2, n * 6, 0.03),
      rate("escalation_rate", 0.12 - 0.06 * done, n, 0.11),
      rate("context_overflow_rate", Math.max(0.01, 0.06 - 0.05 * done), n, 0.05),
      { ...rate("tool_error_rate", isBad ? 0.25 : 0.04, 88, 0.04), of: "terminal" },
      { ...rate("tool_error_rate", 0.06, 143, 0.06), of: "patch" },
      { ...rate("tool_error_rate", 0.02, 210, 0.03), of: "read_file" },
      { ...rate("tool_error_rate", 0.11, 18, 0.08), of: "web_extract" },
    ],
    totals: {
      tokens: Math.round(1_900_000 - 500_000 * done + 200_000 * wave),
      usd: 5.1 - 1.6 * done + 8 * wave,
      learningTokens: 64_000 + days * 1_000,
      learningUsd: 0.21 + days * 0.005,
    },
    regressions: isBad
      ? [
          {
            rate: "tool_error_rate",
            of: "terminal",
            before: 0.04,
            now: 0.25,
            n: 88,
            sessions: [sessionOn(0), sessionOn(1), sessionOn(2)],
          },
        ]
      : [],
  };
}

const reports: readonly HealthReport[] = Array.from({ length: DAYS }, (_, days) => report(days));

const run = { denied: [], state: "completed", late: false } as const;

/** Last run of the job j-1. */
const failingTests = {
  ...run,
  job: "j-1",
  name: "Failing tests",
  planned: NOW - 3_600_000,
  started: NOW - 60_000,
  late: true,
  ended: NOW,
  summary: "2 tests fail since yesterday.",
  sessionId: sessionOn(0),
};

const cron: CronState = {
  enabled: true,
  zone: "Europe/Berlin",
  jobs: [
    {
      id: "j-1",
      name: "Failing tests",
      schedule: "0 9 * * 1-5",
      scheduleText: "At 09:00, Monday to Friday, Europe/Berlin",
      zone: "Europe/Berlin",
      state: "active",
      builtIn: false,
      next: NOW + DAY,
      failures: 0,
      prompt: "List them",
      skills: [],
      workdir: PROJECT,
      deliver: "notify",
      last: failingTests,
    },
    {
      id: "j-2",
      name: "Weekly changes",
      schedule: "0 17 * * 5",
      scheduleText: "At 17:00 on Friday, Europe/Berlin",
      zone: "Europe/Berlin",
      state: "paused",
      builtIn: false,
      failures: 0,
      prompt: "Sum up",
      skills: [],
      workdir: PROJECT,
      deliver: "none",
    },
    {
      id: "distillation",
      name: "Make skills from repeated work",
      schedule: "30 3 * * *",
      scheduleText: "At 03:30 every day, Europe/Berlin",
      zone: "Europe/Berlin",
      state: "active",
      builtIn: true,
      next: NOW + DAY / 2,
      failures: 0,
      prompt: "",
      skills: [],
      workdir: "",
      deliver: "none",
    },
  ],
  runs: [
    failingTests,
    {
      ...run,
      job: "j-1",
      name: "Failing tests",
      planned: NOW - DAY,
      started: NOW - DAY,
      state: "unknown",
      summary: "VS Code was closed while it ran.",
    },
  ],
};

const state: LearningState = {
  switches: { enabled: true, consolidation: true, distillation: true, report: true, use: true },
  loops: [
    { loop: "consolidation", on: true, isRunning: false, lastRun: at(0.1), lastResult: "3 items of 2 sessions." },
    { loop: "distillation", on: true, isRunning: false, lastRun: at(0.2), lastResult: "No new skill." },
    { loop: "report", on: true, isRunning: false, lastRun: at(0.2), lastResult: "One regression." },
  ],
  budget: { tokens: 64_200, maxTokens: 200_000, usd: 0.21, maxUsd: 0.5 },
  items,
  folder: "/home/ada/.hermes/learning",
};

/** The oldest session no longer exists. */
const titles: LearningData["titles"] = Object.fromEntries([
  ...Array.from({ length: 12 }, (_, days) => [sessionOn(days), `Round the prices of day ${days}`]),
  [sessionOn(4), "Find out why the checkout divides the price of an empty basket by zero, and move the average"],
  [sessionOn(9), ""],
]);

export const learningSample: LearningData = { state, reports, cron, titles };
