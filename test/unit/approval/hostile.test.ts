import { expect, test } from "vitest";
import { judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { resolvePath } from "../../../agent-core/approval/resolve-path.ts";

const home = "/home/someone";
const scope = { cwd: "/work/p", roots: ["/work/p"], home, hermesHome: `${home}/.hermes`, resolvePath };
const judge = (command: string) => judgeCommand(command, scope);

test("a NUL character is refused in every mode", () => {
  expect(judge("ls \0")).toMatchObject({ level: "block", readOnly: false });
});

test("a command over 64 kB asks without being read", () => {
  const verdict = judge(`echo ${"a".repeat(100_000)}`);
  expect(verdict).toMatchObject({ level: "ask", parts: [] });
  expect(verdict.reasons[0]).toContain("too long");
});

test.each([
  "ls \u202e a",
  "l\u200bs",
  "ls\r",
  "ls \u001b[2K",
  "echo \u2066a\u2069",
  "ls \u{e0041}",
  "ls \u00ad",
  "ls \u3164",
])("characters that one does not see ask: %j", (command) => {
  const verdict = judge(command);
  expect(verdict.level).toBe("ask");
  expect(verdict.always.join()).toMatch(/U\+[0-9A-F]{4,5}/);
});

test.each(["git commit -m '👩‍💻 work ❤️'", "echo 'grüße, 世界, שלום'", "echo 'a\tb'"])(
  "ordinary text does not: %s",
  (command) => {
    expect(judge(command).level).toBe("safe");
  },
);

test("hidden characters do not hide a catastrophe", () => {
  expect(judge("rm -rf / # \u202e").level).toBe("block");
});

const nested = (open: string, inner: string, close: string, times: number) =>
  open.repeat(times) + inner + close.repeat(times);

test.each([
  ["command substitutions", nested("$(", "rm a", ")", 5000)],
  ["quoted substitutions", nested('"$(', "rm a", ')"', 200)],
  ["subshells", nested("(", "rm a", ")", 20_000)],
  ["groups", nested("{ ", "rm a;", " };", 3000)],
  ["conditions", nested("if a; then ", "rm a", "; fi", 3000)],
  ["functions", nested("f() { ", "rm a", "; }; f", 300)],
  ["eval", `${"eval ".repeat(12_000)}rm a`],
  ["aliases", "alias a='a a a'; a; ".repeat(2000)],
  ["backticks", "`".repeat(60_001)],
  ["commands", "rm a;".repeat(12_000)],
  ["pipes", `${"a|".repeat(30_000)}a`],
  [
    "functions that double",
    `${Array.from({ length: 30 }, (_, i) => `f${i}() { f${i + 1}; f${i + 1}; }`).join(";")}; f0`,
  ],
  ["values that double", `a=rmrmrmrm; ${"a=$a$a; ".repeat(40)}$a x`],
  ["replacements that multiply", `x=${"a".repeat(4000)}; y=\${x//a/bbbb}; z=\${y//b/cccc}; w=\${z//c/dddd}; $w`],
  ["nested loops", `${"for x in a b c d e f g h; do ".repeat(8)}rm a; ${"done; ".repeat(8)}`],
  ["braces", `rm ${"{a,b}".repeat(10_000)}`],
  ["open braces", `rm ${"{".repeat(60_000)}`],
  ["patterns", `rm ${"*?[a]".repeat(12_000)}`],
  ["a path", `rm ${"a/".repeat(30_000)}`],
  ["redirections", `ls ${"> /etc/a ".repeat(7000)}`],
  ["here-documents", `sh <<E\n${"rm a\n".repeat(12_000)}E`],
  ["a search", `find ${". ".repeat(10_000)}${"-exec rm {} + ".repeat(2000)}`],
  ["sed", `sed '${"s/a/b/;".repeat(8000)}e rm a'`],
  ["an unclosed address", `sed '${"/".repeat(60_000)}'; rm a`],
  ["awk", `awk '${"{print > $1}".repeat(5000)}'`],
  ["python", `python3 -c '${'"a" '.repeat(12_000)}'`],
  ["words for xargs", `echo ${"a ".repeat(30_000)} | xargs rm`],
])("much of the same still asks, without an exception: %s", (_, command) => {
  expect(judge(command).level).toBe("ask");
});

test("code that cannot be read asks", () => {
  for (const command of [
    "ls 'a",
    'ls "a',
    "ls $(",
    "if",
    "for x",
    "ls )",
    "}",
    "case x",
    "ls &&",
    "| ls",
    "ls <",
    "${",
    "$((1",
    "[[ a",
  ]) {
    expect(judge(command).level, command).toBe("ask");
  }
});

test("random bytes never throw, and are never judged safe by a program that is not known", () => {
  let state = 42;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state;
  };
  const alphabet = " \n\t'\"\\$`(){}[]<>|&;*?!#~=+-%^,.:/@0aréfmx";
  for (let round = 0; round < 5000; round += 1) {
    const text = Array.from({ length: 1 + (next() % 40) }, () => alphabet[(next() >>> 8) % alphabet.length]).join("");
    const verdict = judge(`zz${text}`);
    const known = verdict.parts.some(({ program }) => program.startsWith("zz"));
    if (known) expect(verdict.level, text).not.toBe("safe");
  }
});
