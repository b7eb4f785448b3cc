import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import iconv from "iconv-lite";
import { afterAll, expect, test } from "vitest";
import { nodeFiles } from "../../../agent-core/host/node-files.ts";

const signal = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "hermes-encodings-"));
const path = join(folder, "a.txt");
const files = nodeFiles();
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ["windows-1252", "int größe = 1; // café naïve, l’été — 10 €\r\n", false],
  ["windows-1252", "# Año y señal: ¿qué pasó?\nvalue = 1\n", false],
  ["windows-1251", "// Привет, мир: это комментарий\nvalue = 1\n", false],
  ["windows-1250", "# Zażółć gęślą jaźń, proszę państwa\nvalue = 1\n", false],
  ["windows-1253", "# Καλημέρα κόσμε, αυτό είναι ένα αρχείο\nvalue = 1\n", false],
  ["koi8-r", "# Привет, это файл в старой кодировке\nvalue = 1\n", false],
  ["cp866", "rem Привет мир, это файл команд\r\nset value = 1\r\n", false],
  ["shift_jis", "名前,年齢\n田中,20\nvalue = 1\n", false],
  ["utf-32le", "value = 1\nZürich\n", true],
  ["gb18030", "// 这是一个测试文件，用于检查编码\nint value = 1;\n", false],
  ["shift_jis", "// これはテストです。日本語のコメント\nint value = 1;\n", false],
  ["euc-jp", "// これはテストです。日本語のコメント\nint value = 1;\n", false],
  ["euc-kr", "// 한국어 주석입니다\nint value = 1;\n", false],
  ["big5", "// 這是一個測試檔案，用來檢查編碼\nint value = 1;\n", false],
  ["utf-16le", "value = 1\r\nZürich 東京\r\n", true],
  ["utf-16be", "value = 1\nZürich\n", true],
  ["utf-16le", "plain value = 1\nno mark at all in this file\n", false],
])("%s is read, and written back the same: %j", async (encoding, text, addBOM) => {
  writeFileSync(path, iconv.encode(text, encoding, { addBOM }));
  const read = await files.readText(path, signal);
  expect(read).toMatchObject({ ok: true, text });
  const after = text.replace(" = 1", " = 22");
  const written = await files.guardedWrite({ path, expected: text, after, purpose: "edit" }, signal);
  expect(written.ok).toBe(true);
  expect(readFileSync(path)).toEqual(iconv.encode(after, encoding, { addBOM }));
  const removed = await files.guardedWrite({ path, expected: after, after: null, purpose: "edit" }, signal);
  expect(removed.ok && (await removed.restore?.())?.ok).toBe(true);
  expect(readFileSync(path)).toEqual(iconv.encode(after, encoding, { addBOM }));
});

test("characters that the encoding lacks are refused, and the file stays", async () => {
  const bytes = iconv.encode("größe = 1\n", "windows-1252");
  writeFileSync(path, bytes);
  const write = { path, expected: "größe = 1\n", after: "größe = 東\n", purpose: "edit" } as const;
  expect(await files.guardedWrite(write, signal)).toMatchObject({
    ok: false,
    message: expect.stringContaining("windows-1252"),
  });
  expect(readFileSync(path)).toEqual(bytes);
});

test.each([
  ["a picture", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1")],
  ["a program", Buffer.from("\x7fELF\x02\x01\x01\0\0\0", "latin1")],
  ["compressed data", Buffer.from([0x1f, 0x8b, 8, 4, 0xff, 0x9d, 0x12, 0x81])],
])("%s is no text", async (_, bytes) => {
  writeFileSync(path, bytes);
  expect((await files.readText(path, signal)).ok).toBe(false);
});

test.each(["a\rb = 1\rc\r", "a\r\nb = 1\rc\n", "\ufeffa\nb = 1\n"])(
  "line breaks and marks of %j are kept",
  async (text) => {
    writeFileSync(path, text);
    const read = await files.readText(path, signal);
    const expected = read.ok ? read.text : "";
    await files.guardedWrite({ path, expected, after: expected.replace("1", "2"), purpose: "edit" }, signal);
    expect(readFileSync(path, "utf8")).toBe(text.replace("1", "2"));
  },
);
