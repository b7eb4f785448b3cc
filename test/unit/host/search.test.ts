import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import iconv from "iconv-lite";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { SearchRequest, SearchResult } from "../../../agent-core/host/host.ts";
import { nodeSearch } from "../../../agent-core/host/node-search.ts";
import { commonPattern, globMatcher } from "../../../agent-core/host/search-rules.ts";
import { countReads } from "../../support/count-reads.ts";
import { hasRipgrep, ripgrep } from "../../support/programs.ts";
import { rounds, seedOf } from "../../support/scale.ts";
import { seeded } from "../approval/support/random.ts";

const signal = new AbortController().signal;
const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-search-")));

const files: Readonly<Record<string, string | Buffer>> = {
  ".gitignore": "ignored/\n*.log\n!kept.log\n",
  ".ignore": "secret.txt\n",
  ".hidden/needle.ts": "needle in a hidden folder\n",
  ".git/needle": "needle in git's own folder\n",
  "a.ts": "first\nneedle one\r\nlast\n",
  "B.TS": "needle two\n",
  "deep/.gitignore": "inner.txt\n/local\n",
  "deep/inner.txt": "needle\n",
  "deep/local/x.txt": "needle\n",
  "deep/more/local/x.txt": "needle three\n",
  "deep/more/trace.log": "needle\n",
  "deep/kept.log": "needle four\n",
  "ignored/needle.txt": "needle\n",
  "venv/.gitignore": "# by venv\n*\n",
  "venv/lib/site-packages/needle.txt": "needle\n",
  "secret.txt": "needle\n",
  "picture.png": Buffer.from("needle\0"),
  "with space [1].md": "needle five\n",
  "app/[id]/page.tsx": "needle six\n",
  "über.md": "NEEDLE\n",
  "🎉.yml": "",
};

beforeAll(() => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  symlinkSync(join(root, "a.ts"), join(root, "link.ts"));
});
afterAll(() => rmSync(root, { recursive: true }));

const canRunRipgrep = hasRipgrep();

const engines = [
  ["built-in", null],
  ["ripgrep", ripgrep],
] as const;

describe.each(engines)("%s", (engine, program) => {
  const testHere = test.runIf(program === null || canRunRipgrep);
  const search = nodeSearch({ ripgrep: program ?? null });

  async function found(request: Omit<SearchRequest, "root">, folder = ""): Promise<readonly string[]> {
    const result = await search.search({ root: join(root, folder), ...request }, signal);
    if (!result.ok) throw new Error(result.message);
    expect(result.engine).toBe(engine);
    return result.hits.map(({ path, line, text, isContext }) => {
      const name = relative(root, path);
      return request.target === "files" ? name : `${name}:${line}${isContext ? "-" : ":"}${text}`;
    });
  }

  testHere.each([
    "[[:alpha:]]+ one",
    "needle[[:space:]]one",
    "^[[:lower:]]{6} [a-z[:digit:]]ne",
    "(?P<word>needle) one",
    "^[^[:upper:][:punct:]]+one",
  ])("reads classes of POSIX and named groups as grep and ripgrep do: %s", async (pattern) => {
    expect(await found({ target: "content", pattern })).toEqual(["a.ts:2:needle one"]);
  });

  testHere.each([
    "needle\\hone",
    "^\\w+[\\h]one",
    "\\Aneedle one\\Z",
    "needle one\\z",
    "ne++dle\\s*+one",
    "(?>needle)(?# a comment) one",
    "(?<=needle\\s)one",
    "(?<!nothing )one$",
    "\\Qneedle one\\E",
    "needle\\K one",
    "\\x{6e}eedle one",
    "n(?P<a>e)(?P=a)dle one",
    "n(e)\\1dle (?=o)one",
    "needle[^\\h]?\\-?.one",
  ])("reads the pattern %s as Perl, Python and Java do", async (pattern) => {
    expect(await found({ target: "content", pattern })).toEqual(["a.ts:2:needle one"]);
  });

  testHere.each([
    ["\\b\\p{Lu}+_ID\\b", "USER_ID"],
    ["^\\P{Lu}+;$", "return user;"],
    ["^\\p{L}++_ID$", "USER_ID"],
    ["^\\x{41}+$", "AAA"],
    ["^\\u{41}+$", "AAA"],
    ["^\\x{41}{3}+$", "AAA"],
    ["^\\{name\\}+$", "{name}}"],
    ["^\\{[a-z]+}+$", "{name}}"],
    ["^\\{2\\}+$", "{2}}"],
    ["^(?:\\p{Lu}\\p{Ll}{2,}+)+$", "UserName"],
  ])("keeps the repetition of what braces name or are: %s", async (pattern, line) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-search-")));
    const lines = ["USER_ID", "return user;", "AAA", "{name}}", "{2}}", "UserName"];
    writeFileSync(join(folder, "lines.txt"), lines.join("\n"));
    const result = await search.search({ target: "content", pattern, root: folder }, signal);
    rmSync(folder, { recursive: true });
    expect(result.ok && result.hits.map(({ text }) => text)).toEqual([line]);
  });

  testHere.each<[string, Record<string, string | Buffer>, string, string]>([
    ["UTF-16 without a mark", { "a.sql": Buffer.from("SELECT total FROM sales;\n", "utf16le") }, "total", "a.sql:1"],
    [
      "Shift-JIS beside UTF-8",
      { "a.txt": "設定\n", "b.ini": iconv.encode("; 表示の設定を変更します\nx=1\n", "shift_jis") },
      "設定",
      "a.txt:1 b.ini:1",
    ],
    ["lines that end with CR", { "old.r": "x <- 1\ry <- 2\rz <- 3\r" }, "^y", "old.r:2"],
    ["lines that end with CR LF", { "a.vb": "Sub A()\r\nEnd Sub\r\n" }, "A\\(\\)\\nEnd", "a.vb:1"],
    ["a line feed itself, and CR LF", { "a.vb": "Sub A\r\nEnd\r\n" }, "Sub A\nEnd", "a.vb:1"],
  ])("content: %s", async (_, texts, pattern, expected) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-search-")));
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    const results = [false, true].map((isPlain) =>
      search.search({ target: "content", pattern, isPlain, root: folder }, signal),
    );
    const [result, plain] = await Promise.all(results);
    rmSync(folder, { recursive: true });
    // ripgrep reports a match of several lines once.
    const places = (each: SearchResult | undefined): string =>
      each?.ok
        ? [...new Map(each.hits.toReversed().map(({ path, line }) => [path, line]))]
            .toReversed()
            .map(([path, line]) => `${relative(folder, path)}:${line}`)
            .join(" ")
        : "";
    expect(places(result)).toBe(expected);
    if (!/[\\^]/.test(pattern)) expect(places(plain)).toBe(expected);
  });

  testHere.each([
    ["--include=*.ts", ["B.TS", "a.ts"]],
    ["--include=*.ts --include='*.log'", ["B.TS", "a.ts", "deep/kept.log"]],
    ["-g '*.ts'", ["B.TS", "a.ts"]],
    ['-name "*.log"', ["deep/kept.log"]],
    ["--exclude-dir=deep *.{ts,log}", ["B.TS", "a.ts"]],
    ["*.ts !B.*", ["a.ts"]],
    ["*.{ts,log},!deep/**", ["B.TS", "a.ts"]],
    ["--glob=!*.{ts,tsx,md} --glob=!app --glob !*.txt", ["deep/kept.log"]],
  ])("takes the glob %s as grep, find and ripgrep take their options", async (fileGlob, expected) => {
    const hits = await found({ target: "content", pattern: "needle (one|two|three|four|five|six)", fileGlob });
    expect(hits.map((hit) => hit.split(":")[0])).toEqual(expected);
  });

  testHere.each([
    ["a\\yb", "\\y is unknown"],
    ["(a", "Write \\( for a bracket"],
  ])("refuses the pattern %s, and says what to write", async (pattern, reason) => {
    const result = await search.search({ root, target: "content", pattern }, signal);
    expect(result).toMatchObject({ ok: false, message: expect.stringContaining(reason) });
  });

  testHere("finds by a lookbehind of any length", async () => {
    const result = await search.search({ root, target: "content", pattern: "(?<=ne+dle )one" }, signal);
    expect(result).toMatchObject({ ok: true, hits: [{ line: 2, text: "needle one" }] });
  });

  testHere.each([
    ["part of a name, either case", "NEEDLE", [".hidden/needle.ts"]],
    ["part of a path", "more/lo", ["deep/more/local/x.txt"]],
    ["a glob for the name, either case", "*.ts", [".hidden/needle.ts", "B.TS", "a.ts"]],
    ["a glob for the path", "deep/**/*.txt", ["deep/more/local/x.txt"]],
    ["alternatives", "*.{md,log}", ["deep/kept.log", "with space [1].md", "über.md"]],
    ["characters of a glob in a name", "\\[1].md", []],
    ["a path with brackets that exists", "app/[id]/page.tsx", ["app/[id]/page.tsx"]],
    ["a name beyond ASCII", "ÜBER", ["über.md"]],
    ["a path that begins here", "./deep/more", ["deep/more/local/x.txt"]],
    ["a path as Windows writes it", "deep\\kept.log", ["deep/kept.log"]],
    ["a list", "a.ts, kept*", ["a.ts", "deep/kept.log"]],
    ["a regular expression", "^[ab]\\.ts$", ["B.TS", "a.ts"]],
    ["braces inside of braces", "{app/{x,[id]},none}/*.tsx", ["app/[id]/page.tsx"]],
    ["letters in two parts", "u\u0308ber", ["über.md"]],
    ["a letter beyond the first plane", "🎉*", ["🎉.yml"]],
    ["nothing", "no such name", []],
  ])("files: %s", async (_, pattern, expected) => {
    expect(await found({ target: "files", pattern })).toEqual(expected);
  });

  testHere("files: every one that no rule excludes, in order of path", async () => {
    const all = await found({ target: "files", pattern: "*" });
    expect(all).toEqual([
      ".gitignore",
      ".hidden/needle.ts",
      ".ignore",
      "B.TS",
      "a.ts",
      "app/[id]/page.tsx",
      "deep/.gitignore",
      "deep/kept.log",
      "deep/more/local/x.txt",
      "picture.png",
      "with space [1].md",
      "über.md",
      "🎉.yml",
    ]);
  });

  testHere("content: hits in order of path and line, without ignored files", async () => {
    expect(await found({ target: "content", pattern: "needle" })).toEqual([
      ".hidden/needle.ts:1:needle in a hidden folder",
      "B.TS:1:needle two",
      "a.ts:2:needle one",
      "app/[id]/page.tsx:1:needle six",
      "deep/kept.log:1:needle four",
      "deep/more/local/x.txt:1:needle three",
      "with space [1].md:1:needle five",
    ]);
  });

  testHere.each([
    ["lines around a match", { pattern: "one", contextLines: 1 }, ["a.ts:1-first", "a.ts:2:needle one", "a.ts:3-last"]],
    [
      "a glob takes either case",
      { pattern: "^needle", fileGlob: "*.ts" },
      [".hidden/needle.ts:1:needle in a hidden folder", "B.TS:1:needle two", "a.ts:2:needle one"],
    ],
    ["a glob brings back no ignored file", { pattern: "needle", fileGlob: "*.log" }, ["deep/kept.log:1:needle four"]],
    [
      "alternatives in a glob",
      { pattern: "needle (one|five)", fileGlob: "*.{ts,md}" },
      ["a.ts:2:needle one", "with space [1].md:1:needle five"],
    ],
    ["a glob for the path", { pattern: "needle", fileGlob: "deep/**/*.txt" }, ["deep/more/local/x.txt:1:needle three"]],
    ["a glob from any folder", { pattern: "needle", fileGlob: "**/*.TXT" }, ["deep/more/local/x.txt:1:needle three"]],
    ["a path with brackets", { pattern: "needle", fileGlob: "app/[id]/page.tsx" }, ["app/[id]/page.tsx:1:needle six"]],
    ["a folder", { pattern: "needle", fileGlob: "deep/more/" }, ["deep/more/local/x.txt:1:needle three"]],
    ["a path that begins here", { pattern: "needle", fileGlob: "./deep/*.log" }, ["deep/kept.log:1:needle four"]],
    [
      "a list of globs",
      { pattern: "needle t", fileGlob: "*.ts,*.txt" },
      ["B.TS:1:needle two", "deep/more/local/x.txt:1:needle three"],
    ],
    [
      "a glob that excludes",
      { pattern: "needle (one|two|six)", fileGlob: "!*.tsx" },
      ["B.TS:1:needle two", "a.ts:2:needle one"],
    ],
    ["a list of JSON", { pattern: "needle t", fileGlob: '["*.ts", "*.md"]' }, ["B.TS:1:needle two"]],
    [
      "a list with bars",
      { pattern: "needle [ft]", fileGlob: "*.ts|*.md" },
      ["B.TS:1:needle two", "with space [1].md:1:needle five"],
    ],
    [
      "alternatives of bash",
      { pattern: "needle [ft]", fileGlob: "*.@(ts|md)" },
      ["B.TS:1:needle two", "with space [1].md:1:needle five"],
    ],
    ["a glob from the root", { pattern: "needle", fileGlob: "/deep/*.log" }, ["deep/kept.log:1:needle four"]],
    ["a glob in quotes", { pattern: "needle", fileGlob: '"*.log"' }, ["deep/kept.log:1:needle four"]],
    ["a look ahead", { pattern: "needle(?= two)" }, ["B.TS:1:needle two"]],
    ["a pattern that begins with a dash", { pattern: "--files" }, []],
  ])("content: %s", async (_, request, expected) => {
    expect(await found({ target: "content", ...request })).toEqual(expected);
  });

  testHere("rules of the folders above hold in a folder below", async () => {
    expect(await found({ target: "files", pattern: "*" }, "deep/more")).toEqual(["deep/more/local/x.txt"]);
    expect(await found({ target: "content", pattern: "needle" }, "deep/more")).toEqual([
      "deep/more/local/x.txt:1:needle three",
    ]);
  });

  testHere.each([
    ["ignored", "ignored"],
    ["venv", "venv/lib/site-packages"],
    ["venv/lib/site-packages", "venv/lib/site-packages"],
  ])("an ignored folder, or one that ignores itself, is searched by name: %s", async (named, folder) => {
    const file = `${folder}/needle.txt`;
    expect(await found({ target: "files", pattern: "needle" }, named)).toEqual([file]);
    expect(await found({ target: "content", pattern: "needle" }, named)).toEqual([`${file}:1:needle`]);
  });

  testHere("a single file can be searched", async () => {
    expect(await found({ target: "content", pattern: "needle" }, "a.ts")).toEqual(["a.ts:2:needle one"]);
    expect(await found({ target: "files", pattern: "a.ts" }, "a.ts")).toEqual(["a.ts"]);
  });

  testHere("a broken pattern and a missing folder are refused in the same words", async () => {
    const broken = await search.search({ target: "content", pattern: "a(", root }, signal);
    expect(broken).toMatchObject({
      ok: false,
      message: expect.stringContaining("The pattern is not a regular expression"),
    });
    const missing = await search.search({ target: "content", pattern: "a", root: join(root, "none") }, signal);
    expect(missing).toEqual({ ok: false, message: `${join(root, "none")} does not exist.` });
  });
});

test.runIf(canRunRipgrep)(
  "a search without hits reads no picture, archive or program beside a text with CR",
  async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-search-")));
    const random = seeded(1);
    const noise = Buffer.from(Array.from({ length: 30_000 }, () => random.below(256)));
    const heads = { png: "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", gz: "\x1f\x8b\x08\0\0\rx", wasm: "\0asm\x01\0\0\0\rx" };
    for (const [ending, head] of Object.entries(heads))
      writeFileSync(join(folder, `a.${ending}`), Buffer.concat([Buffer.from(head, "latin1"), noise]));
    writeFileSync(join(folder, "old.r"), "x <- 1\ry <- 2\rz <- 3 -- ü\r");
    const reads = countReads();
    onTestFinished(() => {
      reads.stop();
      rmSync(folder, { recursive: true });
    });
    for (const pattern of ["^y", "-- ü"]) {
      const result = await nodeSearch({ ripgrep: ripgrep ?? null }).search(
        { target: "content", pattern, root: folder },
        signal,
      );
      expect(result).toMatchObject({ ok: true, truncated: false, hits: [{ path: join(folder, "old.r") }] });
    }
    expect(new Set(reads.paths.filter((path) => path.startsWith(folder)))).toEqual(new Set([join(folder, "old.r")]));
  },
);

test.runIf(process.platform !== "win32")(
  "a search says so when the list of files in other encodings is cut",
  async () => {
    const program = join(root, "many");
    writeFileSync(
      program,
      `#!/bin/sh\ncase "$*" in *--files-with-matches*) yes "${root}/none" | head -n 10001 | tr '\\n' '\\0';; esac\n`,
    );
    chmodSync(program, 0o755);
    onTestFinished(() => rmSync(program));
    const result = await nodeSearch({ ripgrep: program }).search({ target: "content", pattern: "x", root }, signal);
    expect(result).toMatchObject({ ok: true, truncated: true, hits: [] });
  },
);

test("without a program that runs, the built-in search answers", async () => {
  const search = nodeSearch({ ripgrep: join(root, "no-such-program") });
  const result = await search.search({ target: "files", pattern: "a.ts", root }, signal);
  expect(result).toMatchObject({ ok: true, engine: "built-in", hits: [{ path: join(root, "a.ts") }] });
});

test.runIf(canRunRipgrep)("a pattern that only JavaScript reads is searched by the built-in search", async () => {
  const search = nodeSearch({ ripgrep: ripgrep ?? null });
  const result = await search.search({ target: "content", pattern: "(?<a_$>needle) one", root }, signal);
  expect(result).toMatchObject({ ok: true, engine: "built-in", hits: [{ line: 2 }] });
});

test.runIf(canRunRipgrep)("a cancelled search rejects with the reason", async () => {
  const cancel = new AbortController();
  const searching = nodeSearch({ ripgrep: ripgrep ?? null }).search(
    { target: "files", pattern: "*", root: "/usr" },
    cancel.signal,
  );
  cancel.abort(new Error("enough"));
  await expect(searching).rejects.toThrow("enough");
});

test("globs for paths select what git selects", () => {
  const paths = [
    "a.ts",
    "src/a.ts",
    "src/b/a.ts",
    "src/b/c/a.tsx",
    "src/ab.ts",
    "b/src/a.ts",
    "src/.x.ts",
    "src/b/a-1.ts",
  ];
  const parts = ["src", "*", "**", "a.ts", "*.ts", "b", "?.ts", "[ab].ts", "a*"];
  const repository = realpathSync(mkdtempSync(join(tmpdir(), "hermes-globs-")));
  execFileSync("git", ["init", "-q"], { cwd: repository });
  for (const path of paths) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), "");
  }
  execFileSync("git", ["add", "-A"], { cwd: repository });
  const globs = parts.flatMap((first) => parts.flatMap((second) => [`${first}/${second}`, `**/${first}/${second}`]));
  for (const glob of globs.filter((each) => !each.endsWith("**") && !paths.some((path) => path.startsWith(each)))) {
    const listed = execFileSync("git", ["ls-files", "--", `:(glob,icase)${glob}`], {
      cwd: repository,
      encoding: "utf8",
    });
    const matches = globMatcher(glob, repository);
    const names = listed.split("\n").filter((path) => path !== "");
    const own = paths.filter((path) => matches(join(repository, path)));
    expect([glob, own.toSorted()]).toEqual([glob, names.toSorted()]);
  }
  rmSync(repository, { recursive: true });
});

test("a pattern that JavaScript reads with its stricter rules is not translated", () => {
  const parts = [
    ...["a", "B", "é", ".", "^", "$", "|", "\\d", "\\w", "\\b", "\\cQ", "\\x41", "\\u0041", "\\u{41}", "\\k<n>"],
    ...["\\p{Lu}", "\\P{L}", "\\p{Script=Greek}", "\\}", "\\{", "\\+", "\\*", "\\?", "\\\\", "\\/", "\\(", "\\["],
    ...["[}+]", "[^+*]", "[a-z]", "[\\]+]", "[\\p{L}+]", "[]", "[^]", "[[a-z]--[aeiou]]", "[\\q{ab|c}]"],
    ...["(", "(?:", "(?<n>", "(?=", "(?!", "(?<=", "(?i:", ")", ")", "+", "*", "?", "+?", "{2}", "{2,}", "{1,3}?"],
  ];
  const random = seeded(seedOf(7));
  let read = 0;
  for (let round = rounds(300_000, 30_000); round > 0; round--) {
    const pattern = Array.from({ length: 1 + random.below(7) }, () => random.pick(parts)).join("");
    if (!isRead(pattern, "u") && !isRead(pattern, "v")) continue;
    read += 1;
    expect(commonPattern(pattern)).toBe(pattern);
  }
  expect(read).toBeGreaterThan(1_000);
});

function isRead(pattern: string, flag: string): boolean {
  try {
    return new RegExp(pattern, flag) instanceof RegExp;
  } catch {
    return false;
  }
}
