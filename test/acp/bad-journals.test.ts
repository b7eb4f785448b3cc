import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AcpClient, Json, Reply } from "../support/acp-client.ts";
import { NOBODY, startAgent, startProcess } from "../support/start-agent.ts";

type Stored = { readonly home: string; readonly cwd: string; readonly id: string; readonly journal: string };

/** A session of one turn, whose process has ended. */
async function stored(): Promise<Stored> {
  const agent = await startAgent();
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  await agent.stop();
  const { home, cwd } = agent;
  return { home, cwd, id, journal: join(home, "vscode", "sessions", `${id}.jsonl`) };
}

const load = (agent: AcpClient, { id, cwd }: Stored): Promise<Reply> =>
  agent.request("session/load", { sessionId: id, cwd, mcpServers: [] });

const textsOf = (updates: readonly Json[]): string[] =>
  updates.map((update) => (update["content"] as { text: string }).text);

const said = (agent: AcpClient): string[] => textsOf(agent.of("user_message_chunk"));
/** Notes for the user outside the conversation. */
const notes = (agent: AcpClient): string => textsOf(agent.of("agent_thought_chunk")).join("");

test("damaged lines are skipped, the user sees their number, and the session continues", async () => {
  const session = await stored();
  const bytes = readFileSync(session.journal);
  const at = bytes.indexOf('"type":"system-prompt"');
  bytes[at + 2] = (bytes[at + 2] ?? 0) ^ 0x40;
  writeFileSync(session.journal, Buffer.concat([bytes, Buffer.from("no entry\n")]));
  const agent = await startAgent(session.home);
  expect((await load(agent, session)).error).toBeUndefined();
  await expect.poll(() => notes(agent)).toContain("2 lines of this session's journal cannot be read and were left out");
  expect(said(agent)).toEqual(["list files"]);
  expect((await agent.prompt(session.id, "list files")).result).toMatchObject({ stopReason: "end_turn" });
});

test("a journal of a later format is refused with advice, and stays unchanged", async () => {
  const session = await stored();
  writeFileSync(session.journal, readFileSync(session.journal, "utf8").replace('"version":1', '"version":2'));
  const before = readFileSync(session.journal);
  const agent = await startAgent(session.home);
  const { id: sessionId, cwd } = session;
  for (const [method, params] of [
    ["session/load", { sessionId, cwd, mcpServers: [] }],
    ["session/resume", { sessionId, cwd, mcpServers: [] }],
    ["session/fork", { sessionId, cwd, mcpServers: [] }],
    ["_hermes/session/rename", { sessionId, title: "Another" }],
    ["_hermes/session/export", { sessionId, format: "json" }],
  ] as const) {
    const { error } = await agent.request(method, params);
    expect(error?.message).toMatch(/format 2.*formats up to 1; update Hermes.*not changed/);
  }
  expect(readFileSync(session.journal)).toEqual(before);
});

test.for([
  ["empty", "", "its journal is empty"],
  ["garbage", "\0\u0001garbage\nmore of it\n", "no readable header"],
  ["another program's", '{"event":"start"}\n{"event":"end"}\n', "no readable header"],
])("a journal that is %s is refused with its path, and stays", async ([, text, problem]) => {
  const session = await stored();
  writeFileSync(session.journal, text ?? "");
  const agent = await startAgent(session.home);
  const { error } = await load(agent, session);
  expect(error?.message).toContain(problem);
  expect(error?.message).toContain(session.journal);
  expect(readFileSync(session.journal, "utf8")).toBe(text);
});

test("a session that a living process is writing is refused with its number; a fork of it is not", async () => {
  const agent = await startAgent();
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  const other = await startProcess(agent.home);
  const { error } = await load(other, { home: agent.home, cwd: agent.cwd, id, journal: "" });
  expect(error?.message).toContain(`another Hermes (process ${process.pid}) has it open; close it there first`);
  const fork = await other.request("session/fork", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  expect(fork.error).toBeUndefined();
  await agent.request("session/close", { sessionId: id });
  expect((await load(other, { home: agent.home, cwd: agent.cwd, id, journal: "" })).error).toBeUndefined();
});

test("a session that is being given up at this moment is waited for", async () => {
  const agent = await startAgent();
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  const other = await startProcess(agent.home);
  const loaded = load(other, { home: agent.home, cwd: agent.cwd, id, journal: "" });
  await agent.request("session/close", { sessionId: id });
  expect((await loaded).error).toBeUndefined();
});

test("a lock whose number another program has by now is none", async () => {
  const session = await stored();
  writeFileSync(`${session.journal}.lock`, JSON.stringify({ pid: process.pid, birth: "of an earlier process" }));
  const agent = await startProcess(session.home);
  expect((await load(agent, session)).error).toBeUndefined();
  await agent.prompt(session.id, "list files");
  expect(notes(agent)).not.toContain("saved");
  expect(JSON.parse(readFileSync(`${session.journal}.lock`, "utf8"))).toMatchObject({ pid: agent.child.pid });
});

test("a session that has gone on elsewhere since it was opened is not written over", async () => {
  const session = await stored();
  const agent = await startAgent(session.home);
  await load(agent, session);
  const other = await startProcess(session.home);
  await load(other, session);
  await other.prompt(session.id, "list files");
  await other.stop();
  const before = readFileSync(session.journal);
  const { error } = await agent.prompt(session.id, "list files");
  expect(error?.message).toContain("it continued elsewhere after it was opened here; open it again, or fork it");
  expect(readFileSync(session.journal)).toEqual(before);
});

test.for(["journal", "folder"])(
  "a read-only %s: the session is read, the turn goes on, and both is told",
  async (what) => {
    const session = await stored();
    if (NOBODY !== undefined) for (const path of [...under(session.home), session.cwd]) chownSync(path, NOBODY, NOBODY);
    const folder = join(session.home, "vscode", "sessions");
    if (what === "journal") chmodSync(session.journal, 0o400);
    else chmodSync(folder, 0o500);
    const agent = await startProcess(session.home, NOBODY);
    expect((await load(agent, session)).error).toBeUndefined();
    await expect
      .poll(() => notes(agent))
      .toContain("This session can be read but not saved: Hermes has no permission to write there");
    expect(said(agent)).toEqual(["list files"]);
    const before = readFileSync(session.journal);
    expect((await agent.prompt(session.id, "list files")).result).toMatchObject({ stopReason: "end_turn" });
    expect(notes(agent).match(/This session is not being saved/g)).toHaveLength(1);
    expect(readFileSync(session.journal)).toEqual(before);
    chmodSync(folder, 0o700);
    chmodSync(session.journal, 0o600);
    await agent.prompt(session.id, "list files");
    expect(notes(agent)).toContain("This session is being saved again, including all messages since.");
    expect(readFileSync(session.journal, "utf8").match(/"role":"user"/g)).toHaveLength(3);
  },
);

function under(folder: string): string[] {
  return [folder, ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))];
}

test("a session without its folder opens with a notice, and goes on once the folder exists", async () => {
  const session = await stored();
  rmSync(session.cwd, { recursive: true });
  const agent = await startAgent(session.home);
  expect((await load(agent, session)).error).toBeUndefined();
  await expect
    .poll(() => notes(agent))
    .toContain(
      `The folder ${session.cwd} does not exist. The conversation is here in full, and can go on once the folder exists.`,
    );
  expect(said(agent)).toEqual(["list files"]);
  expect((await agent.prompt(session.id, "run echo hello")).error).toMatchObject({ data: { kind: "folder-gone" } });
  mkdirSync(session.cwd);
  expect((await agent.prompt(session.id, "run echo hello")).result).toMatchObject({ stopReason: "end_turn" });
});
