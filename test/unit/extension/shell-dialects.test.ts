import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { meansSameIn } from "../../../extension/terminals/typed-line.ts";
import { hasPrograms } from "../../support/programs.ts";

const portable = [
  "npm test -- --run a/b.test.ts",
  "echo one && false || echo two; echo three",
  'echo "$HOME/x" | cat',
  "ls /nowhere 2>&1 | wc -l",
  "echo 'it has (parens), # and $dollars' > /dev/null; echo end",
  "awk '{print $1}' /dev/null",
];

const foreign: readonly (readonly [string, string])[] = [
  ["a comment, which an interactive zsh does not know", "ls # ; echo other"],
  ["a quote that fish ends elsewhere", "echo 'a\\'' ; echo other; echo ''"],
  ["a substitution of commands", "echo $(echo other) `echo other`"],
  ["a substitution in quotes", 'echo "$(echo other)"'],
  ["parameters with flags", `echo $${"{(e)HOME}"}`],
  ["a subscript", 'echo "$words[1]"'],
  ["globs with qualifiers", "ls *(e:'echo other':)"],
  ["the path of a program", "=ls"],
  ["a word that hides a program", "- ls"],
  ["text that is read as a program", "eval 'ls # ; echo other'"],
  ["a here-document", "cat <<E"],
  ["a process", "cat <(ls)"],
  ["redirections of its own", "ls >! file; ls >| file; ls >& file"],
  ["jobs of its own", "ls &! ls &| ls"],
  ["backslashes", "echo a\\ b"],
];

describe.each(["zsh", "fish"] as const)("%s", (shell) => {
  test.runIf(hasPrograms(shell)).each(portable)("takes %s, which does there what it does in bash", (line) => {
    expect(meansSameIn(line, shell)).toBe(true);
    const run = (program: string): string => execFileSync(program, ["-c", line], { encoding: "utf8" });
    if (!line.startsWith("npm")) expect(run(shell)).toBe(run("bash"));
  });

  test.each(foreign)("does not take %s", (_, line) => {
    expect(meansSameIn(line, shell)).toBe(false);
  });
});

test("loops and assignments are zsh's as well, not fish's", () => {
  for (const line of ["for word in a b; do echo $word; done", "A=1 make", "if true; then ls; fi"]) {
    expect([meansSameIn(line, "zsh"), meansSameIn(line, "fish")]).toEqual([true, false]);
  }
});
