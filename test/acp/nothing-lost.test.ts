import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AcpClient, Json, Reply } from "../support/acp-client.ts";
import { NOBODY, startAgent, startProcess } from "../support/start-agent.ts";

const journalOf = ({ home }: AcpClient, id: string): string => join(home, "vscode", "sessions", `${id}.jsonl`);

const load = (agent: AcpClient, sessionId: string, cwd = agent.cwd): Promise<Reply> =>
  agent.request("session/load", { sessionId, cwd, mcpServers: [] });

const textsOf = (updates: readonly Json[]): string[] =>
  updates.map((update) => (update["content"] as { text: string }).text);
const said = (agent: AcpClient): string[] => textsOf(agent.of("user_message_chunk"));
const notes = (agent: AcpClient): string => textsOf(agent.of("agent_thought_chunk")).join("");

/** The session as a later process reads it. */
async function found(home: string, id: string, cwd: string): Promise<string[]> {
  const agent = await startAgent(home);
  expect((await load(agent, id, cwd)).error).toBeUndefined();
  return said(agent);
}

test.for(["deleted", "moved away"])(
  "a home that was %s while a session is open: it is written again, whole, and that is told",
  async (how) => {
    const agent = await startAgent();
    const id = await agent.newSession();
    await agent.prompt(id, "list files");
    if (how === "deleted") rmSync(agent.home, { recursive: true, maxRetries: 3 });
    else renameSync(agent.home, join(mkdtempSync(join(tmpdir(), "hermes-moved-")), "home"));
    expect((await agent.prompt(id, "read a.txt")).result).toMatchObject({ stopReason: "end_turn" });
    expect(notes(agent)).toContain(
      "The file of this session was deleted while it was open. Hermes wrote it again in full.",
    );
    await agent.stop();
    expect(await found(agent.home, id, agent.cwd)).toEqual(["list files", "read a.txt"]);
  },
);

test("the second speaker in a session that two processes opened is refused before anything is lost", async () => {
  const one = await startAgent();
  const id = await one.newSession();
  await one.prompt(id, "list files");
  await one.request("session/close", { sessionId: id });
  const other = await startProcess(one.home);
  await load(one, id);
  await load(other, id, one.cwd);
  await one.prompt(id, "read a.txt");
  const whileOpen = await other.prompt(id, "search for two");
  expect(whileOpen.error?.message).toContain(`another Hermes (process ${process.pid}) is writing`);
  await one.stop();
  const afterwards = await other.prompt(id, "search for two");
  expect(afterwards.error?.message).toContain(
    "continued elsewhere after it was opened here; open it again, or fork it",
  );
  expect((await load(other, id, one.cwd)).error).toBeUndefined();
  expect((await other.prompt(id, "search for two")).result).toMatchObject({ stopReason: "end_turn" });
  await other.stop();
  expect(await found(one.home, id, one.cwd)).toEqual(["list files", "read a.txt", "search for two"]);
});

test("an open session that was deleted elsewhere refuses prompts, and leaves nothing behind", async () => {
  const one = await startAgent();
  const id = await one.newSession();
  await one.prompt(id, "list files");
  await one.request("session/close", { sessionId: id });
  await load(one, id);
  const other = await startProcess(one.home);
  expect((await other.request("session/delete", { sessionId: id })).error).toBeUndefined();
  expect((await one.prompt(id, "read a.txt")).error?.message).toContain(
    "its file was deleted after it was opened here",
  );
  expect(existsSync(journalOf(one, id))).toBe(false);
});

/** Nothing can be written into the folder of the sessions; gives the way to make it writable again. */
function lockFolder({ home, cwd }: AcpClient): () => void {
  const folder = join(home, "vscode", "sessions");
  if (NOBODY !== undefined) {
    for (const root of [home, cwd]) {
      for (const name of ["", ...readdirSync(root, { recursive: true, encoding: "utf8" })]) {
        chownSync(join(root, name), NOBODY, NOBODY);
      }
    }
  }
  chmodSync(folder, 0o500);
  return () => chmodSync(folder, 0o700);
}

test("unsaved messages are exported, and survive a reopening of their session", async () => {
  const first = await startAgent();
  const id = await first.newSession();
  await first.prompt(id, "list files");
  await first.stop();
  const unlock = lockFolder(first);
  const agent = await startProcess(first.home, NOBODY);
  await load(agent, id, first.cwd);
  await agent.prompt(id, "read a.txt");
  expect(notes(agent)).toContain("This session is not being saved");
  const exported = await agent.request("_hermes/session/export", { sessionId: id, format: "json" });
  expect(JSON.parse(String(exported.result?.["text"]))).toMatchObject({
    messages: expect.arrayContaining([expect.objectContaining({ content: "read a.txt" })]),
    entries: expect.arrayContaining([expect.objectContaining({ type: "tool", name: "read_file" })]),
  });
  agent.updates.length = 0;
  expect((await load(agent, id, first.cwd)).error).toBeUndefined();
  expect(said(agent)).toEqual(["list files", "read a.txt"]);
  expect(agent.of("tool_call")).toMatchObject([{ title: expect.any(String) }, { name: "read_file" }]);
  await expect.poll(() => notes(agent)).toContain("This session is not being saved");
  unlock();
  await agent.prompt(id, "search for two");
  expect(notes(agent)).toContain("saved again");
  await agent.stop();
  expect(await found(first.home, id, first.cwd)).toEqual(["list files", "read a.txt", "search for two"]);
});

test("a session without any saved message can be exported", async () => {
  const first = await startAgent();
  await first.prompt(await first.newSession(), "list files");
  await first.stop();
  const unlock = lockFolder(first);
  const agent = await startProcess(first.home, NOBODY);
  const { result } = await agent.request("session/new", { cwd: first.cwd, mcpServers: [] });
  const id = String(result?.["sessionId"]);
  await agent.prompt(id, "read a.txt");
  await agent.prompt(id, "/export words.md");
  expect(readFileSync(join(first.cwd, "words.md"), "utf8")).toContain("read a.txt");
  unlock();
});

test("a fork, a deletion and a name that cannot be written say why, in words", async () => {
  const first = await startAgent();
  const id = await first.newSession();
  await first.prompt(id, "list files");
  await first.stop();
  const unlock = lockFolder(first);
  const agent = await startProcess(first.home, NOBODY);
  const fork = await agent.request("session/fork", { sessionId: id, cwd: first.cwd, mcpServers: [] });
  const deletion = await agent.request("session/delete", { sessionId: id });
  const name = await agent.request("_hermes/session/rename", { sessionId: id, title: "New" });
  for (const { error } of [fork, deletion, name])
    expect(error?.message).toContain("Hermes has no permission to write there");
  expect(readdirSync(join(first.home, "vscode", "sessions"))).toEqual([`${id}.jsonl`]);
  unlock();
});
