import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { addSession, CONVERSATION, newState } from "../unit/sessions/import/state-fixture.ts";

const running: AcpAgent[] = [];

afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop();
});

async function start(): Promise<AcpAgent> {
  const agent = new AcpAgent();
  running.push(agent);
  await agent.initialize({ _meta: { hermes: { sessionIndex: true } } });
  return agent;
}

async function writeState(folder: string): Promise<Buffer> {
  const state = await newState();
  addSession(state, CONVERSATION);
  writeFileSync(join(folder, "state.db"), state.export());
  state.close();
  return readFileSync(join(folder, "state.db"));
}

test("sessions of the home are imported, listed, found and loaded; state.db stays as it is", async () => {
  const agent = await start();
  const before = await writeState(agent.home);
  const { result } = await agent.request("_hermes/sessions/import", {});
  expect(result).toMatchObject({ imported: 1, failed: [], summary: "1 session was imported." });
  expect(agent.notifications).toContain("_hermes/sessions/importing");
  expect(agent.notifications).toContain("_hermes/sessions/changed");
  const listed = await agent.request("session/list", {});
  const [session] = (listed.result?.["sessions"] ?? []) as Json[];
  expect(session).toMatchObject({
    title: "Mend the parser",
    cwd: "/project/parser",
    _meta: { hermes: { source: "import", messages: 4, costUsd: 0.25 } },
  });
  const found = await agent.request("_hermes/session/search", { query: "twice" });
  expect(found.result).toMatchObject({ hits: [{ sessionId: session?.["sessionId"] }] });
  await agent.request("session/load", { sessionId: session?.["sessionId"], cwd: agent.cwd, mcpServers: [] });
  expect(agent.of("tool_call")).toMatchObject([{ title: "terminal: time make", status: "completed" }]);
  expect(agent.text()).toBe("It reads each file twice.");
  expect(readFileSync(join(agent.home, "state.db"))).toEqual(before);
  expect(existsSync(join(agent.home, "state.db-wal"))).toBe(false);
});

test("the next import skips and reports sessions that were deleted here", async () => {
  const agent = await start();
  await writeState(agent.home);
  await agent.request("_hermes/sessions/import", {});
  const ids = async (): Promise<unknown[]> => {
    const { result } = await agent.request("session/list", {});
    return ((result?.["sessions"] ?? []) as Json[]).map(({ sessionId }) => sessionId);
  };
  const [sessionId] = await ids();
  await agent.request("session/delete", { sessionId });
  const skipped = "1 session was skipped because it was deleted here.";
  const { result } = await agent.request("_hermes/sessions/import", {});
  expect(result).toMatchObject({ imported: 0, deleted: 1, summary: skipped });
  expect(await ids()).toEqual([]);
  const id = await agent.newSession();
  await agent.prompt(id, "/import");
  expect(agent.text()).toBe(skipped);
});

test("/import accepts a path, adds only new sessions, and reports an error in one line", async () => {
  const agent = await start();
  const id = await agent.newSession();
  const answer = async (prompt: string): Promise<string> => {
    const said = agent.text().length;
    await agent.prompt(id, prompt);
    return agent.text().slice(said);
  };
  expect(await answer("/import")).toMatch(/^The import failed: .*state\.db does not exist\.$/);
  await writeState(agent.cwd);
  expect(await answer("/import state.db")).toBe("1 session was imported.");
  expect(await answer("/import .")).toBe("1 session was already imported.");
  expect(await answer("/import a.txt")).toMatch(/^The import failed: .*a\.txt is not an SQLite database\.$/);
});
