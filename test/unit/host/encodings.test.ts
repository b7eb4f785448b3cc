import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
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

const require = createRequire(import.meta.url);
/** Messages of TypeScript in a language, or of zod. */
function sentencesIn(language: string): readonly string[] {
  const [maker, name] = language.split("/");
  if (maker === "typescript")
    return Object.values(require(`typescript/lib/${name}/diagnosticMessages.generated.json`) as object).slice(40, 70);
  const source = readFileSync(join(require.resolve("zod"), `../v4/locales/${name}.js`), "utf8");
  return [...source.matchAll(/"([^"\n]*[^\0-\x7f][^"\n]*)"/g)].map(([, text = ""]) => text);
}

test.each([
  ["windows-1250", "typescript/pl"],
  ["windows-1250", "typescript/cs"],
  ["windows-1250", "zod/hu"],
  ["windows-1250", "zod/sl"],
  ["windows-1251", "typescript/ru"],
  ["windows-1251", "zod/uk"],
  ["windows-1251", "zod/bg"],
  ["windows-1252", "typescript/fr"],
  ["windows-1252", "typescript/de"],
  ["windows-1252", "typescript/pt-br"],
  ["windows-1252", "zod/sv"],
  ["windows-1253", "zod/el"],
  ["windows-1254", "typescript/tr"],
  ["windows-1255", "zod/he"],
  ["windows-1256", "zod/ar"],
  ["windows-1257", "zod/lt"],
  ["koi8-r", "typescript/ru"],
  ["koi8-u", "zod/uk"],
  ["cp866", "typescript/ru"],
  ["cp852", "typescript/pl"],
  ["iso-8859-2", "typescript/cs"],
  ["iso-8859-5", "typescript/ru"],
  ["iso-8859-7", "zod/el"],
  ["iso-8859-15", "typescript/fr"],
  ["macintosh", "typescript/fr"],
  ["gbk", "typescript/zh-cn"],
  ["gb18030", "typescript/zh-cn"],
  ["big5", "typescript/zh-tw"],
  ["shift_jis", "typescript/ja"],
  ["euc-jp", "typescript/ja"],
  ["euc-kr", "typescript/ko"],
  ["utf-16le", "typescript/ja"],
  ["utf-16be", "typescript/ru"],
])(
  "a source file in %s with comments of %s shows its letters, and keeps its other bytes",
  async (encoding, language) => {
    const comments = sentencesIn(language).slice(0, 12);
    const whole = comments.map((comment, index) => `// ${comment}\nconst value${index} = load(${index});\n`).join("");
    const bytes = iconv.encode(whole, encoding, { addBOM: false });
    const text = iconv.decode(bytes, encoding);
    writeFileSync(path, bytes);
    expect(await files.readText(path, signal)).toMatchObject({ ok: true, text });
    const after = text.replace("value3", "third");
    expect(await files.guardedWrite({ path, expected: text, after, purpose: "edit" }, signal)).toMatchObject({
      ok: true,
    });
    expect(readFileSync(path)).toEqual(iconv.encode(after, encoding, { addBOM: false }));
  },
);

test.each([
  ["a Latin-1 name in an old comment", ["// Größe — 寸法\n// by Jos", 0xe9, "\nlet a = 1;\n"]],
  ["a character that is cut at the end", ["# naïve café\na = 1\n# ", 0xe2, 0x82]],
  ["a character that is cut inside", ["# 日本", 0xe6, 0x97, "\n# 日本語\na = 1\n"]],
  ["half a pair in CESU-8", ["a = 1 # 😀😀😀", 0xed, 0xa0, 0xbd, "\n"]],
  ["a byte order mark and a foreign byte", ["\ufeffa = 1 // é", 0xff, "\n"]],
  ["an overlong slash", ["a = 1 // ééé", 0xc0, 0xaf, "\n"]],
])("UTF-8 with %s is read as UTF-8, and each byte stays", async (_, parts) => {
  const bytes = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from([part]))),
  );
  writeFileSync(path, bytes);
  const shown = parts.map((part) => (typeof part === "string" ? part : String.fromCharCode(0xf700 + part))).join("");
  const text = shown.replace("\ufeff", "");
  expect(await files.readText(path, signal)).toMatchObject({ ok: true, text, encoding: "UTF-8 with other bytes" });
  const after = text.replace("a = 1", "a = 'é€'");
  expect(await files.guardedWrite({ path, expected: text, after, purpose: "edit" }, signal)).toMatchObject({
    ok: true,
  });
  const latin = bytes.toString("latin1").replace("a = 1", Buffer.from("a = 'é€'").toString("latin1"));
  expect(readFileSync(path).toString("latin1")).toBe(latin);
});

test.each([
  ["windows-1252", "# Déjà vérifié à l'été, où ça coûte cher\n"],
  ["windows-1252", "// Créé par François à l'été — … 5 €\n"],
  ["windows-1252", "// Función de validación: ¿cuántos años? ¡Atención!\n"],
  ["windows-1252", "// Fußgänger überqueren die Straße; Öl, Äpfel, „Zitat“\n"],
  ["windows-1252", "INSERT INTO t VALUES ('Müller','Größe','Straße');\n".repeat(50)],
  ["windows-1252", "Récupère les éléments sélectionnés"],
  ["windows-1252", "Perché è più lento? Così è la città, però…\n"],
  ["windows-1252", "20°C ±5 µm × 3 §4\n"],
  ["windows-1252", "copyright © 2020 José\n"],
  ["windows-1252", "# Não há usuários\n"],
  ["windows-1252", "// rad år på språk: först längd, sedan färg\n"],
  ["windows-1252", "# Sjekk at brukeren får tilgang på nytt, æ ø å\n"],
  ["windows-1250", "# Sprawdź, czy użytkownik już istnieje\n"],
  ["windows-1250", "// Ověří, zda uživatel již existuje\n"],
  ["windows-1254", "# Kullanıcı girişi doğrulanır, şifre değiştirilir, geçersiz çağrı\n"],
  ["windows-1251", "# Проверка соединения с базой\n"],
  ["windows-1253", "# Έλεγχος σύνδεσης\n"],
  ["koi8-r", "# Проверка соединения\n"],
  ["cp866", "rem Копирование файлов\r\n"],
  ["gb18030", "# 获取用户列表\n"],
  ["gb18030", "# 设置\na = 1\n"],
  ["big5", "# 設定\na = 1\n"],
  ["shift_jis", "// 設定ファイル\n"],
  ["euc-kr", "// 설정 파일\n"],
  ["windows-1252", "# Käyttäjän nimi ei ole määritelty, yritä myöhemmin\n"],
  ["windows-1252", "' Módulo de facturación\n' Autor: Íñigo Núñez\n"],
  ["windows-1250", "# Felhasználó törlése, ha már nem létezik több bejegyzés hozzá\n"],
  ["windows-1255", "// הגדרות\n"],
  ["windows-1256", "# إعدادات الخادم\n"],
  ["euc-jp", "# データベースに接続する\n"],
  ["windows-1257", "# Vartotojas nerastas, bandykite vėliau; įvesta klaidinga reikšmė\n"],
])("a single comment in %s shows its letters, also after an edit adds more: %j", async (encoding, text) => {
  writeFileSync(path, iconv.encode(text, encoding));
  expect(await files.readText(path, signal)).toMatchObject({ ok: true, text });
  const after = `${text}${text.slice(0, 40)}\n`;
  const edit = await files.guardedWrite({ path, expected: text, after, purpose: "edit" }, signal);
  expect([edit.ok, await files.readText(path, signal)]).toMatchObject([true, { ok: true, text: after }]);
  const back = await files.guardedWrite({ path, expected: after, after: text, purpose: "revert" }, signal);
  expect(back.ok).toBe(true);
  expect(readFileSync(path)).toEqual(iconv.encode(text, encoding));
});

test("an edit keeps the encoding when it changes what the letters suggest", async () => {
  const [text, after] = ["# Vérifié\nA = 1\n", "# Vérifié\nA = 1\n# déjà créé à l'été, où çà ñ õ ø\n"];
  writeFileSync(path, iconv.encode(text, "windows-1252"));
  await files.guardedWrite({ path, expected: text, after, purpose: "edit" }, signal);
  expect(await files.readText(path, signal)).toMatchObject({ ok: true, text: after });
});

test("a joined pair of foreign bytes that would become a letter is refused", async () => {
  const bytes = Buffer.concat([Buffer.from("é€ 1 "), Buffer.from([0xc3]), Buffer.from(" "), Buffer.from([0xa9])]);
  writeFileSync(path, bytes);
  const expected = "é€ 1 \uf7c3 \uf7a9";
  const write = { path, expected, after: "é€ 1 \uf7c3\uf7a9", purpose: "edit" } as const;
  expect((await files.guardedWrite(write, signal)).ok).toBe(false);
  expect(readFileSync(path)).toEqual(bytes);
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

test.each([
  ["UTF-8 with CR line ends", "# größer\ra = 1\rb\r", "# größer\na = 1\nb\n"],
  [
    "cp437",
    Buffer.from(`REM ${"\xc4".repeat(12)}\xbf\r\nset a = 1\r\n`, "latin1"),
    `REM ${"─".repeat(12)}┐\r\nset a = 1\r\n`,
  ],
])("%s is read, and kept by an edit", async (encoding, written, text) => {
  writeFileSync(path, written);
  expect(await files.readText(path, signal)).toMatchObject({
    ok: true,
    text,
    encoding: expect.stringMatching(new RegExp(encoding, "i")),
  });
  const after = text.replace(" = 1", " = 22");
  await files.guardedWrite({ path, expected: text, after, purpose: "edit" }, signal);
  const expected = Buffer.from(written).toString("latin1").replace(" = 1", " = 22");
  expect(readFileSync(path).toString("latin1")).toBe(expected);
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

test.each([
  ["a header", "Subject: \x1b$B%F%9%H\x1b(B\n"],
  ["settings", "\x1b$B@_Dj\x1b(B: a = 1\r\nb = 2\r\n"],
  ["one line", "\x1b$B$3$l$O\x1b(B = 1"],
])("Japanese mail is refused in place of being shown as escapes: %s", async (_, text) => {
  writeFileSync(path, text);
  const message = expect.stringContaining("no text in a known encoding");
  expect(await files.readText(path, signal)).toMatchObject({ ok: false, reason: "encoding", message });
});

test.each(["title=\x1b$PATH\x1b[0m\nb = 1\n", "\x1b[31mred\x1b[0m größe $B\n"])(
  "a text with escapes that is no Japanese mail is read as it is: %j",
  async (text) => {
    writeFileSync(path, text);
    expect(await files.readText(path, signal)).toMatchObject({ ok: true, text });
  },
);
