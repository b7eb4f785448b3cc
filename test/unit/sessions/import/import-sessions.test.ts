import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "sql.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JournalEntry } from "../../../../agent-core/sessions/entry.ts";
import { importSessions } from "../../../../agent-core/sessions/import/import-sessions.ts";
import { readEntries, readJournal, type StoredSession } from "../../../../agent-core/sessions/read-journal.ts";
import { deleteSession } from "../../../../agent-core/sessions/stored-session.ts";
import { hasPrograms } from "../../../support/programs.ts";
import { addMessage, addSession, CONVERSATION, newState } from "./state-fixture.ts";

const LOCK_TAKER = join(import.meta.dirname, "../../platform/locks/support/lock-taker.ts");
let folder: string;
let journals: string;
let state: Database;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-import-"));
  journals = join(folder, "sessions");
  state = await newState();
});

afterEach(() => {
  state.close();
  rmSync(folder, { recursive: true, force: true });
});

const file = (): string => join(folder, "state.db");

function run(signal = new AbortController().signal) {
  return importSessions({ from: folder, journals, progress: () => undefined, signal });
}

async function importState(): Promise<ReturnType<typeof run> extends Promise<infer Report> ? Report : never> {
  writeFileSync(file(), state.export());
  return run();
}

const names = (): string[] => readdirSync(journals).toSorted((one, other) => (one < other ? -1 : 1));

async function stored(name = names()[0] ?? ""): Promise<StoredSession & { readonly entries: readonly JournalEntry[] }> {
  const path = join(journals, name);
  const read = await readJournal(path);
  if (!read.ok) throw new Error(read.message);
  return { ...read.session, entries: await readEntries(path) };
}

test("a title is imported as one visible line; an empty one is none", async () => {
  const [first, second] = ["20260402_112233_aaaaaa", "20260402_112233_bbbbbb"];
  addSession(state, { ...CONVERSATION, id: first, title: "Mend\n\u001b[31mthe\u202e parser " });
  addSession(state, { ...CONVERSATION, id: second, title: "\u0000 \n" });
  await importState();
  const titles = await Promise.all(names().map(async (name) => (await stored(name)).title));
  expect(new Set(titles)).toEqual(new Set(["Mend the parser", undefined]));
});

test("a session is imported whole: messages, calls, results, reasoning, images, title, model, times, cost", async () => {
  addSession(state, CONVERSATION);
  expect(await importState()).toEqual({ imported: 1, unchanged: 0, deleted: 0, failed: [] });
  const { id, cwd, title, conversation, entries } = await stored();
  const hash = createHash("sha256").update(CONVERSATION.id).digest("hex").slice(0, 8);
  expect({ id, cwd, title }).toEqual({
    id: `20260402_112233_${hash}`,
    cwd: "/project/parser",
    title: "Mend the parser",
  });
  expect(entries[0]).toMatchObject({ source: "import", original: CONVERSATION.id, at: 1_775_128_953_000 });
  const call = { id: "call_1", type: "function", function: { name: "terminal", arguments: '{"command":"time make"}' } };
  expect(conversation.messages).toEqual([
    { role: "user", content: "why is it slow?" },
    { role: "assistant", content: null, tool_calls: [call], reasoning: "I should look." },
    { role: "tool", tool_call_id: "call_1", content: "real 9s, key [key]" },
    { role: "assistant", content: "It reads each file twice." },
    { role: "user", content: "summed up later" },
    { role: "user", content: "[CONTEXT COMPACTION — REFERENCE ONLY] …", synthetic: true },
    {
      role: "user",
      content: [
        { type: "text", text: "and this?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      ],
    },
  ]);
  expect(entries.find((entry) => entry.type === "tool")).toMatchObject({ title: "terminal: time make", ok: true });
  expect(entries.at(-1)).toMatchObject({
    type: "usage",
    model: "anthropic/claude-opus-4.6",
    inputTokens: 150,
    cachedInputTokens: 50,
    outputTokens: 20,
    reasoningTokens: 5,
    costUsd: 0.25,
  });
});

test("a second import adds only new sessions, and leaves those alone that are here", async () => {
  addSession(state, CONVERSATION);
  await importState();
  const path = join(journals, names()[0] ?? "");
  const said = { type: "message", message: { role: "user", content: "said here" }, at: 1 };
  appendFileSync(path, `${JSON.stringify(said)}\n`);
  const before = readFileSync(path, "utf8");
  addMessage(state, CONVERSATION.id, { role: "assistant", content: "That is new." });
  addSession(state, { id: "another", messages: [{ role: "user", content: "hello" }] });
  expect(await importState()).toMatchObject({ imported: 1, unchanged: 1 });
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(await run()).toMatchObject({ imported: 0, unchanged: 2 });
});

test("a session that another process is writing is named as such, and comes over another time", async () => {
  addSession(state, CONVERSATION);
  await importState();
  const [name = ""] = names();
  rmSync(join(journals, name));
  const writer = spawn(process.execPath, [LOCK_TAKER], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    writer.stdin.write(`take ${join(journals, name)}.lock\n`);
    await once(writer.stdout, "data");
    const why = `another Hermes (process ${writer.pid}) is writing it`;
    expect(await importState()).toMatchObject({ imported: 0, failed: [{ id: CONVERSATION.id, why }] });
  } finally {
    const gone = once(writer, "exit");
    writer.kill();
    await gone;
  }
  expect(await importState()).toMatchObject({ imported: 1, failed: [] });
});

test("a session that was deleted here stays deleted", async () => {
  addSession(state, CONVERSATION);
  addSession(state, { id: "another", messages: [{ role: "user", content: "hello" }] });
  await importState();
  const { id } = await stored();
  const path = join(journals, `${id}.jsonl`);
  const remove = () => deleteSession(path, join(journals, `${id}.files`));
  await remove();
  expect(existsSync(path)).toBe(false);
  expect(await run()).toMatchObject({ imported: 0, unchanged: 1, deleted: 1 });
  addMessage(state, CONVERSATION.id, { role: "assistant", content: "That is new." });
  expect(await importState()).toMatchObject({ imported: 0, deleted: 1 });
});

test("a deletion that was noted half counts for nothing, and does not eat the next one", async () => {
  addSession(state, CONVERSATION);
  await importState();
  const { id } = await stored();
  writeFileSync(join(journals, "deleted-imports"), `\n${id.slice(0, 12)}`);
  expect(await run()).toMatchObject({ unchanged: 1, deleted: 0 });
  await deleteSession(join(journals, `${id}.jsonl`), join(journals, `${id}.files`));
  expect(await run()).toMatchObject({ imported: 0, deleted: 1 });
});

test("only deletions of imported sessions are recorded", async () => {
  addSession(state, CONVERSATION);
  await importState();
  const id = "20261120_120000_00000001";
  const path = join(journals, `${id}.jsonl`);
  writeFileSync(path, `${JSON.stringify({ type: "session", version: 1, id, cwd: "/project", at: 1 })}\n`);
  await deleteSession(path, join(journals, `${id}.files`));
  expect(existsSync(join(journals, "deleted-imports"))).toBe(false);
});

test("runs of sub-agents and empty sessions stay there; a continuation knows its beginning", async () => {
  addSession(state, CONVERSATION);
  addSession(state, { id: "empty", messages: [] });
  addSession(state, {
    id: "run",
    config: { _delegate_from: CONVERSATION.id },
    messages: [{ role: "user", content: "x" }],
  });
  addSession(state, { id: "next", parent: CONVERSATION.id, messages: [{ role: "user", content: "on" }] });
  expect(await importState()).toMatchObject({ imported: 2 });
  const heads = names().map((name) => JSON.parse(readFileSync(join(journals, name), "utf8").split("\n")[0] ?? ""));
  const first = heads.find(({ original }) => original === CONVERSATION.id);
  expect(heads.find(({ original }) => original === "next")).toMatchObject({ parent: first.id });
});

test("a cancelled import leaves whole sessions, and the next one continues", async () => {
  for (const id of ["a", "b", "c"]) addSession(state, { id, messages: [{ role: "user", content: id }] });
  writeFileSync(file(), state.export());
  const ending = new AbortController();
  const progress = (done: number): void => void (done === 1 && ending.abort());
  const report = await importSessions({
    from: file(),
    journals,
    progress,
    signal: ending.signal,
  });
  expect(report).toMatchObject({ imported: 2 });
  expect(names()).toHaveLength(2);
  expect(await run()).toMatchObject({ imported: 1, unchanged: 2 });
});

test("only the columns that matter are needed", async () => {
  state.run("DROP TABLE sessions; DROP TABLE messages");
  state.run("CREATE TABLE sessions(id TEXT); CREATE TABLE messages(session_id TEXT, role TEXT, content TEXT)");
  state.run("INSERT INTO sessions VALUES('old'); INSERT INTO messages VALUES('old', 'user', 'hello')");
  expect(await importState()).toMatchObject({ imported: 1, failed: [] });
  expect((await stored()).conversation.messages).toEqual([{ role: "user", content: "hello" }]);
});

test.each([
  ["is missing", () => undefined, /state\.db does not exist\.$/],
  ["is no database", () => writeFileSync(file(), "hello ".repeat(500)), /is not an SQLite database/],
  ["is empty", () => writeFileSync(file(), ""), /is not an SQLite database/],
  ["is cut off", () => writeFileSync(file(), state.export().subarray(0, 5_000)), /is damaged|could not/],
  [
    "is of another program",
    () => {
      state.run("DROP TABLE messages");
      writeFileSync(file(), state.export());
    },
    /not a database of the Hermes Agent: it has no table messages/,
  ],
  [
    "was left half written",
    () => {
      writeFileSync(file(), state.export());
      writeFileSync(`${file()}-journal`, "not rolled back");
    },
    /-journal has changes that are not in .*state\.db yet\. Close the program/,
  ],
  [
    "has changes in its log",
    () => {
      writeFileSync(file(), state.export());
      writeFileSync(`${file()}-wal`, "pages");
    },
    /-wal has changes that are not in/,
  ],
])("a state.db that %s is refused in one clear line, and nothing is written", async (_, prepare, message) => {
  addSession(state, CONVERSATION);
  prepare();
  await expect(run()).rejects.toThrow(message);
  expect(readdirSync(folder)).not.toContain("sessions");
});

test.runIf(hasPrograms("python3"))("a state.db whose program has copied its log back is imported", async () => {
  addSession(state, CONVERSATION);
  writeFileSync(file(), state.export());
  const script = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA journal_mode=WAL")
db.execute("INSERT INTO messages(session_id, role, content, timestamp) VALUES(?, 'user', 'later', 1775129999)", (sys.argv[2],))
db.commit(); db.close()`;
  execFileSync("python3", ["-c", script, file(), CONVERSATION.id]);
  expect(await run()).toMatchObject({ imported: 1, failed: [] });
  expect((await stored()).conversation.messages.at(-1)).toMatchObject({ content: "later" });
});
