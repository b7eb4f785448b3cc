import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { tool as readFile } from "../../../agent-core/tools/read-file.ts";
import { tool as writeFile } from "../../../agent-core/tools/write-file.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";

let bench: Bench;
beforeEach(() => {
  bench = toolBench();
});
const put = (name: string, content: string | Buffer): void => writeFileSync(join(bench.folder, name), content);
const text = (name: string): string => readFileSync(join(bench.folder, name), "utf8");

test("read_file numbers lines and says how to go on", async () => {
  put("a.txt", Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n"));
  expect(await bench.run(readFile, { path: "a.txt", offset: 11 })).toEqual({
    ok: true,
    text: "11|line 11\n12|line 12",
  });
  const first = await bench.run(readFile, { path: "a.txt", limit: 2 });
  expect(first.text).toBe("1|line 1\n2|line 2\n[lines 1-2 of 12; continue with offset 3]");
});

test("read_file explains an offset past the end, a folder, a binary, an empty and a missing file", async () => {
  put("a.txt", "one\n");
  put("b.bin", Buffer.from([1, 0, 2]));
  put("empty.txt", "");
  expect((await bench.run(readFile, { path: "a.txt", offset: 4 })).text).toContain(
    "has 1 line; offset 4 is past the end",
  );
  expect((await bench.run(readFile, { path: "." })).text).toContain("is a folder");
  expect((await bench.run(readFile, { path: "b.bin" })).text).toContain("binary");
  expect(await bench.run(readFile, { path: "empty.txt" })).toEqual({ ok: true, text: "empty.txt is empty." });
  put(".at", "hidden\n");
  expect((await bench.run(readFile, { path: "a.tx" })).text).toMatch(/Similar names: a\.txt[^ ]*\.$/);
});

test("read_file names the wrong argument", async () => {
  expect((await bench.run(readFile, { path: "a.txt", limit: "many" })).text).toContain("limit:");
  expect((await bench.run(readFile, {})).text).toContain("path:");
});

test("write_file creates folders, keeps CRLF and mode bits, and writes through a link", async () => {
  expect((await bench.run(writeFile, { path: "x/y.txt", content: "new\n" })).text).toContain("Created x/y.txt");
  put("dos.txt", "a\r\nb\r\n");
  chmodSync(join(bench.folder, "dos.txt"), 0o755);
  symlinkSync("dos.txt", join(bench.folder, "link.txt"));
  const written = await bench.run(writeFile, { path: "link.txt", content: "a\nB\n" });
  expect(written.ok).toBe(true);
  expect(text("dos.txt")).toBe("a\r\nB\r\n");
  expect(statSync(join(bench.folder, "dos.txt")).mode & 0o777).toBe(0o755);
});

test("write_file refuses the output of read_file as content", async () => {
  expect((await bench.run(writeFile, { path: "a.txt", content: "1|one\n2|two" })).text).toContain("line numbers");
});

test("an edit of lines that changed since they were read, or of a whole changed text, is refused with the changes", async () => {
  put("a.txt", "one\ntwo\n");
  await bench.run(readFile, { path: "a.txt" });
  put("a.txt", "one\n2\n");
  for (const result of [
    await bench.run(writeFile, { path: "a.txt", content: "x\n" }),
    await bench.run(patch, { path: "a.txt", old_string: "one\ntwo", new_string: "1" }),
  ]) {
    expect(result.ok).toBe(false);
    expect(result.text).toContain("-two\n+2");
  }
  expect(text("a.txt")).toBe("one\n2\n");
});

test("patch replaces one place, gives the diff, and may go on from its own text", async () => {
  put("a.txt", "one\ntwo\nthree\n");
  const first = await bench.run(patch, { path: "a.txt", old_string: "two", new_string: "TWO" });
  expect(first).toMatchObject({ ok: true, diffs: [{ oldText: "one\ntwo\nthree\n", newText: "one\nTWO\nthree\n" }] });
  expect(first.text).toContain("-two\n+TWO");
  expect((await bench.run(patch, { path: "a.txt", old_string: "TWO", new_string: "2" })).ok).toBe(true);
  expect(text("a.txt")).toBe("one\n2\nthree\n");
});

test("patch keeps CRLF, BOM and a missing final newline, and takes $& literally", async () => {
  put("a.txt", "\ufeffone\r\ntwo\r\nthree");
  const result = await bench.run(patch, { path: "a.txt", old_string: "one\ntwo", new_string: "$&\n$1" });
  expect(result.ok).toBe(true);
  expect(text("a.txt")).toBe("\ufeff$&\r\n$1\r\nthree");
});

test("patch refuses what is not there, and shows the nearest text", async () => {
  put("a.txt", "alpha beta\nfunction total(a, b) {\n  return a + b;\n}\n");
  const result = await bench.run(patch, { path: "a.txt", old_string: "function total(a, c) {", new_string: "x" });
  expect(result.ok).toBe(false);
  expect(result.text).toContain("2|function total(a, b) {");
});

test("patch refuses what is there more than once, unless all are meant", async () => {
  put("a.txt", "x\ny\nx\n");
  const refused = await bench.run(patch, { path: "a.txt", old_string: "x", new_string: "z" });
  expect(refused.text).toContain("2 places (lines 1, 3)");
  expect((await bench.run(patch, { path: "a.txt", old_string: "x", new_string: "z", replace_all: true })).ok).toBe(
    true,
  );
  expect(text("a.txt")).toBe("z\ny\nz\n");
});

test("patch says when the change is there already", async () => {
  put("a.txt", "TWO\n");
  const result = await bench.run(patch, { path: "a.txt", old_string: "two", new_string: "TWO" });
  expect(result).toMatchObject({ ok: true, text: expect.stringContaining("already") });
});
