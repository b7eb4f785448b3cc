import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { configuredAgent } from "../../../agent-core/agent/configured-agent.ts";
import { loadConfig } from "../../../agent-core/config/config.ts";
import { type TunedSetting, writeTuned } from "../../../agent-core/config/tuned-settings.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-tuned-"));
  mkdirSync(join(home, "learning"));
});

function tuned(change: Pick<TunedSetting, "key" | "to"> & Partial<TunedSetting>): TunedSetting {
  return {
    id: `t-${change.key}`,
    from: null,
    reason: "It failed.",
    confidence: 0.9,
    risk: "low",
    evidence: [],
    rate: { name: "context_overflow_rate", before: 0.5 },
    applied: "2026-11-23",
    state: "trial",
    ...change,
  };
}

const research = tuned({ key: "compression.hard_limit", to: 0.75, scope: "research" });
const timeout = tuned({ key: "terminal.timeout", to: 300 });

async function loaded(yaml: string) {
  writeFileSync(join(home, "config.yaml"), yaml);
  const { config, warnings, errors } = await loadConfig(home, {});
  expect([...warnings, ...errors]).toEqual([]);
  return config;
}

test("applies tuned settings where config.yaml has none of its own", async () => {
  await writeTuned(home, [research, timeout, tuned({ key: "skills.disabled", to: "deploy" })]);
  const config = await loaded("skills: { disabled: old }\n");
  expect(config.compression).toMatchObject({ hard_limit: 0.85, by_task: { research: { hard_limit: 0.75 } } });
  expect(config.terminal.timeout).toBe(300);
  expect(config.skills.disabled).toEqual(["old", "deploy"]);
});

test("a value of config.yaml wins, for all tasks and for one type", async () => {
  await writeTuned(home, [research, timeout]);
  const all = await loaded("compression: { hard_limit: 0.9 }\nterminal: { timeout: 60 }\n");
  expect(all.compression.by_task).toBeUndefined();
  expect(all.terminal.timeout).toBe(60);
  const one = await loaded("compression: { by_task: { research: { hard_limit: 0.8 } } }\n");
  expect(one.compression.by_task).toEqual({ research: { hard_limit: 0.8 } });
});

const OFF = ["enabled", "report", "use"].map((name) => `learning: { ${name}: off }\n`);

test.each(OFF)("applies nothing with %s", async (yaml) => {
  await writeTuned(home, [research, timeout]);
  const config = await loaded(yaml);
  expect(config.compression.by_task).toBeUndefined();
  expect(config.terminal.timeout).toBe(180);
});

test("leaves out a value out of bounds, an unknown setting and a damaged file", async () => {
  await writeTuned(home, [tuned({ key: "compression.hard_limit", to: 0.99 }), timeout]);
  expect((await loaded("")).compression.hard_limit).toBe(0.85);
  writeFileSync(join(home, "learning", "tuned.yaml"), "settings: [");
  expect((await loaded("")).terminal.timeout).toBe(180);
});

test("gives the context engine limits by the type of task", async () => {
  await writeTuned(home, [research]);
  const { options } = await configuredAgent({ HERMES_HOME: home }, "acp");
  expect(options.contextEngine?.hardLimit).toBe(0.85);
  expect(options.contextEngine?.forTask?.("research").hardLimit).toBe(0.75);
  expect(options.contextEngine?.forTask?.("code").hardLimit).toBe(0.85);
});
