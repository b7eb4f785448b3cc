import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { Memory } from "../../../agent-core/memory/memory.ts";
import type { MemoryOrigin } from "../../../agent-core/memory/memory-ledger.ts";
import type { NoteChange } from "../../../agent-core/memory/notes.ts";

let folder: string;
let memory: Memory;

const origin: MemoryOrigin = { by: "agent", sessionId: "s1", callId: "c1" };
const file = (name = "MEMORY.md"): string => readFileSync(join(folder, name), "utf8");
const write = (change: NoteChange, from = origin) => memory.change("memory", change, from);
const undoLast = async () => memory.undo((await memory.writes()).slice(-1));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-ledger-"));
  memory = new Memory({ folder, limits: { memory: 60, user: 60 } });
});

describe("the origin of an entry", () => {
  it("is the write that it comes from, and the file keeps its format", async () => {
    await write({ action: "add", content: "tests run with vitest" }, { ...origin, by: "review" });
    await write({ action: "replace", oldText: "vitest", content: "tests run with mocha" });
    writeFileSync(join(folder, "MEMORY.md"), `${file()}§\nwritten by hand\n`);
    expect(file()).toBe("tests run with mocha\n§\nwritten by hand\n");
    expect(await memory.entries("memory")).toMatchObject([
      { text: "tests run with mocha", write: { by: "agent", before: "tests run with vitest", sessionId: "s1" } },
      { text: "written by hand", write: undefined },
    ]);
  });

  it("survives a damaged line of the ledger", async () => {
    await write({ action: "add", content: "first" });
    writeFileSync(join(folder, "LEDGER.jsonl"), `${file("LEDGER.jsonl")}{"id":\n`);
    await write({ action: "add", content: "second" });
    expect((await memory.writes()).map(({ after }) => after)).toEqual(["first", "second"]);
  });
});

describe("an undo", () => {
  it.each<[string, NoteChange]>([
    ["an added entry", { action: "add", content: "three" }],
    ["a corrected entry", { action: "replace", oldText: "one", content: "One" }],
    ["a removed entry", { action: "remove", oldText: "one" }],
    ["a removed last entry", { action: "remove", oldText: "two" }],
    ["an entry for which an older one made room", { action: "add", content: "x".repeat(55) }],
  ])("gives the memory without %s, once", async (_, change) => {
    writeFileSync(join(folder, "MEMORY.md"), "one\n§\ntwo\n");
    expect((await write(change)).ok).toBe(true);
    const [made] = await memory.writes();
    expect(await undoLast()).toMatchObject({ ok: true });
    expect(file()).toBe("one\n§\ntwo\n");
    expect(await memory.writes()).toEqual([]);
    expect(await memory.undo(made === undefined ? [] : [made])).toMatchObject({ ok: false });
    expect(file()).toBe("one\n§\ntwo\n");
  });

  it("leaves an entry alone that was changed since, and says so", async () => {
    await write({ action: "add", content: "likes tabs" });
    writeFileSync(join(folder, "MEMORY.md"), "likes spaces\n");
    expect(await undoLast()).toEqual({
      ok: false,
      message: "Not undone: the entry was changed or removed since then (likes tabs).",
    });
    expect(file()).toBe("likes spaces\n");
  });

  it("of a removal needs room for the entry", async () => {
    await write({ action: "add", content: "a".repeat(40) });
    await write({ action: "remove", oldText: "a" });
    await write({ action: "add", content: "b".repeat(40) });
    const removal = (await memory.writes()).filter(({ after }) => after === null);
    expect(await memory.undo(removal)).toMatchObject({ ok: false, message: expect.stringContaining("no longer fits") });
  });

  it("of several writes undoes the last one first", async () => {
    await write({ action: "add", content: "one" });
    await write({ action: "replace", oldText: "one", content: "two" });
    expect(await memory.undo(await memory.writes())).toMatchObject({ ok: true });
    expect(await memory.read("memory")).toEqual([]);
  });

  it("restores the origin of the earlier text", async () => {
    await write({ action: "add", content: "one" }, { ...origin, by: "review" });
    await write({ action: "remove", oldText: "one" });
    await undoLast();
    expect(await memory.entries("memory")).toMatchObject([{ text: "one", write: { by: "review" } }]);
  });
});

it("changes without an origin leave no ledger", async () => {
  await memory.change("user", { action: "add", content: "likes tabs" });
  expect(await memory.writes()).toEqual([]);
  expect(await memory.undo([])).toEqual({ ok: false, message: expect.stringContaining("no such change") });
});
