import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";

const running: AcpAgent[] = [];

afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop();
});

/** An editor that shows lasting permissions, and answers every request with the option of this id. */
async function start(optionId: string, home?: string): Promise<{ agent: AcpAgent; asked: Json[] }> {
  const agent = new AcpAgent({}, home);
  running.push(agent);
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId } };
  });
  await agent.initialize({ _meta: { hermes: { grants: true } } });
  writeFileSync(join(agent.cwd, "package.json"), JSON.stringify({ scripts: { hello: "echo hello > made.txt" } }));
  return { agent, asked };
}

/** A session in the mode where every change asks. */
async function askingSession(agent: AcpAgent): Promise<string> {
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "ask" });
  return sessionId;
}

const made = (agent: AcpAgent): boolean => existsSync(join(agent.cwd, "made.txt"));
const COMMAND = "run npm run hello --silent";

test("a request shows the whole command, the reasons, and the scope of a grant", async () => {
  const { agent, asked } = await start("reject");
  await agent.prompt(await askingSession(agent), COMMAND);
  const [request] = asked;
  const { toolCall, options, _meta } = request as { toolCall: Json; options: Json[]; _meta: { hermes: Json } };
  expect(options.map(({ optionId, kind }) => [optionId, kind])).toEqual([
    ["once", "allow_once"],
    ["session", "allow_always"],
    ["always", "allow_always"],
    ["reject", "reject_once"],
  ]);
  expect(_meta.hermes["command"]).toBe("npm run hello --silent");
  expect(_meta.hermes["reasons"]).not.toEqual([]);
  expect(JSON.stringify(toolCall["content"])).toContain("npm run hello --silent");
  expect(JSON.stringify(toolCall["content"])).toMatch(
    /A lasting answer covers: npm run hello \* in .* as of [0-9a-f]{12}/,
  );
  expect(made(agent)).toBe(false);
});

test("once is once, and for the session is until its end", async () => {
  const once = await start("once");
  const session = await askingSession(once.agent);
  await once.agent.prompt(session, COMMAND);
  await once.agent.prompt(session, COMMAND);
  expect([once.asked.length, made(once.agent)]).toEqual([2, true]);
  const lasting = await start("session");
  const first = await askingSession(lasting.agent);
  await lasting.agent.prompt(first, COMMAND);
  await lasting.agent.prompt(first, COMMAND);
  expect(lasting.asked).toHaveLength(1);
  await lasting.agent.prompt(await askingSession(lasting.agent), COMMAND);
  expect(lasting.asked).toHaveLength(2);
});

test("a grant for always holds for the next process, until the script changes or it is revoked", async () => {
  const { agent, asked } = await start("always");
  const first = await askingSession(agent);
  await agent.prompt(first, COMMAND);
  await agent.prompt(await askingSession(agent), COMMAND);
  expect(asked).toHaveLength(1);
  expect(readFileSync(join(agent.home, "config.yaml"), "utf8")).toMatch(/allow:\n +- npm run hello \* in /);

  const listed = await agent.request("_hermes/grants/list", { sessionId: first });
  const [grant] = (listed.result?.["grants"] ?? []) as Json[];
  expect(grant).toMatchObject({
    lasting: "always",
    description: expect.stringMatching(/^npm run hello \* in .* as of /),
  });
  await agent.prompt(first, "/grants");
  expect(agent.text()).toContain("1. `npm run hello * in ");

  expect((await agent.request("_hermes/grants/revoke", { sessionId: first, id: grant?.["id"] })).result).toEqual({});
  expect((await agent.request("_hermes/grants/revoke", { sessionId: first, id: "x" })).error?.code).toBe(-32602);
  await agent.prompt(await askingSession(agent), COMMAND);
  expect(asked).toHaveLength(2);

  writeFileSync(join(agent.cwd, "package.json"), JSON.stringify({ scripts: { hello: "echo other > made.txt" } }));
  await agent.prompt(await askingSession(agent), COMMAND);
  expect(asked).toHaveLength(3);
  await agent.prompt(first, "/grants revoke all");
  expect((await agent.request("_hermes/grants/list", { sessionId: first })).result).toEqual({ grants: [] });
});

test("/grants makes a permission of this session a lasting one", async () => {
  const { agent, asked } = await start("session");
  const first = await askingSession(agent);
  await agent.prompt(first, COMMAND);
  await agent.prompt(first, "/grants always 2");
  expect(agent.text()).toContain("There is no grant 2; the list has 1.");
  await agent.prompt(first, "/grants always 1");
  expect(agent.text()).toContain("Hermes no longer asks for: `npm run hello * in ");
  await agent.prompt(await askingSession(agent), COMMAND);
  expect(asked).toHaveLength(1);
});

test("/grants adds a row of the user's own, which config.yaml keeps for every session", async () => {
  const { agent, asked } = await start("reject");
  const first = await askingSession(agent);
  await agent.prompt(first, `/grants add npm run hello * in ${agent.cwd}`);
  await agent.prompt(await askingSession(agent), COMMAND);
  expect([asked, made(agent)]).toEqual([[], true]);
  await agent.prompt(first, "/grants revoke 1");
  expect(readFileSync(join(agent.home, "config.yaml"), "utf8")).toContain("allow: []");
});

test("a client that keeps the list gets what always allows, and its rows count at once", async () => {
  const agent = new AcpAgent({});
  running.push(agent);
  const asked: Json[] = [];
  const changes: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "always" } };
  });
  agent.on("_hermes/allow_list/change", (params) => {
    changes.push(params);
    return {};
  });
  await agent.initialize({ _meta: { hermes: { grants: true, allowList: ["mkdir * in /nowhere"] } } });
  const sessionId = await askingSession(agent);
  await agent.prompt(sessionId, "run mkdir one");
  const row = `mkdir one * in ${realpathSync(agent.cwd)}`;
  expect(changes).toEqual([{ row, isIn: true }]);
  expect(existsSync(join(agent.home, "config.yaml"))).toBe(false);
  await agent.request("_hermes/allow_list/set", { rows: ["mkdir *"] });
  await agent.prompt(sessionId, "run mkdir two");
  expect([asked.length, existsSync(join(agent.cwd, "two"))]).toEqual([1, true]);
});

test("a mode that allows a waiting call lets it run; any other mode leaves the request open", async () => {
  const { agent } = await start("once");
  const asked = Promise.withResolvers<void>();
  let isAnswered = false;
  agent.on("session/request_permission", () => {
    asked.resolve();
    return new Promise(() => undefined); // the user never answers
  });
  const sessionId = await askingSession(agent);
  const turn = agent.prompt(sessionId, "replace two with TWO in a.txt").finally(() => {
    isAnswered = true;
  });
  await asked.promise;
  await agent.request("session/set_mode", { sessionId, modeId: "plan" });
  expect([isAnswered, readFileSync(join(agent.cwd, "a.txt"), "utf8")]).toEqual([false, "one\ntwo\nthree\n"]);
  await agent.request("session/set_mode", { sessionId, modeId: "code" });
  expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
});

test("a client that cannot ask gets a no, and a cancelled question is none", async () => {
  const agent = new AcpAgent();
  running.push(agent);
  await agent.initialize();
  writeFileSync(join(agent.cwd, "package.json"), JSON.stringify({ scripts: { hello: "echo hello > made.txt" } }));
  await agent.prompt(await askingSession(agent), COMMAND);
  expect(made(agent)).toBe(false);
  expect(agent.text()).toContain("approval");
});

test("before the workspace is trusted nothing is written and nothing runs; from then on it may", async () => {
  const { agent } = await start("once");
  const meta = { hermes: { trusted: false } };
  const created = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [], _meta: meta });
  const id = String(created.result?.["sessionId"]);
  await agent.prompt(id, "replace two with TWO in a.txt then run echo x > made.txt then read a.txt");
  expect([readFileSync(join(agent.cwd, "a.txt"), "utf8"), made(agent)]).toEqual(["one\ntwo\nthree\n", false]);
  expect(agent.text()).toContain("not trusted");
  await agent.request("_hermes/trust", {});
  await agent.prompt(id, "replace two with TWO in a.txt");
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
});

test("a script that changes while its question is open does not run on the answer for the old one", async () => {
  const agent = new AcpAgent();
  running.push(agent);
  const script = join(agent.cwd, "job.sh");
  writeFileSync(script, "echo first > made.txt\n");
  let asked = 0;
  agent.on("session/request_permission", () => {
    asked += 1;
    if (asked === 1) writeFileSync(script, "echo second > made.txt\n");
    return { outcome: { outcome: "selected", optionId: "once" } };
  });
  await agent.initialize();
  const session = await askingSession(agent);
  await agent.prompt(session, "run bash job.sh");
  expect([made(agent), JSON.stringify(agent.updates)]).toEqual([
    false,
    expect.stringContaining("what it runs, or where, was changed while the question was open"),
  ]);
  await agent.prompt(session, "run bash job.sh");
  expect([asked, readFileSync(join(agent.cwd, "made.txt"), "utf8")]).toEqual([2, "second\n"]);
});
