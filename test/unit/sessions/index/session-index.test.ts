import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acquireLock } from "../../../../agent-core/platform/locks/file-lock.ts";
import { SessionIndex } from "../../../../agent-core/sessions/index/session-index.ts";
import { Journal, type NewEntry } from "../../../../agent-core/sessions/journal.ts";
import { forkSession } from "../../../../agent-core/sessions/stored-session.ts";

const OWN = "20261120_120000_00000000";
let folder: string;
let clock: number;
let logged: string[];
const open: SessionIndex[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-index-"));
  clock = 1_000;
  logged = [];
});

afterEach(async () => {
  for (const index of open.splice(0)) await index.close();
});

const snapshot = (): string => join(folder, "index.sqlite");
const journals = (): string => join(folder, "sessions");
const pathOf = (id: string): string => join(journals(), `${id}.jsonl`);
const idOf = (number: number): string => `20261120_120000_${String(number).padStart(8, "0")}`;

function index(): SessionIndex {
  const made = new SessionIndex({ journals: journals(), file: snapshot(), log: (line) => logged.push(line) });
  open.push(made);
  return made;
}

function write(id: string, entries: readonly NewEntry[], cwd = "/project"): void {
  const onFailure = (message: string): never => {
    throw new Error(message);
  };
  const journal = new Journal({ path: pathOf(id), sessionId: id, cwd, now: () => clock++, onFailure });
  for (const entry of entries) journal.append(entry);
  journal.close();
}

const user = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } });
const tool = (content: string): NewEntry => ({
  type: "message",
  message: { role: "tool", tool_call_id: "call_1", content },
});

async function found(from: SessionIndex, query: string, roles?: readonly string[]): Promise<string[]> {
  const { value } = await from.ask("search", { query, limit: 10, except: OWN, roles });
  return value.map((hit) => `${hit.sessionId.slice(-1)}:${hit.position}`);
}

const inAnyOrder = (hits: readonly string[]): string => hits.toSorted((one, other) => (one < other ? -1 : 1)).join(" ");

async function listed(from: SessionIndex, cwd?: string): Promise<string[]> {
  return (await from.ask("list", { limit: 50, cwd })).value.map(({ id }) => id.slice(-1));
}

const summary = async (from: SessionIndex, id: string) => (await from.ask("find", id)).value;

test("a home without sessions has an empty list and no hits", async () => {
  const empty = index();
  expect(await listed(empty)).toEqual([]);
  expect(await found(empty, "anything")).toEqual([]);
});

test("sessions are listed with the facts of their journals, the last used first, by folder", async () => {
  write(idOf(1), [user("one"), { type: "title", title: "First" }]);
  write(
    idOf(2),
    [
      user("two"),
      { type: "usage", model: "m", inputTokens: 5, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 0 },
      { type: "usage", model: "m", inputTokens: 7, outputTokens: 3, cachedInputTokens: 1, reasoningTokens: 0 },
    ],
    "/other",
  );
  const made = index();
  expect((await made.ask("list", { limit: 50 })).value).toMatchObject([
    { id: idOf(2), cwd: "/other", title: null, model: "m", shownCount: 1, inputTokens: 12, outputTokens: 5 },
    { id: idOf(1), cwd: "/project", title: "First", shownCount: 1 },
  ]);
  expect(await listed(made, "/project")).toEqual(["1"]);
});

test.for([
  ["用户想要一个红色的按钮", ["红色", "按钮", "红色的按钮", "用户 按钮", '"想要一个"'], ["红按", "按钮用户"]],
  ["ログインフォームを直してください", ["フォーム", "直して", "ログイン フォーム"], ["フォログ"]],
  ["로그인버튼을 고쳐 주세요", ["버튼", "로그인", "고쳐"], ["튼버"]],
  ["ปุ่มเข้าสู่ระบบเสีย", ["ปุ่ม", "ระบบ"], ["บบระ"]],
  ["使用vscode编辑 main.ts", ["vscode", "编辑", "main.ts", "使用vscode"], ["vsc"]],
] as const)("%s is found by any part of it, and by nothing else", async ([text, parts, others]) => {
  write(idOf(1), [user("something else: 红 钮 フ 버 บ")]);
  write(idOf(2), [user(text)]);
  const made = index();
  for (const part of parts) expect([part, await found(made, part)]).toEqual([part, ["2:0"]]);
  for (const other of others) expect([other, await found(made, other)]).toEqual([other, []]);
  rmSync(pathOf(idOf(2)));
  for (const part of parts) expect([part, await found(made, part)]).toEqual([part, []]);
  write(idOf(2), [user(text)]);
  expect(await found(made, parts[0])).toEqual(["2:0"]); // nothing of the first is left that would count twice
});

test("a list continues after a given session", async () => {
  for (const number of [1, 2, 3, 4, 5]) write(idOf(number), [user("x")]);
  const made = index();
  const page = async (after?: { id: string; updatedAt: number }) => (await made.ask("list", { limit: 2, after })).value;
  const ends = (sessions: readonly { id: string }[]) => sessions.map(({ id }) => id.slice(-1));
  const first = await page();
  const second = await page(first[1]);
  expect([first, second, await page(second[1])].map(ends)).toEqual([["5", "4"], ["3", "2"], ["1"]]);
});

test("a search ranks by rarity, repetition and length, gives each session once, and leaves the own one out", async () => {
  write(idOf(1), [user("the parser is slow, and much else is said here about other things entirely"), user("hello")]);
  write(idOf(2), [user("parser parser"), user("parser")]);
  write(idOf(3), [user("nothing of it")]);
  write(OWN, [user("parser")]);
  expect(await found(index(), "parser")).toEqual(["2:0", "1:0"]);
});

test("all words are needed, else any; phrases, OR, prefixes and roles narrow it; case and accents do not count", async () => {
  write(idOf(1), [user("Größe of the cache"), tool("disk full")]);
  write(idOf(2), [user("cache and disk")]);
  const made = index();
  expect(await found(made, "cache disk")).toEqual(["2:0"]);
  expect(inAnyOrder(await found(made, "cache elephant"))).toBe("1:0 2:0");
  expect(await found(made, '"disk full"')).toEqual(["1:1"]);
  expect(inAnyOrder(await found(made, "grosse OR GRÖSSE OR größe OR elephant"))).toBe("1:0");
  expect(inAnyOrder(await found(made, "cach*"))).toBe("1:0 2:0");
  expect(await found(made, "disk", ["tool"])).toEqual(["1:1"]);
});

test.each(['"', "NEAR/3", "a:b*", "OR OR", "-", "(", "'; DROP TABLE messages; --", "\u0000"])(
  "typed words are never a syntax error: %j",
  async (query) => {
    write(idOf(1), [user("x")]);
    expect(await found(index(), query)).toEqual([]);
  },
);

test("only new lines of a journal are read, and a torn line waits for its end", async () => {
  write(idOf(1), [user("first")]);
  const made = index();
  expect(await found(made, "first")).toEqual(["1:0"]);
  const lock = acquireLock(`${pathOf(idOf(1))}.lock`); // as every writer has: without it only a later look would see the line
  if ("pid" in lock) throw new Error("the journal is in use");
  const line = JSON.stringify({ ...user("second"), at: 5 });
  appendFileSync(pathOf(idOf(1)), line.slice(0, 20));
  expect(await found(made, "second")).toEqual([]);
  // Were the beginning read again, its first message would stand there twice.
  appendFileSync(pathOf(idOf(1)), `${line.slice(20)}\n`);
  expect(await found(made, "second")).toEqual(["1:1"]);
  expect(await summary(made, idOf(1))).toMatchObject({ shownCount: 2, nextPosition: 2 });
  lock.release();
});

test("damaged lines and journals of a later version are left out, the rest stays", async () => {
  write(idOf(1), [user("before"), user("after")]);
  const lines = readFileSync(pathOf(idOf(1)), "utf8").split("\n");
  writeFileSync(pathOf(idOf(1)), [lines[0], lines[1], '{"type":"mess\u0001ge"}', lines[2], ""].join("\n"));
  const head = { type: "session", version: 99, id: idOf(2), cwd: "/project", at: 1 };
  writeFileSync(pathOf(idOf(2)), `${JSON.stringify(head)}\n${JSON.stringify({ ...user("after"), at: 2 })}\n`);
  const made = index();
  expect(await found(made, "after")).toEqual(["1:1"]);
  expect(await listed(made)).toEqual(["1"]);
});

test("a session that was deleted, or put back from an older copy, is so in the index too", async () => {
  write(idOf(1), [user("alpha")]);
  const older = readFileSync(pathOf(idOf(1)));
  write(idOf(1), [user("beta")]);
  write(idOf(2), [user("gamma")]);
  const made = index();
  expect(await found(made, "beta")).toEqual(["1:1"]);
  writeFileSync(pathOf(idOf(1)), older);
  rmSync(pathOf(idOf(2)));
  expect(await found(made, "beta")).toEqual([]);
  expect(await found(made, "alpha")).toEqual(["1:0"]);
  expect(await found(made, "gamma")).toEqual([]);
  expect(await listed(made)).toEqual(["1"]);
});

test("the snapshot is caught up from, and deleting it costs only a rebuild", async () => {
  write(idOf(1), [user("alpha")]);
  const first = index();
  await listed(first);
  await first.close();
  expect(existsSync(snapshot())).toBe(true);
  write(idOf(1), [user("beta")]);
  const second = index();
  expect(await found(second, "alpha")).toEqual(["1:0"]);
  expect(await found(second, "beta")).toEqual(["1:1"]);
  await second.close();
  rmSync(snapshot());
  expect(await found(index(), "beta")).toEqual(["1:1"]);
});

test.each([
  ["is no database", () => Buffer.from("not a database at all")],
  ["is empty", () => Buffer.alloc(0)],
  ["is cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ["has zeros in its middle", (bytes: Buffer) => Buffer.from(bytes).fill(0, 4_096, bytes.length - 4_096)],
  ["has noise in its middle", (bytes: Buffer) => Buffer.from(bytes).fill(0xa5, 4_096, bytes.length - 4_096)],
])("an index whose snapshot %s is built again", async (_, damage) => {
  for (let number = 1; number <= 9; number += 1) write(idOf(number), [user(`word${number} common`)]);
  const first = index();
  await listed(first);
  await first.close();
  writeFileSync(snapshot(), damage(readFileSync(snapshot())));
  const again = index();
  expect(await listed(again)).toHaveLength(9);
  expect(await found(again, "word7")).toEqual(["7:0"]);
});

test("two processes with one home both see everything, independent of the last save", async () => {
  write(idOf(1), [user("alpha")]);
  const [one, other] = [index(), index()];
  expect(await listed(one)).toEqual(["1"]);
  expect(await listed(other)).toEqual(["1"]);
  write(idOf(2), [user("beta")]);
  expect(await listed(one)).toEqual(["2", "1"]);
  await one.close();
  await other.close();
  expect(await listed(index())).toEqual(["2", "1"]);
});

test("an index that cannot be saved answers all the same, and says so in the log", async () => {
  write(idOf(1), [user("alpha")]);
  mkdirSync(snapshot());
  const made = index();
  expect(await found(made, "alpha")).toEqual(["1:0"]);
  await made.close();
  expect(logged).toEqual([expect.stringContaining("could not be saved")]);
});

test("a fork is listed separately, found together with its origin, and does not find its origin", async () => {
  write(idOf(1), [user("alpha")]);
  await forkSession(pathOf(idOf(1)), pathOf(idOf(2)), idOf(1), { id: idOf(2), cwd: "/fork", at: 5_000 });
  write(idOf(2), [user("beta")]);
  const made = index();
  expect(await summary(made, idOf(2))).toMatchObject({ cwd: "/fork", shownCount: 2 });
  expect(await listed(made)).toHaveLength(2);
  expect(await found(made, "alpha")).toHaveLength(1);
  expect(await found(made, "beta")).toEqual(["2:1"]);
  expect((await made.ask("search", { query: "alpha", limit: 10, except: idOf(2) })).value).toEqual([]);
});

test("current prompts and answers are counted: no tool results, no steering, no rewound messages", async () => {
  const answer = (content: string | null): NewEntry => ({ type: "message", message: { role: "assistant", content } });
  const ours: NewEntry = { type: "message", message: { role: "user", content: "go on", synthetic: true } };
  write(idOf(1), [user("one"), answer("I look."), tool("x"), answer(null), tool("y"), answer("Done."), ours]);
  const made = index();
  expect(await summary(made, idOf(1))).toMatchObject({ shownCount: 2, nextPosition: 7 });
  write(idOf(1), [user("two"), answer("No."), { type: "rewind", keep: 7 }]);
  expect(await summary(made, idOf(1))).toMatchObject({ shownCount: 2, nextPosition: 9 });
  write(idOf(1), [user("three")]);
  expect(await summary(made, idOf(1))).toMatchObject({ shownCount: 3, nextPosition: 10 });
});

test("rewound messages are found by the agent's search, not by the user's", async () => {
  write(idOf(1), [user("elephant"), { type: "rewind", keep: 0 }]);
  const made = index();
  expect(await found(made, "elephant")).toEqual(["1:0"]);
  expect((await made.ask("found", { query: "elephant", limit: 50 })).value).toEqual([]);
});
