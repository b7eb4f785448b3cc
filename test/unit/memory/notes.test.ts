import { describe, expect, it } from "vitest";
import {
  changeNotes,
  formatNotes,
  type NoteChange,
  notesLength,
  parseNotes,
} from "../../../agent-core/memory/notes.ts";

const LIMIT = 60;

function change(notes: readonly string[], request: NoteChange): readonly string[] | string {
  const changed = changeNotes(notes, request, LIMIT);
  return changed.ok ? changed.notes : changed.message;
}

describe("notes", () => {
  it("are entries divided by a line with a section sign", () => {
    expect(parseNotes("one\n§\ntwo\nlines\n§\n\n§\nthree\n")).toEqual(["one", "two\nlines", "three"]);
    expect(parseNotes("one\r\n§\r\ntwo\r\n")).toEqual(["one", "two"]);
    expect(parseNotes("§ 5 of the law\n")).toEqual(["§ 5 of the law"]);
    expect(parseNotes("")).toEqual([]);
    expect(formatNotes(["one", "two"])).toBe("one\n§\ntwo\n");
    expect(formatNotes([])).toBe("");
  });

  it("are read back as they were written", () => {
    const notes = ["a", "b\nc", "d § e"];
    expect(parseNotes(formatNotes(notes))).toEqual(notes);
  });

  it("are added at the end; the same twice is refused", () => {
    expect(change(["a"], { action: "add", content: " b \n" })).toEqual(["a", "b"]);
    expect(change(["a"], { action: "add", content: "a" })).toContain("already exists");
    expect(change(["a"], { action: "add", content: "§" })).toContain("content is empty");
  });

  it("are replaced as a whole, found by a part that no other has", () => {
    const notes = ["likes tabs", "likes tea"];
    expect(change(notes, { action: "replace", oldText: "tabs", content: "likes spaces" })).toEqual([
      "likes spaces",
      "likes tea",
    ]);
    expect(change(notes, { action: "replace", oldText: "likes", content: "x" })).toMatch(
      /2 entries hold "likes".*tabs.*tea/s,
    );
    expect(change(notes, { action: "replace", oldText: "coffee", content: "x" })).toMatch(/no entry holds "coffee"/);
    expect(change(notes, { action: "replace", oldText: "tabs", content: "likes tea" })).toContain("already exists");
  });

  it("are found by their whole text although another one holds it", () => {
    expect(change(["tea", "green tea"], { action: "remove", oldText: "tea" })).toEqual(["green tea"]);
  });

  it("make room by evicting the oldest, never the new one", () => {
    const changed = changeNotes(
      ["a".repeat(20), "b".repeat(20), "c".repeat(10)],
      { action: "add", content: "d".repeat(30) },
      LIMIT,
    );
    expect(changed).toEqual({
      ok: true,
      notes: ["c".repeat(10), "d".repeat(30)],
      evicted: ["a".repeat(20), "b".repeat(20)],
    });
    const grown = changeNotes(
      ["old", "b".repeat(20), "c".repeat(20)],
      { action: "replace", oldText: "old", content: "o".repeat(40) },
      LIMIT,
    );
    expect(grown).toMatchObject({ ok: true, notes: ["o".repeat(40)], evicted: ["b".repeat(20), "c".repeat(20)] });
  });

  it("refuse an entry that is longer than the limit", () => {
    expect(change(["a"], { action: "add", content: "x".repeat(61) })).toContain("61 characters");
  });

  it("never take more than their limit", () => {
    let notes: readonly string[] = [];
    for (let index = 0; index < 200; index++) {
      const content = `${index} ${"y".repeat((index * 7) % 40)}`;
      const changed = changeNotes(notes, { action: "add", content }, LIMIT);
      if (!changed.ok) throw new Error(changed.message);
      notes = changed.notes;
      expect(notesLength(notes)).toBeLessThanOrEqual(LIMIT);
      expect(notes.at(-1)).toBe(content.trim());
    }
  });
});
