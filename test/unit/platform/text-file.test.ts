import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../agent-core/config/config.ts";
import { readSoul } from "../../../agent-core/config/home.ts";
import { parseJson } from "../../../agent-core/platform/json.ts";
import { decodeText, readText, readTextSync } from "../../../agent-core/platform/text-file.ts";

const utf16be = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le").swap16();
const encodings: readonly (readonly [string, (text: string) => Buffer])[] = [
  ["UTF-8", (text) => Buffer.from(text)],
  ["UTF-8 with a mark, as Notepad and PowerShell 5 write it", (text) => Buffer.from(`\ufeff${text}`)],
  ["UTF-16 LE, as PowerShell's > writes it", (text) => Buffer.from(`\ufeff${text}`, "utf16le")],
  ["UTF-16 BE", utf16be],
];

describe.each(encodings)("a file in %s", (_, encode) => {
  const folder = mkdtempSync(join(tmpdir(), "hermes-text-"));
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, encode(text));
    return path;
  };

  test("has its text without the mark", async () => {
    const path = write("a.txt", "naïve ✓\r\n");
    expect([await readText(path), readTextSync(path), decodeText(encode("x"))]).toEqual([
      "naïve ✓\r\n",
      "naïve ✓\r\n",
      "x",
    ]);
    expect(parseJson(readTextSync(write("a.json", '{"a":1}')))).toEqual({ a: 1 });
  });

  test("is read as config.yaml, .env and SOUL.md", async () => {
    write("config.yaml", "model: gpt-4.1\nagent:\n  max_turns: 7\n");
    write(".env", "OPENAI_API_KEY=sk-first-variable\nOTHER=1\n");
    write("SOUL.md", "Be brief.");
    const { config, environment, errors } = await loadConfig(folder, {});
    expect(errors).toEqual([]);
    expect(JSON.stringify(config)).toContain("gpt-4.1");
    expect(environment["OPENAI_API_KEY"]).toBe("sk-first-variable");
    expect(await readSoul(folder)).toBe("Be brief.");
  });
});

test("JSON after a mark is JSON, as hooks and servers on Windows print it", () => {
  expect(parseJson('\ufeff{"decision":"block"}')).toEqual({ decision: "block" });
});
