import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { AcpClient, Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";

const running: AcpClient[] = [];

afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop();
});

async function start(home?: string): Promise<AcpAgent> {
  const agent = new AcpAgent({}, home);
  running.push(agent);
  await agent.initialize();
  return agent;
}

async function list(agent: AcpClient, params: Json = {}): Promise<Json[]> {
  const { result } = await agent.request("session/list", params);
  return result?.["sessions"] as Json[];
}

test("sessions with a message are listed by folder, by the next process too", async () => {
  const agent = await start();
  const id = await agent.newSession();
  expect(await list(agent)).toEqual([]);
  await agent.prompt(id, "list files");
  const expected = { sessionId: id, cwd: agent.cwd, updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) };
  expect(await list(agent)).toMatchObject([expected]);
  await agent.stop();
  expect(existsSync(join(agent.home, "vscode", "index.sqlite"))).toBe(true);
  const next = await start(agent.home);
  expect(await list(next, { cwd: agent.cwd })).toMatchObject([expected]);
  expect(await list(next, { cwd: `${agent.cwd}/` })).toMatchObject([expected]);
  expect(await list(next, { cwd: next.cwd })).toEqual([]);
});

test("sessions of a folder that is opened through a link are those of the folder, in lists, searches and notes", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  await agent.stop();
  const next = await start(agent.home);
  const linked = join(next.cwd, "linked");
  symlinkSync(agent.cwd, linked);
  expect(await list(next, { cwd: linked })).toMatchObject([{ sessionId: id }]);
  for (const query of ["list", "files"]) {
    const { result } = await next.request("_hermes/session/search", { query, cwd: linked, limit: 5 });
    expect(result?.["hits"]).toMatchObject([{ sessionId: id }]);
  }
  await next.request("session/load", { sessionId: id, cwd: linked, mcpServers: [] });
  await next.prompt(id, "list files");
  expect(JSON.stringify(next.updates)).not.toContain("goes on in");
  const { result } = await next.request("session/new", { cwd: linked, mcpServers: [] });
  const other = String(result?.["sessionId"]);
  await next.prompt(other, "list files");
  const both = [expect.objectContaining({ sessionId: other }), expect.objectContaining({ sessionId: id })];
  expect(await list(next, { cwd: agent.cwd })).toEqual(expect.arrayContaining(both));
});

test("a resumed session continues without another replay of its history", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  await agent.stop();
  const next = await start(agent.home);
  const resumed = { sessionId: id, cwd: `${agent.cwd}/`, mcpServers: [] };
  const { result } = await next.request("session/resume", resumed);
  expect(result).toMatchObject({ modes: { currentModeId: expect.any(String) } });
  expect(next.of("user_message_chunk")).toEqual([]);
  expect((await next.prompt(id, "list files")).result).toMatchObject({ stopReason: "end_turn" });
});

test("a deleted session is gone, twice deleted is no error, and one in use elsewhere is kept", async () => {
  const agent = await start();
  const never = await agent.request("session/delete", { sessionId: "20261120_120000_00000000" });
  expect(never.result).toEqual({});
  const outside = await agent.request("session/delete", { sessionId: "../../a" });
  expect(outside.error?.message).toContain("not the id of a session");
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  const other = new AcpProcess({}, agent.home);
  running.push(other);
  await other.initialize();
  const { error } = await other.request("session/delete", { sessionId: id });
  expect(error?.message).toContain("another Hermes");
  expect(await list(other)).toHaveLength(1);
  expect((await agent.request("session/delete", { sessionId: id })).result).toEqual({});
  expect((await agent.request("session/delete", { sessionId: id })).result).toEqual({});
  expect(await list(agent)).toEqual([]);
  expect(existsSync(join(agent.home, "vscode", "sessions", `${id}.jsonl`))).toBe(false);
});

test("a fork begins with the history of its session, and leaves it as it is", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  await agent.prompt(id, "/title Files");
  const { result } = await agent.request("session/fork", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  const fork = String(result?.["sessionId"]);
  expect(fork).not.toBe(id);
  const journal = (of: string): string[] =>
    readFileSync(join(agent.home, "vscode", "sessions", `${of}.jsonl`), "utf8").split("\n");
  const before = journal(id);
  // All of it but what it cost: that was paid for once.
  const history = before.slice(1, -1).filter((line) => !line.startsWith('{"type":"usage"'));
  expect(journal(fork).slice(1, history.length + 1)).toEqual(history);
  const again = await agent.request("session/fork", { sessionId: fork, cwd: agent.cwd, mcpServers: [] });
  expect(again.error).toBeUndefined();
  const titles = (await list(agent)).map(({ title }) => title);
  expect(new Set(titles)).toEqual(new Set(["Files", "Files (2)", "Files (3)"]));
  expect(await agent.prompt(fork, "list files")).toMatchObject({ result: { stopReason: "end_turn" } });
  expect(journal(id)).toEqual(before);
  expect(journal(fork).length).toBeGreaterThan(before.length);
  expect(
    (await agent.request("session/fork", { sessionId: "nope", cwd: agent.cwd, mcpServers: [] })).error,
  ).toBeDefined();
});

test("a pinned or archived session says so in every list, by the next process too, and its fork does not", async () => {
  const agent = await start();
  const ids = async (from: AcpAgent, shelf: string) =>
    (await list(from, { _meta: { hermes: { shelf } } })).map(({ sessionId }) => sessionId);
  const [one, two] = [await agent.newSession(), await agent.newSession()];
  await agent.prompt(one, "list files");
  await agent.prompt(two, "list files");
  await agent.request("_hermes/session/shelve", { sessionId: one, shelf: "pinned" });
  await agent.request("_hermes/session/shelve", { sessionId: two, shelf: "archived" });
  const fork = await agent.request("session/fork", { sessionId: one, cwd: agent.cwd, mcpServers: [] });
  const forkId = fork.result?.["sessionId"];
  await agent.stop();
  const next = await start(agent.home);
  expect([await ids(next, "pinned"), await ids(next, "archived"), await ids(next, "none")]).toEqual([
    [one],
    [two],
    [forkId],
  ]);
  const archived = (await list(next, { archived: "include" })).find(({ sessionId }) => sessionId === two);
  expect(archived).toMatchObject({ archived: true, _meta: { hermes: { shelf: "archived" } } });
  await next.request("_hermes/session/shelve", { sessionId: two, shelf: null });
  expect(await ids(next, "archived")).toEqual([]);
  const { error } = await next.request("_hermes/session/shelve", { sessionId: one, shelf: "top" });
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("shelf") });
});

test("titles, the archive, and the states of sessions and keys go by the standard's names, too", async () => {
  const agent = await start();
  const id = await agent.newSession();
  const other = await agent.newSession();
  for (const sessionId of [id, other]) await agent.prompt(sessionId, "list files");
  await agent.request("session/set_title", { sessionId: id, title: "Mine" });
  await agent.request("session/archive", { sessionId: id });
  const ids = async (archived?: string) => (await list(agent, { archived })).map(({ sessionId }) => sessionId);
  expect([await ids(), await ids("only"), await ids("include")]).toEqual([[other], [id], expect.arrayContaining([id])]);
  expect((await agent.request("session/list", { archived: "some" })).error).toMatchObject({ code: -32602 });
  expect((await list(agent, { archived: "only" }))[0]).toMatchObject({ title: "Mine", archived: true });
  await agent.request("session/unarchive", { sessionId: id });
  expect(await ids("only")).toEqual([]);
  await agent.request("session/close", { sessionId: id });
  const status = async (sessionId: string) => (await agent.request("session/status", { sessionId })).result?.["status"];
  expect([await status(other), await status(id)]).toEqual(["open", "saved"]);
  expect((await agent.request("session/status", { sessionId: "nope" })).error).toMatchObject({ code: -32002 });
  expect((await agent.request("auth/status", {})).result).toEqual({ state: "authenticated" });
  await agent.request("logout", {});
  expect((await agent.request("auth/status", {})).result).toEqual({ state: "unauthenticated" });
});

test("a list names the turns that work or ask in another process, and the branch of each folder", async () => {
  const agent = new AcpProcess({ HERMES_PROVIDER: "offline" });
  onTestFinished(() => agent.stop());
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<object>();
  agent.on("session/request_permission", () => {
    asked.resolve();
    return answer.promise;
  });
  await agent.initialize();
  const sessionId = await agent.newSession();
  const other = new AcpAgent({ HERMES_PROVIDER: "offline" }, agent.home);
  onTestFinished(() => other.stop());
  await other.initialize();
  const listed = async (): Promise<unknown> => {
    const [session] = await list(other, { _meta: { hermes: { limit: 500 } } });
    return (session?.["_meta"] as Json | undefined)?.["hermes"];
  };
  mkdirSync(join(agent.cwd, ".git"));
  writeFileSync(join(agent.cwd, ".git", "HEAD"), "ref: refs/heads/fix/it\n");
  await agent.request("session/set_mode", { sessionId, modeId: "ask" });
  const turn = agent.prompt(sessionId, "run touch here; until test -e go; do sleep 0.05; done");
  await asked.promise;
  expect(await listed()).toMatchObject({ state: "asks", branch: "fix/it" });
  answer.resolve({ outcome: { outcome: "selected", optionId: "once" } });
  await expect.poll(listed).toMatchObject({ state: "working" });
  writeFileSync(join(agent.cwd, "go"), "");
  await turn;
  expect(await listed()).not.toHaveProperty("state");
});
