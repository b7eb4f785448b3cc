// Planned jobs over the protocol: the tool plans one, a tick runs it in a session of its own, and clients see it.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { call, fail, say, startModelServer } from "../support/model-server/model-server.ts";

const MINUTE = 60_000;
const ours = { _meta: { hermes: { sessionIndex: true } } };

async function agentWithClock(capabilities: Json = ours) {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  const clock = new ManualClock(Date.parse("2026-11-23T12:00:00Z"));
  const variables = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" };
  const agent = new AcpAgent(variables, undefined, clock);
  onTestFinished(() => agent.stop());
  writeFileSync(join(agent.home, "config.yaml"), "cron:\n  timezone: Europe/Berlin\nlearning:\n  enabled: off\n");
  await agent.initialize(capabilities);
  return { agent, model, clock };
}

async function listed(agent: AcpAgent): Promise<Json[]> {
  return ((await agent.request("session/list", {})).result?.["sessions"] ?? []) as Json[];
}

test("the tool plans a job after a question; a tick runs it in its own session, where nobody can be asked", async () => {
  const { agent, model, clock } = await agentWithClock();
  const questions: Json[] = [];
  agent.on("session/request_permission", (params) => {
    questions.push(params);
    return { outcome: { outcome: "selected", optionId: "once" } };
  });
  const sessionId = await agent.newSession();
  model.script(
    {
      parts: [
        call("cronjob", { action: "create", name: "Nightly", schedule: "30m", prompt: "Delete the old builds." }),
      ],
    },
    say("Planned."),
  );
  await agent.prompt(sessionId, "plan it");
  const planned = model.requests.at(-1)?.body.messages.at(-1)?.["content"];
  expect(planned).toContain('Created the job "Nightly". Next run: 2026-11-23 13:30 (Europe/Berlin).');
  expect(questions).toHaveLength(1);
  expect(JSON.stringify(questions[0])).toContain("Delete the old builds.");
  expect(JSON.stringify(questions[0]?.["options"])).not.toContain("allow_always");

  model.forget();
  model.script({ parts: [call("terminal", { command: "rm -rf /srv/builds" })] }, say("It was denied.\nAsk me again."));
  await clock.advance(31 * MINUTE);
  await expect.poll(() => agent.notified("_hermes/cron/finished")).toHaveLength(1);
  const [{ run, message } = {}] = agent.notified("_hermes/cron/finished") as { run?: Json; message?: string }[];
  expect(message).toBe('The job "Nightly" finished.');
  expect(run).toMatchObject({ name: "Nightly", state: "completed", late: false, summary: "It was denied." });
  expect(run?.["denied"]).toEqual([expect.stringContaining("rm -rf /srv/builds")]);
  const output = readFileSync(String(run?.["output"]), "utf8");
  expect(output).toContain("## Denied, because nobody could be asked\n\n- ");
  expect(output).toContain("It was denied.\nAsk me again.");
  expect(questions).toHaveLength(1);

  const [first] = model.requests;
  expect(JSON.stringify(first?.body["tools"])).not.toContain('"cronjob"');
  expect(JSON.stringify(first?.body.messages)).toContain("nobody reads along or can answer");
  const inList = expect.objectContaining({
    title: "Nightly",
    _meta: { hermes: expect.objectContaining({ isJob: true }) },
  });
  await expect.poll(() => listed(agent)).toContainEqual(inList);
  expect((await agent.request("_hermes/cron/tick", {})).result).toMatchObject({ runs: [] });
});

test("a job uses its model and its skills, and a failing model makes it fail with the reason", async () => {
  const { agent, model } = await agentWithClock();
  await agent.request("_hermes/cron/act", {
    action: "create",
    name: "Fix",
    schedule: "1h",
    prompt: "Find it.",
    workdir: agent.cwd,
    skills: ["debug-failing-test"],
    model: "custom:other",
  });
  const act = (request: Json) =>
    agent.request("_hermes/cron/act", { action: "run", job: "Fix", wait: true, ...request });
  model.script(say("Found."));
  expect((await act({})).result).toMatchObject({
    ok: true,
    message: expect.stringContaining('"Fix" completed. Found.'),
  });
  const [request] = model.requests;
  expect(request?.body["model"]).toBe("other");
  expect(JSON.stringify(request?.body.messages)).toContain("Write down expected and actual");
  model.script(fail(400, "no credit left"));
  expect((await act({})).result).toMatchObject({ ok: false, message: expect.stringContaining("no credit left") });
  expect((await agent.request("_hermes/cron/list", {})).result).toMatchObject({
    enabled: true,
    zone: "Europe/Berlin",
    jobs: [{ name: "Fix", failures: 1, last: { state: "failed" } }, { builtIn: true }, { builtIn: true }],
    runs: [{ state: "failed" }, { state: "completed" }],
  });
});

test("a job with an unknown skill is refused, and one whose skill or folder has gone fails with its name", async () => {
  const { agent } = await agentWithClock();
  const skill = join(agent.home, "skills", "count-lines");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), "---\nname: count-lines\ndescription: Count lines.\n---\nCount them.\n");
  const act = async (request: Json) => (await agent.request("_hermes/cron/act", request)).result;
  const workdir = join(agent.cwd, "lines");
  mkdirSync(workdir);
  const job = { name: "Lines", schedule: "1h", prompt: "Count.", workdir };
  expect(await act({ action: "create", ...job, skills: ["count-lines", "none-such"] })).toEqual({
    ok: false,
    message: "cron: skills: there is no skill none-such.",
  });
  expect(await act({ action: "create", ...job, skills: ["count-lines"] })).toMatchObject({ ok: true });
  expect(await act({ action: "update", job: "Lines", skills: ["other"] })).toMatchObject({ ok: false });
  rmSync(skill, { recursive: true });
  expect(await act({ action: "run", job: "Lines", wait: true })).toMatchObject({
    ok: false,
    message: expect.stringContaining("There is no skill count-lines. Add it, or change the job."),
  });
  rmSync(workdir, { recursive: true });
  expect(await act({ action: "run", job: "Lines", wait: true })).toMatchObject({
    ok: false,
    message: expect.stringContaining(`There is no folder ${workdir}. Create it, or change the job.`),
  });
});

test("/cron lists jobs, creates, pauses and removes one", async () => {
  const { agent } = await agentWithClock({});
  const sessionId = await agent.newSession();
  const typed = async (text: string): Promise<string> => {
    agent.updates.length = 0;
    await agent.prompt(sessionId, text);
    return agent.text();
  };
  expect(await typed('/cron create "0 9 * * 1-5" Read the news')).toBe(
    'Created the job "Read the news". Next run: 2026-11-24 09:00 (Europe/Berlin).',
  );
  expect(await typed("/cron pause read the news")).toContain('Paused "Read the news".');
  expect(await typed("/cron")).toMatch(
    /- Read the news \[\w+\] · Monday to Friday at 09:00 \(Europe\/Berlin\) · paused/,
  );
  expect(await typed("/cron remove Read the news")).toContain("Removed");
  expect(await typed("/cron create every 2h")).toMatch(/^Type `\/cron`/);
  expect(await typed("/cron crate x")).toMatch(/^Type `\/cron`/);
});
