import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readJournal } from "../../../agent-core/sessions/read-journal.ts";
import { forkSession } from "../../../agent-core/sessions/stored-session.ts";

const FORK = { id: "20261120_120000_00000002", cwd: "/project", at: 1_000 };
const PARENT = "20261120_120000_00000001";
const head = `{"type":"session","version":1,"id":"${PARENT}","cwd":"/project","at":1}`;
const message = (position: number): string =>
  `{"type":"message","position":${position},"message":{"role":"user","content":"words ${position}"},"at":2}`;

function folder(): { from: string; to: string; names: () => string[] } {
  const path = mkdtempSync(join(tmpdir(), "hermes-fork-"));
  return { from: join(path, "from.jsonl"), to: join(path, "to.jsonl"), names: () => readdirSync(path) };
}

test("a fork that fails halfway leaves nothing behind", async () => {
  const { from, to, names } = folder();
  mkdirSync(from); // opens, and fails when it is read
  await expect(forkSession(from, to, PARENT, FORK)).rejects.toThrow("EISDIR");
  expect(names()).toEqual(["from.jsonl"]);
});

test("the rest of a killed fork is removed with the next fork", async () => {
  const { from, to, names } = folder();
  writeFileSync(from, `${head}\n${message(0)}\n`);
  const { pid: dead } = spawnSync("true");
  for (const pid of [dead, process.ppid]) writeFileSync(`${from}.${pid}.tmp`, head);
  await forkSession(from, to, PARENT, FORK);
  expect(new Set(names())).toEqual(new Set(["from.jsonl", `from.jsonl.${process.ppid}.tmp`, "to.jsonl"]));
});

test.for([
  ["zeros of a lost power before a message", `${head}\n\0\0${message(0)}\n${message(1)}\n`],
  ["a first line that has run into the second", `${head}?${message(0)}\n${message(1)}\n`],
  ["the mark of an editor before the first line", `\ufeff${head}\n${message(0)}\n${message(1)}\n`],
])("%s: what can be read of the session can be read of its fork", async ([, text]) => {
  const { from, to } = folder();
  writeFileSync(from, text ?? "");
  await forkSession(from, to, PARENT, FORK);
  const texts = await Promise.all([from, to].map(textsOf));
  expect(texts).toEqual([
    ["words 0", "words 1"],
    ["words 0", "words 1"],
  ]);
});

test("a message behind zeros is read again when the model no longer gets it", async () => {
  const { from } = folder();
  const compression = {
    type: "compression",
    child: "x",
    strategy: "summary",
    dropped: [[0, 0]],
    summary: "sum",
    shortened: [],
    tokensBefore: 2,
    tokensAfter: 1,
    at: 3,
  };
  writeFileSync(from, `${head}\n\0\0${message(0)}\n${message(1)}\n${JSON.stringify(compression)}\n`);
  expect(await textsOf(from)).toEqual(["words 0", "words 1"]);
});

async function textsOf(path: string): Promise<unknown[]> {
  const read = await readJournal(path);
  if (!read.ok) throw new Error(read.message);
  return read.session.conversation.transcript.map((one) => one.message.content);
}

test("the cost of the first session is not counted again for its fork", async () => {
  const { from, to } = folder();
  const tokens = { inputTokens: 9, outputTokens: 9, cachedInputTokens: 0, reasoningTokens: 0 };
  const usage = JSON.stringify({ type: "usage", model: "m", ...tokens, costUsd: 1, at: 3 });
  writeFileSync(from, `${head}\n${message(0)}\n${usage}\n${message(1)}\n`);
  await forkSession(from, to, PARENT, FORK);
  const read = await readJournal(to);
  expect(read.ok && read.session.records).toEqual([]);
  expect(await textsOf(to)).toEqual(["words 0", "words 1"]);
});
