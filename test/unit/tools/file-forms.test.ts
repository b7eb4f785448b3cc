import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { tool as readFile } from "../../../agent-core/tools/read-file.ts";
import type { ToolResult } from "../../../agent-core/tools/tool.ts";
import { tool as writeFile } from "../../../agent-core/tools/write-file.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";

let bench: Bench;
beforeEach(() => {
  bench = toolBench();
});
const at = (name: string): string => join(bench.folder, name);
const bytes = (name: string): Buffer => readFileSync(at(name));

/** The file's text as a model writes it down: without its mark, with plain line feeds. */
const asSeen = (content: Buffer): string =>
  textOf(content)
    .replace(/^\ufeff/, "")
    .replace(/\r\n/g, "\n");

function textOf(content: Buffer): string {
  if (content.toString("hex", 0, 2) === "feff") return Buffer.from(content).swap16().toString("utf16le");
  if (content.includes(0)) return content.toString("utf16le");
  const text = content.toString("utf8");
  return text.includes("\ufffd") ? new TextDecoder("windows-1252").decode(content) : text;
}

type Change = { readonly from: string; readonly to: string };
/** Each way to change the line `from` of a file into the lines `to`. */
const ways: readonly [string, (name: string, change: Change) => Promise<ToolResult>][] = [
  [
    "write_file",
    (name, { from, to }) => bench.run(writeFile, { path: name, content: asSeen(bytes(name)).replace(from, () => to) }),
  ],
  ["patch, mode replace", (name, { from, to }) => bench.run(patch, { path: name, old_string: from, new_string: to })],
  [
    "patch, mode patch",
    (name, { from, to }) => {
      const added = to.split("\n").map((line) => `+${line}`);
      const text = ["*** Begin Patch", `*** Update File: ${name}`, `-${from}`, ...added, "*** End Patch"].join("\n");
      return bench.run(patch, { mode: "patch", patch: text });
    },
  ],
];

const LONG = "x".repeat(300_000);
/** Form, content before, content after: `two` becomes `TWO` and a new line. */
const survive: readonly [string, string, string][] = [
  ["line feeds", "one\ntwo\nthree\n", "one\nTWO\nnew\nthree\n"],
  ["carriage returns", "one\r\ntwo\r\nthree\r\n", "one\r\nTWO\r\nnew\r\nthree\r\n"],
  ["a byte order mark", "\ufeffone\ntwo\nthree\n", "\ufeffone\nTWO\nnew\nthree\n"],
  ["a mark with carriage returns", "\ufeffone\r\ntwo\r\n", "\ufeffone\r\nTWO\r\nnew\r\n"],
  ["no final newline", "one\ntwo\nthree", "one\nTWO\nnew\nthree"],
  ["no final newline at the place itself", "one\ntwo", "one\nTWO\nnew"],
  ["carriage returns without a final one", "one\r\ntwo", "one\r\nTWO\r\nnew"],
  ["blanks at line ends", "one  \t\ntwo\nthree \n\n\n", "one  \t\nTWO\nnew\nthree \n\n\n"],
  ["tabs and blanks mixed", "\tone\n  \ttwo\n    three\n", "\tone\n  \tTWO\nnew\n    three\n"],
  ["a lone carriage return in a line", "one\rand\ntwo\nthree\n", "one\rand\nTWO\nnew\nthree\n"],
  ["line and paragraph separators", "a\u2028b\u2029c\u0085d\ntwo\n\v\f\n", "a\u2028b\u2029c\u0085d\nTWO\nnew\n\v\f\n"],
  ["signs beyond the basic plane", "👩‍👩‍👧 𝒳\ntwo\né e\u0301\n", "👩‍👩‍👧 𝒳\nTWO\nnew\né e\u0301\n"],
  ["very long lines", `${LONG}\ntwo\n${LONG}\n`, `${LONG}\nTWO\nnew\n${LONG}\n`],
  ["a mark in the middle", "one\ufeff\ntwo\n\ufeff\n", "one\ufeff\nTWO\nnew\n\ufeff\n"],
];

describe.each(ways)("%s", (_way, change) => {
  test.each(survive)("leaves %s as they are", async (_form, before, after) => {
    writeFileSync(at("a.txt"), before);
    const from = before.includes("  \ttwo") ? "  \ttwo" : "two";
    const to = from.replace("two", "TWO\nnew");
    expect(await change("a.txt", { from, to })).toMatchObject({ ok: true });
    expect(bytes("a.txt").toString("utf8")).toBe(after);
  });

  test("keeps each line end of a file that mixes them", async () => {
    writeFileSync(at("a.txt"), "one\r\ntwo\nthree\r\nfour\n");
    expect(await change("a.txt", { from: "two", to: "TWO" })).toMatchObject({ ok: true });
    expect(bytes("a.txt").toString("utf8")).toBe("one\r\nTWO\nthree\r\nfour\n");
  });

  test.each<[string, string, string, string]>([
    ["LF", "one\ntwo\nthree\n", "two", "one\nTWO\nnew\nthree\n"],
    ["CRLF", "one\r\ntwo\r\nthree\r\n", "two", "one\r\nTWO\r\nnew\r\nthree\r\n"],
    ["an LF line among CRLF lines", "one\r\ntwo\nthree\r\n", "two", "one\r\nTWO\nnew\nthree\r\n"],
    ["a CRLF line among LF lines", "one\ntwo\r\nthree\n", "two", "one\nTWO\r\nnew\r\nthree\n"],
    ["the last of mixed lines", "one\r\nthree\ntwo", "two", "one\r\nthree\nTWO\nnew"],
  ])("gives new lines the line ends of %s", async (_form, before, from, after) => {
    for (const [name, to] of Object.entries({ "a.txt": "TWO\nnew", "b.txt": "TWO\r\nnew" })) {
      writeFileSync(at(name), before);
      expect(await change(name, { from, to })).toMatchObject({ ok: true });
      expect(bytes(name).toString("utf8")).toBe(after);
    }
  });

  test.each(["$&", "$1", "$$", "$`", "$'", "$<a>", "\\n", "\\1", "%s", "a\\\\b"])(
    "takes %s to the letter",
    async (to) => {
      writeFileSync(at("a.txt"), "one\ntwo\n");
      await change("a.txt", { from: "two", to });
      expect(bytes("a.txt").toString("utf8")).toBe(`one\n${to}\n`);
    },
  );

  test.each<[string, (text: string) => Buffer]>([
    ["UTF-16, low byte first", (text) => Buffer.from(`\ufeff${text}`, "utf16le")],
    ["UTF-16, high byte first", (text) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
    ["UTF-16 without a mark", (text) => Buffer.from(text, "utf16le")],
    ["Latin-1", (text) => Buffer.from(`caf\u00e9\n${text}`, "latin1")],
    ["Latin-1 with a letter at its end", (text) => Buffer.from(`${text}caf\u00e9`, "latin1")],
    ["UTF-8 that is cut", (text) => Buffer.from(`${text}\u20ac`).subarray(0, -1)],
  ])("writes %s as it was", async (_form, encoded) => {
    writeFileSync(at("a.txt"), encoded("one\ntwo\n"));
    expect(await change("a.txt", { from: "two", to: "TWO" })).toMatchObject({ ok: true });
    expect(bytes("a.txt")).toEqual(encoded("one\nTWO\n"));
  });

  test.each<[string, Buffer, string]>([
    ["a binary file", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 10, 0x74, 0x77, 0x6f]), "binary"],
  ])("refuses %s and leaves every byte of it", async (_form, content, why) => {
    writeFileSync(at("a.txt"), content);
    expect(await change("a.txt", { from: "two", to: "TWO" })).toMatchObject({
      ok: false,
      text: expect.stringContaining(why),
    });
    expect(bytes("a.txt")).toEqual(content);
  });

  test("writes through a link, and keeps mode bits", async () => {
    writeFileSync(at("a.sh"), "one\ntwo\n");
    chmodSync(at("a.sh"), 0o755);
    symlinkSync("a.sh", at("link"));
    expect(await change("link", { from: "two", to: "TWO" })).toMatchObject({ ok: true });
    expect(lstatSync(at("link")).isSymbolicLink()).toBe(true);
    expect([bytes("a.sh").toString(), statSync(at("a.sh")).mode & 0o777]).toEqual(["one\nTWO\n", 0o755]);
  });

  test("refuses a file that was replaced since it was read, and says what changed", async () => {
    writeFileSync(at("a.txt"), "one\ntwo\n");
    await bench.run(readFile, { path: "a.txt" });
    rmSync(at("a.txt"));
    writeFileSync(at("a.txt"), "one\ntwo, two\nthree\n");
    const result = await change("a.txt", { from: "two", to: "TWO" });
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining("has changed since you read it") });
    expect(result.text).toContain("+three");
    expect(bytes("a.txt").toString()).toBe("one\ntwo, two\nthree\n");
  });

  test("shows of a large change since the reading only the beginning", async () => {
    writeFileSync(at("a.txt"), "two\n");
    await bench.run(readFile, { path: "a.txt" });
    writeFileSync(at("a.txt"), `two\n${"another line\n".repeat(500)}`);
    const { text } = await change("a.txt", { from: "two", to: "TWO" });
    expect(text.split("\n").length).toBeLessThan(50);
    expect(text).toContain("more lines of diff");
  });
});

describe("a file that was deleted since it was read", () => {
  beforeEach(async () => {
    writeFileSync(at("a.txt"), "one\ntwo\n");
    await bench.run(readFile, { path: "a.txt" });
    rmSync(at("a.txt"));
  });

  test.each([
    { path: "a.txt", old_string: "two", new_string: "TWO" },
    { mode: "patch", patch: "*** Update File: a.txt\n-two\n+TWO" },
    { mode: "patch", patch: "*** Delete File: a.txt" },
  ])("is said to be gone: %o", async (input) => {
    const result = await bench.run(patch, input);
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining("deleted or moved since you read it") });
  });

  test("is made anew by write_file only when it is asked to again", async () => {
    const write = () => bench.run(writeFile, { path: "a.txt", content: "one\n" });
    expect(await write()).toMatchObject({ ok: false, text: expect.stringContaining("Write it again") });
    expect(await write()).toMatchObject({ ok: true, text: expect.stringContaining("Created a.txt") });
  });
});

describe("an empty file", () => {
  beforeEach(() => writeFileSync(at("a.txt"), ""));

  test("takes text from write_file and from a patch", async () => {
    expect(await bench.run(writeFile, { path: "a.txt", content: "one" })).toMatchObject({ ok: true });
    expect(bytes("a.txt").toString()).toBe("one");
    writeFileSync(at("b.txt"), "");
    expect(await bench.run(patch, { mode: "patch", patch: "*** Update File: b.txt\n+one" })).toMatchObject({
      ok: true,
    });
    expect(bytes("b.txt").toString()).toBe("one\n");
  });

  test("holds nothing that could be replaced", async () => {
    expect(await bench.run(patch, { path: "a.txt", old_string: "one", new_string: "x" })).toMatchObject({ ok: false });
  });
});

test("a folder is refused by every way", async () => {
  mkdirSync(at("folder"));
  for (const [tool, input] of [
    [writeFile, { path: "folder", content: "x" }],
    [patch, { path: "folder", old_string: "a", new_string: "b" }],
    [patch, { mode: "patch", patch: "*** Delete File: folder" }],
  ] as const) {
    expect(await bench.run(tool, input)).toMatchObject({ ok: false, text: expect.stringContaining("is a folder") });
  }
});

test.each([
  [patch, { path: "a.txt", old_string: "\ufeffone", new_string: "\ufeffONE" }],
  [patch, { path: "a.txt", old_string: "one", new_string: "\ufeffONE" }],
  [patch, { mode: "patch", patch: "\ufeff*** Update File: a.txt\n-one\n+ONE" }],
  [patch, { mode: "patch", patch: "*** Update File: a.txt\n-\ufeffone\n+\ufeffONE" }],
  [patch, { mode: "patch", patch: "*** Delete File: a.txt\n*** Add File: a.txt\n+\ufeffONE\n+two" }],
  [writeFile, { path: "a.txt", content: "\ufeffONE\ntwo\n" }],
  [writeFile, { path: "a.txt", content: "ONE\ntwo\n" }],
])("a file keeps its one byte order mark, or its lack of one: %#", async (tool, input) => {
  for (const mark of ["\ufeff", ""]) {
    writeFileSync(at("a.txt"), `${mark}one\r\ntwo\r\n`);
    await bench.run(readFile, { path: "a.txt" });
    expect(await bench.run(tool, input)).toMatchObject({ ok: true });
    expect(bytes("a.txt").toString("utf8")).toBe(`${mark}ONE\r\ntwo\r\n`);
    expect(await bench.run(patch, { path: "a.txt", old_string: "two", new_string: "2" })).toMatchObject({ ok: true });
  }
});

test("a text that brings its own byte order mark does not get a second one", async () => {
  writeFileSync(at("a.txt"), "\ufeffone\n");
  await bench.run(writeFile, { path: "a.txt", content: "\ufefftwo\n" });
  expect(bytes("a.txt").toString("utf8")).toBe("\ufefftwo\n");
});

test("lines with one line end may be named together with lines that have the other", async () => {
  writeFileSync(at("a.txt"), "one\r\ntwo\nthree\r\nfour\n");
  const edit = { path: "a.txt", old_string: "one\ntwo\nthree\nfour", new_string: "one\ntwo\nTHREE\nfour" };
  expect(await bench.run(patch, edit)).toMatchObject({ ok: true });
  expect(bytes("a.txt").toString("utf8")).toBe("one\r\ntwo\nTHREE\r\nfour\n");
});

test("an exact match over mixed line ends leaves those of the lines that stay", async () => {
  writeFileSync(at("a.txt"), "one\r\ntwo\nthree\r\nfour\n");
  const edit = { path: "a.txt", old_string: "ne\ntwo\nthr", new_string: "ne\nnew\r\ntwo\nTHR" };
  expect(await bench.run(patch, edit)).toMatchObject({ ok: true });
  expect(bytes("a.txt").toString("utf8")).toBe("one\r\nnew\r\ntwo\nTHRee\r\nfour\n");
});

const NOBODY = 65_534;

test.each([
  ["write_file", { path: "a.txt", content: "x\n" }],
  ["patch", { path: "a.txt", old_string: "two", new_string: "TWO" }],
  ["patch", { mode: "patch", patch: "*** Update File: a.txt\n-two\n+TWO" }],
])("a read-only file is refused by %s %o", (name, input) => {
  writeFileSync(at("a.txt"), "one\ntwo\n");
  chmodSync(at("a.txt"), 0o444);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    chownSync(bench.folder, NOBODY, NOBODY);
    chownSync(at("a.txt"), NOBODY, NOBODY);
  }
  const script = join(import.meta.dirname, "support", "edit-as-nobody.ts");
  const output = execFileSync(process.execPath, [script, bench.folder, name, JSON.stringify(input)], {
    cwd: bench.folder,
    encoding: "utf8",
    ...(isRoot && { uid: NOBODY, gid: NOBODY, env: { PATH: process.env["PATH"], HOME: bench.folder } }),
  });
  expect(JSON.parse(output)).toEqual({
    ok: false,
    text: expect.stringMatching(/cannot be written: permission denied/),
  });
  expect(bytes("a.txt").toString()).toBe("one\ntwo\n");
});
