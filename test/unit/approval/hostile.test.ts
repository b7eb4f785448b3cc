import { expect, test } from "vitest";
import { judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { hostileCommands, LONGEST_READ } from "./support/hostile.ts";

const home = "/home/someone";
const scope = { cwd: "/project/p", roots: ["/project/p"], home, hermesHome: `${home}/.hermes`, resolvePath };
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
])("invisible characters ask: %j", (command) => {
  const verdict = judge(command);
  expect(verdict.level).toBe("ask");
  expect(verdict.alwaysAskReasons.join()).toMatch(/U\+[0-9A-F]{4,5}/);
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

const hostile = Object.entries(hostileCommands());

test("hostile commands are as long as commands are read", () => {
  const longest = Math.max(...hostile.map(([, command]) => command.length));
  expect([longest <= LONGEST_READ, longest > LONGEST_READ - 10]).toEqual([true, true]);
  expect(judge("a".repeat(LONGEST_READ + 1)).reasons[0]).toContain("too long");
});

test.each(hostile)("much of the same still asks, without an exception: %s", (_, command) => {
  expect(judge(command).level).toBe("ask");
});

test("a command that could not be read to its end says so", () => {
  for (const command of ["a".repeat(LONGEST_READ + 1), `rm ${"a ".repeat(9000)}`, "ls $(", `${"(".repeat(200)}a`]) {
    expect(judge(command).isFullyParsed, command.slice(0, 20)).toBe(false);
  }
  expect(judge("rm -rf build && git push").isFullyParsed).toBe(true);
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
