import { appendFileSync, existsSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { exportSession } from "../../../agent-core/sessions/export-session.ts";
import { Journal, type NewEntry } from "../../../agent-core/sessions/journal.ts";
import { readEntries, readJournal, type StoredSession } from "../../../agent-core/sessions/read-journal.ts";
import { forkSession } from "../../../agent-core/sessions/stored-session.ts";
import { seeded } from "../approval/support/random.ts";

const ID = "20261120_120000_0000abcd";
const HEAD = { type: "session", version: 1, id: ID, cwd: "/project", at: 1 };
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-read-journal-"));
  path = join(folder, `${ID}.jsonl`);
});

const user = (content: string, at = 1) => ({ type: "message", message: { role: "user", content }, at });

/** Entries become lines, texts stand as they are. */
function write(...lines: readonly (object | string)[]): void {
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(path, texts.map((text) => `${text}\n`).join(""));
}

async function read(from = path): Promise<StoredSession> {
  const result = await readJournal(from);
  if (!result.ok) throw new Error(result.message);
  return result.session;
}

async function contents(): Promise<unknown[]> {
  return (await read()).conversation.messages.map(({ content }) => content);
}

test("entries keep the order of their lines, independent of the clock", async () => {
  write(HEAD, user("one", 3_000), user("two", 1_000), user("three", 2_000));
  expect(await contents()).toEqual(["one", "two", "three"]);
});

test("lines that end as on Windows, and empty ones, are no damage", async () => {
  writeFileSync(path, [HEAD, user("one"), user("two")].map((line) => `${JSON.stringify(line)}\r\n\r\n`).join(""));
  expect(await read()).toMatchObject({ damagedLines: 0 });
  expect(await contents()).toEqual(["one", "two"]);
});

test("zeros of a power cut around a line cost nothing, a line of them costs itself", async () => {
  write(HEAD, `\0\0\0${JSON.stringify(user("one"))}`, `${JSON.stringify(user("two"))}\0\0`, "\0\0\0\0", user("three"));
  expect(await contents()).toEqual(["one", "two", "three"]);
  expect((await read()).damagedLines).toBeLessThanOrEqual(1);
});

test("a whole entry after half of another is found, and the half is counted", async () => {
  write(
    HEAD,
    `${JSON.stringify(user("half")).slice(0, 40)}${JSON.stringify(user('a {"type":"b"} in it'))}`,
    user("two"),
  );
  expect(await contents()).toEqual(['a {"type":"b"} in it', "two"]);
  expect(await read()).toMatchObject({ damagedLines: 1 });
});

test.for(["", "*", "\u000b", "\ufffd"])(
  "lines that ran into each other with %j between them are all found",
  async (between) => {
    const lines = ["one", 'two {"type":"b"} in it', "three"].map((content) => JSON.stringify(user(content)));
    write(HEAD, lines.join(between), user("four"));
    const all = ["one", 'two {"type":"b"} in it', "three", "four"];
    expect(await contents()).toEqual(all);
    const messages = (await readEntries(path)).filter((entry) => entry.type === "message");
    expect(messages.map(({ message }) => message.content)).toEqual(all);
    expect(await read()).toMatchObject({ damagedLines: 1 });
  },
);

test("text within a damaged entry is never taken for an entry", async () => {
  const inner = [user("not said"), user("not said, either")];
  const call = { type: "tool", callId: "c1", title: "x", kind: "other", status: "completed", rawInput: { inner } };
  write(HEAD, JSON.stringify(call).replace('"callId"', '"callId'), user("one"));
  expect(await contents()).toEqual(["one"]);
});

test("a damaged first line does not cost the session", async () => {
  write("{damaged", user("one"), { type: "title", title: "Still here", at: 1 });
  expect(await read()).toMatchObject({ id: ID, cwd: "", title: "Still here", damagedLines: 1 });
  expect(await contents()).toEqual(["one"]);
});

test.for([
  ["", "its journal is empty"],
  ["\n\n", "its journal is empty"],
  ["torn", "its journal is empty"],
  ["garbage\n", "no readable header"],
  ['{"event":"of another program"}\n', "no readable header"],
])("%j is refused and stays as it is", async ([text, message]) => {
  writeFileSync(path, text ?? "");
  expect(await readJournal(path)).toMatchObject({ ok: false, message: expect.stringContaining(message ?? "") });
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("a line of 64 MB is read and written like any other", { timeout: 60_000 }, async () => {
  const long = "x".repeat(67_108_864);
  const journal = new Journal({ path, sessionId: ID, cwd: "/project", now: () => 1, onFailure: expect.unreachable });
  for (const content of ["one", long, "two"]) journal.append({ type: "message", message: { role: "user", content } });
  journal.close();
  const [first, second, third] = await contents();
  expect([first, third]).toEqual(["one", "two"]);
  expect(second === long).toBe(true);
});

test("cut off at any byte, all whole lines before it are there", async () => {
  const random = seeded(7);
  const texts = Array.from({ length: 40 }, (_, index) => `${index} ${"ü€😀".repeat(random.below(30))}`);
  write(HEAD, ...texts.map((text) => user(text)));
  const whole = readFileSync(path);
  const head = whole.indexOf(10) + 1;
  for (let round = 0; round < 100; round += 1) {
    const size = head + random.below(whole.length - head);
    writeFileSync(path, whole);
    truncateSync(path, size);
    const lines = whole.subarray(0, size).toString("latin1").split("\n").length - 2;
    expect(await contents()).toEqual(texts.slice(0, lines));
    expect(await read()).toMatchObject({ damagedLines: 0 });
  }
});

test("any flipped bits cost no line but their own", async () => {
  const random = seeded(8);
  const texts = Array.from({ length: 40 }, (_, index) => `message ${index}`);
  write(HEAD, ...texts.map((text) => user(text)));
  const whole = readFileSync(path);
  for (let round = 0; round < 300; round += 1) {
    const bytes = Buffer.from(whole);
    const place = random.below(bytes.length);
    bytes[place] = (bytes[place] ?? 0) ^ (1 << random.below(8));
    writeFileSync(path, bytes);
    const line = whole.subarray(0, place).toString("latin1").split("\n").length - 2;
    // A newline that is gone makes one line of two; one that has come makes two of one.
    const others = texts.filter((_, index) => index !== line && index !== line + 1);
    expect(await contents()).toEqual(expect.arrayContaining(others));
  }
});

const compression = (dropped: [number, number][], summary: string): NewEntry => ({
  type: "compression",
  child: "x",
  strategy: "summary",
  dropped,
  summary,
  shortened: [{ position: 3, content: "short" }],
  tokensBefore: 2,
  tokensAfter: 1,
});

/** Eight messages, of which the first three gave way to a summary and the fourth was shortened. */
function compressedSession(): void {
  const journal = new Journal({ path, sessionId: ID, cwd: "/project", now: () => 1, onFailure: expect.unreachable });
  for (let position = 0; position < 8; position += 1) {
    const content = `message ${position}`;
    const isTool = position === 3;
    const message = isTool
      ? ({ role: "tool", tool_call_id: "c", content } as const)
      : ({ role: "user", content } as const);
    journal.append({ type: "message", position, message });
    if (position === 5) journal.append(compression([[0, 2]], "the first three"));
  }
  journal.close();
}

test("messages that the model no longer gets are read from the journal on request", async () => {
  compressedSession();
  const { conversation } = await read();
  expect(conversation.messages.map(({ content }) => content).slice(1)).toEqual([
    "short",
    ...[4, 5, 6, 7].map((n) => `message ${n}`),
  ]);
  expect(conversation.transcript.map(({ message }) => message.content)).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `message ${n}`),
  );
  expect(conversation.transcript.map(({ role }) => role)).toContain("tool");
  // It comes back whole with what it was compressed with.
  conversation.rewind(2);
  expect(conversation.messages.map(({ content }) => content)).toEqual(["message 0", "message 1"]);
});

test("a message that was let go of cannot be replaced by another behind the session's back", async () => {
  compressedSession();
  const { conversation } = await read();
  writeFileSync(path, "");
  expect(() => conversation.transcript[0]?.message).toThrow("shorter than it was");
});

test("an export has everything, compressed or not, and every entry", async () => {
  compressedSession();
  const exported = JSON.parse(await exportSession(await read(), "json"));
  expect(exported.messages).toHaveLength(8);
  expect(exported.entries).toHaveLength(10);
  expect(await exportSession(await read(), "markdown")).toContain("message 0");
});

test("a fork takes damaged lines along, leaves a torn one, and ends before the message that is named", async () => {
  write(
    HEAD,
    { ...user("one"), position: 0 },
    "damaged",
    { ...user("two"), position: 1 },
    { ...user("three"), position: 2 },
  );
  appendFileSync(path, '{"type":"mess');
  const to = join(folder, "20261120_120000_0000abce.jsonl");
  await forkSession(path, to, ID, { id: "20261120_120000_0000abce", cwd: "/else", at: 2, position: 2 });
  const fork = await read(to);
  expect(fork).toMatchObject({ id: "20261120_120000_0000abce", cwd: "/else", damagedLines: 1 });
  expect(fork.conversation.messages.map(({ content }) => content)).toEqual(["one", "two"]);
  await expect(forkSession(path, to, ID, { id: ID, cwd: "/", at: 2 })).rejects.toThrow("already exists");
});

test("nothing is added to a journal that has grown since it was read, until it is read again", async () => {
  write(HEAD, user("one"));
  const { size } = await read();
  const told: string[] = [];
  const options = {
    path,
    sessionId: ID,
    cwd: "/project",
    now: () => 1,
    onFailure: (message: string) => told.push(message),
  };
  const mine = new Journal({ ...options, knownSize: size });
  appendFileSync(path, `${JSON.stringify(user("of another"))}\n`);
  mine.append({ type: "title", title: "Mine" });
  mine.close();
  expect(told).toEqual([expect.stringContaining("it continued elsewhere")]);
  expect(await contents()).toEqual(["one", "of another"]);
  expect(existsSync(`${path}.lock`)).toBe(false);
  const again = new Journal({ ...options, knownSize: (await read()).size });
  again.append({ type: "title", title: "Mine" });
  again.close();
  again.append({ type: "title", title: "Mine, too" });
  again.close();
  expect(await read()).toMatchObject({ title: "Mine, too" });
});

const edit = (source: string, at = "/a") => ({
  ...{ type: "file-change", path: at, by: "edit", source, before: null, position: 0, at: 1 },
  after: { hash: "a".repeat(64), mode: 0o644 },
});
const review = (outcome: string, at = "/a") => ({ type: "review", path: at, outcome, at: 1 });

test.for([
  { steps: [edit("c"), review("undone"), review("redone"), review("kept")], decisions: { c: "kept" } },
  { steps: [edit("c"), review("undone"), edit("d"), review("kept")], decisions: { c: "discarded", d: "kept" } },
  { steps: [edit("c"), review("undone"), review("kept"), review("redone")], decisions: { c: "discarded" } },
  { steps: [edit("c"), review("kept"), edit("d"), review("undone")], decisions: { c: "kept", d: "undone" } },
  { steps: [edit("c"), review("undone", "/b")], decisions: { c: undefined } },
  {
    steps: [edit("c"), review("undone"), { type: "rewind", keep: 0, at: 1 }, edit("c")],
    decisions: { c: undefined },
  },
  {
    steps: [edit("c"), review("undone"), { type: "rewind", keep: 0, at: 1 }, edit("c"), review("kept")],
    decisions: { c: "kept" },
  },
])("a decision holds for the edits that were open, and for no later one: $decisions", async ({ steps, decisions }) => {
  write(HEAD, ...steps);
  const session = await read();
  expect(session.damagedLines).toBe(0);
  for (const [call, decision] of Object.entries(decisions)) expect(session.decisionsOf(call)?.["/a"]).toBe(decision);
});

test("thousands of reviews of thousands of edits of one file are read at once", async () => {
  const edits = Array.from({ length: 5_000 }, (_, index) => edit(`c${index}`));
  const reviews = Array.from({ length: 4_000 }, (_, index) => review(index % 2 === 0 ? "kept" : "undone"));
  write(HEAD, ...edits, ...reviews);
  expect((await read()).decisionsOf("c4999")).toEqual({ "/a": "kept" });
});
