// Learning over the protocol: its state, its switches, reports and slash commands.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";

test("a client reads the state, and switches a loop off in config.yaml", async () => {
  const agent = new AcpAgent({});
  await agent.initialize();
  const { result } = await agent.request("_hermes/learning/state", {});
  expect(result).toMatchObject({
    switches: { enabled: true, consolidation: true },
    budget: { tokens: 0, maxTokens: 200_000 },
    items: [],
  });
  await agent.request("_hermes/learning/switch", { name: "consolidation", on: false });
  expect(readFileSync(join(agent.home, "config.yaml"), "utf8")).toBe("learning:\n  consolidation: false\n");
  expect((await agent.request("_hermes/learning/state", {})).result).toMatchObject({
    switches: { consolidation: false },
    loops: [{ loop: "consolidation", on: false }, { loop: "distillation", on: false }, { loop: "report" }],
  });
  expect((await agent.request("_hermes/learning/run", {})).result).toEqual({
    message: "Everything that was due is done.",
  });
  await agent.stop();
});

test("a client reads the stored reports, newest first, and /learning and /report answer in every editor", async () => {
  const agent = new AcpAgent({ HERMES_PROVIDER: "offline" });
  const folder = join(agent.home, "learning", "reports");
  mkdirSync(folder, { recursive: true });
  const report = (date: string) => ({
    date,
    period: { from: 0, to: 1 },
    sessions: 7,
    regressions: [],
    rates: [{ name: "task_success_rate", value: 0.8, n: 20 }],
    totals: { tokens: 1, usd: 0, learningTokens: 0, learningUsd: 0 },
  });
  for (const date of ["2026-11-21", "2026-11-22"]) {
    writeFileSync(join(folder, `${date}.json`), JSON.stringify(report(date)));
  }
  writeFileSync(join(folder, "2026-11-23.json"), "{ damaged");
  await agent.initialize();
  const { result } = await agent.request("_hermes/learning/reports", {});
  expect(result).toEqual({ reports: [report("2026-11-22"), report("2026-11-21")] });
  const sessionId = await agent.newSession();
  await agent.prompt(sessionId, "/report");
  await agent.prompt(sessionId, "/learning off");
  await agent.prompt(sessionId, "/learning");
  expect(agent.text()).toContain("- task success rate: 80.0% (20 cases)");
  expect(agent.text()).toContain("**Learning is off**");
  expect(agent.text()).toContain("learning needs a language model");
  await agent.stop();
});

test("the report of the day counts the sessions of the home, and its news reach another editor with the next prompt", async () => {
  const agent = new AcpAgent({ HERMES_PROVIDER: "offline" });
  const id = "20261101_120000_0000abcd";
  const at = Date.now() - 1_000;
  const call = { type: "tool", name: "web_extract", title: "page", kind: "fetch", locations: [], diffs: [], ok: false };
  const entries = [
    { type: "session", version: 1, id, cwd: agent.cwd, origin: "user" },
    { type: "message", message: { role: "user", content: "Compare the papers" } },
    ...Array.from({ length: 10 }, (_, number) => ({ ...call, callId: `call-${number}`, durationMs: 1 })),
    { type: "turn-end", stopReason: "end_turn" },
  ];
  const sessions = join(agent.home, "vscode", "sessions");
  mkdirSync(sessions, { recursive: true });
  writeFileSync(
    join(sessions, `${id}.jsonl`),
    entries.map((entry) => `${JSON.stringify({ ...entry, at })}\n`).join(""),
  );
  await agent.initialize();
  const sessionId = await agent.newSession();
  await agent.request("_hermes/learning/run", {});
  const { result } = await agent.request("_hermes/learning/reports", {});
  const failing = { rate: "tool_error_rate", of: "web_extract", before: 0, now: 1, n: 10, sessions: [id] };
  expect(result).toMatchObject({ reports: [{ sessions: 1, regressions: [failing] }] });
  await agent.prompt(sessionId, "hello");
  const news = "Health report: tool error rate of web_extract: 0.0% → 100.0%.";
  expect(JSON.stringify(agent.of("agent_thought_chunk"))).toContain(news);
  await agent.stop();
});

test("a client reads the titles of sessions; those that no longer exist are missing", async () => {
  const agent = new AcpAgent({ HERMES_PROVIDER: "offline" });
  await agent.initialize();
  const [named, other] = [await agent.newSession(), await agent.newSession()];
  for (const id of [named, other]) await agent.prompt(id, "list files");
  await agent.request("_hermes/session/rename", { sessionId: named, title: "About the files" });
  await agent.request("session/delete", { sessionId: other });
  const { result } = await agent.request("_hermes/sessions/titles", {
    ids: [named, other, "20200101_000000_00000000"],
  });
  expect(result).toEqual({ titles: { [named]: "About the files" } });
  await agent.stop();
});
