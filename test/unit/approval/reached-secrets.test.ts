import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Decision, PolicyContext } from "../../../agent-core/approval/decision.ts";
import { hideSecretValues } from "../../../agent-core/approval/egress.ts";
import { Grants } from "../../../agent-core/approval/grants.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";

/** A repository with a secret in `.env`, and source files in `src`. */
function repository(isTracked: boolean): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-secrets-")));
  mkdirSync(join(root, "src/deep"), { recursive: true });
  for (const name of [".env", "src/a.ts", "src/deep/b.ts"]) writeFileSync(join(root, name), "KEY=1\n");
  execFileSync("git", ["init", "-q", root]);
  execFileSync("git", ["-C", root, "add", "src", ...(isTracked ? ["--force", ".env"] : [])]);
  return root;
}

const newGrants = () => new Grants(mkdtempSync(join(tmpdir(), "hermes-grants-")), () => undefined);

function decided(root: string, command: string, context: Partial<PolicyContext> = {}): Decision {
  const scope = { cwd: root, roots: [root], home: homedir(), hermesHome: join(root, "../h"), resolvePath };
  const effect = { kind: "command", command, cwd: root } as const;
  return decide(effect, { mode: "code", scope, trusted: true, grants: newGrants(), ...context });
}

/** The sandbox of a command that runs unasked, or the kind of the decision. */
function way(root: string, command: string, context: Partial<PolicyContext> = {}): string {
  const decision = decided(root, command, context);
  return (decision.kind === "allow" && decision.sandbox) || decision.kind;
}

test("keys of secret files are hidden in outputs, however long the runs of letters are in these files", () => {
  const root = repository(false);
  const [key, token] = ["rk_live_51HxYzAbCdEf2345678901", "dGhpcytp+cyBub3Qga2V5IDEy"];
  for (let number = 1; number <= 30; number += 1)
    writeFileSync(join(root, `.env.${number}`), `${"Letters".repeat(9_000)}\n${key}\n+${token}\n${"+".repeat(2_000)}`);
  const scope = { cwd: root, roots: [root], home: homedir(), hermesHome: join(root, "../h"), resolvePath };
  const words = "LettersLettersLetters 01234567890123456789 internationalisation2";
  const shown = hideSecretValues(`${key} ${token} ${words}`, { scope, grants: newGrants() });
  expect(shown).not.toMatch(/51HxYz|cyBub3/);
  expect(shown).toContain(words);
});

const REACHING = [
  "grep -r KEY .",
  "grep -rn KEY",
  "grep --recursive KEY",
  "grep -d recurse KEY .",
  "rg --hidden KEY",
  "rg -uu KEY",
  "rg -g '*env' KEY",
  "tar c .",
  "cat .e*",
  "cat .[de]nv",
  "cat $(ls -a)",
  "ls -a | xargs cat",
  "find . -type f -exec cat {} +",
  "find . -name '*env' -exec cat {} +",
  "find . -name '*.ts' -o -type f -exec cat {} +",
  "find . ! -name '*.ts' -exec cat {} +",
  "for f in .*; do cat $f; done",
  "diff --new-file nothing .",
  "diff . src",
  "difft . src",
  "grep -d r KEY .",
  "grep --directories=re KEY .",
  "zstd -rc .",
  "git grep --no-index KEY",
  "git grep --untr -m 1 KEY",
  "git diff --no-index . src",
  "git diff /tmp .",
  "diff -N --from-file=. src",
  "find . -type f -print0 | sort -z --files0-from=-",
  "sort --files0-from=names.txt",
  "tar c .e*",
  "grep -r KEY .[de]*",
];
const ORDINARY = [
  "grep -rn KEY src",
  "grep -rn --include='*.ts' KEY .",
  "grep -rn --exclude='.env*' KEY .",
  'grep -n "$PATTERN" src/a.ts',
  "rg KEY",
  "rg -t ts KEY",
  "rg --hidden -g '*.ts' KEY",
  "cat *",
  "cat src/*.ts",
  "ls -la",
  "ls .*",
  "find . -name '*.ts' -exec cat {} +",
  "find . -type f -exec ls -l {} +",
  "find . -type f",
  "du -a .",
  "wc -l *",
  "tar c src",
  "git grep KEY",
  "diff src/a.ts src/b.ts",
  "diff src src",
  "git diff --no-index src/a.ts src/deep/b.ts",
  "git log -p",
];

describe("in a workspace with a secret file", () => {
  const root = repository(false);
  test.each(REACHING)("a command that reads everything asks without a sandbox: %s", (command) => {
    expect(way(root, command)).toBe("ask");
    expect(way(root, command, { mode: "auto" })).toBe("ask");
  });
  test.each(REACHING)("the sandbox hides the secret file from a command that only reads: %s", (command) => {
    for (const mode of ["plan", "ask", "code", "auto"] as const)
      expect(way(root, command, { mode, sandbox: true })).toBe("reading");
  });
  test.each([
    ..."grep -R KEY .,diff -r . src,rg -uuL KEY,zgrep -R KEY src/a.ts,grep -R KEY . | head".split(","),
    ..."grep -S KEY src,cat --all-below src,strings --recurse .,column --files-in=. src/a.ts,nm --every".split(","),
  ])("the sandbox hides it from a reader with an option that is not listed, too: %s", (command) => {
    for (const mode of ["code", "auto"] as const) expect(way(root, command, { mode, sandbox: true })).toBe("reading");
    expect([way(root, command), way(root, `${command} > out.txt`, { sandbox: true })]).toEqual(["ask", "ask"]);
  });
  test.each(ORDINARY)("a command that does not reach the secret file runs unasked: %s", (command) => {
    expect(way(root, command)).toBe("allow");
    expect(way(root, command, { sandbox: true })).toBe("isolated");
  });

  test.each([
    "cat .[e]nv",
    "rg KEY -g .env",
    "cat -- .env",
    "git show HEAD:.env",
    "perl -ne print .env",
    "perl -p src/a.ts .env",
    "more .env",
  ])("a command that names the secret file asks: %s", (command) => {
    expect([way(root, command), way(root, command, { sandbox: true })]).toEqual(["ask", "ask"]);
  });

  test.each([
    `awk '{while((getline l < ".env")>0) print l}' src/a.ts`,
    `awk 'BEGIN{system("cat .env")}'`,
    `awk 'BEGIN { ARGV[1] = ".env"; ARGC = 2 } { print }'`,
    `awk 'BEGIN { f = ".env"; while ((getline l < f) > 0) print l }'`,
    `awk 'BEGIN{"cat ./.env"|getline x; print x}'`,
    "perl -e 'system(qw(cat .env))'",
    "python3 -c 'import os; os.system(\"cat .env\")'",
    "cmake -P .env",
    "tar cf - -T .env",
    "unknown-program --settings=.env",
    "lldb --batch -x .env",
    "stylelint -I .env src",
    "GIT_CONFIG_GLOBAL=.env git config --list",
    "env GIT_CONFIG_GLOBAL=.env git config --list",
  ])("a program that may print the secret file because its words name it asks in auto: %s", (command) => {
    for (const sandbox of [false, true]) expect(way(root, command, { mode: "auto", sandbox })).toBe("ask");
  });

  test.each([
    "tar cf a.tar --exclude .env src",
    "tree -I .env",
    "echo .env >> .gitignore",
    "test -f .env && echo yes",
    "git add .env",
    "cp .env.example config.txt",
  ])("a command that names the secret file and does not read it runs unasked: %s", (command) => {
    expect(way(root, command)).toBe("allow");
  });

  test.each([
    "tar -Scf - .",
    "tar --one-more -v -cf - .",
    "find . -type f | zip -@ -",
    "bat --plain .*",
    "view .e?v src/a.ts",
    "shuf src/*.ts .[a-z]*",
    "jpegoptim -o .* src/*",
    "set -a; . ./.e*; env",
    "source .*v",
  ])(
    "a program that may open the secret file by a pattern, a list or an option that is not listed asks: %s",
    (command) => {
      for (const mode of ["code", "auto"] as const)
        for (const sandbox of [false, true]) expect(way(root, command, { mode, sandbox })).toBe("ask");
    },
  );

  test("a command that copies or packs the secret file asks", () => {
    for (const command of ["cp -r . ../copy", "tar cf a.tar .", "zip -r a.zip ."])
      expect([way(root, command), way(root, command, { sandbox: true })]).toEqual(["ask", "ask"]);
  });

  test("a pattern of folders reaches the secret file in one of them, unless the search leaves it out", () => {
    const inner = repository(false);
    writeFileSync(join(inner, "src/.env"), "KEY=1\n");
    for (const command of ["grep -rn KEY *", "tar c s*", "rg --hidden KEY s?c"])
      expect(way(inner, command)).toBe("ask");
    for (const command of ["grep -rn --include='*.ts' KEY *", "grep -rn KEY src/d*", "cat *"])
      expect(way(inner, command)).toBe("allow");
  });

  test("the answer that lasts is the one for reading the file", () => {
    const decision = decided(root, "grep -r KEY .");
    expect(decision).toMatchObject({
      isProtected: true,
      grant: [{ row: `reading: ${root}/.env` }],
      reasons: [expect.stringContaining(`May print ${root}/.env`)],
    });
    const grants = newGrants();
    if (decision.kind === "ask" && decision.grant) void grants.keep(decision.grant, "session");
    expect(way(root, "rg --hidden KEY", { grants })).toBe("allow");
    expect(way(root, "cat .env", { grants })).toBe("ask");
  });
});

describe("in a workspace with secret files of several names", () => {
  const root = repository(false);
  for (const name of [".env.local", ".env.production", "src/.env.test"]) writeFileSync(join(root, name), "KEY=1\n");
  const other = repository(false);
  writeFileSync(join(other, "credentials.json"), "{}\n");
  test.each([
    "grep -rn key --include=*.local .",
    "rg --hidden key -g '*.local'",
    "rg -uuu key -g '*.production'",
    "rg --hidden key -g '*.ts' -g 'src/*.test'",
    "tar cf a.tar --exclude=.env .",
  ])("a search or archive whose patterns let one of them in asks without a sandbox: %s", (command) => {
    expect(way(root, command)).toBe("ask");
  });
  test("the same pattern asks only where a secret file has such a name", () => {
    expect([root, other].map((folder) => way(folder, "rg key -g '*.json'"))).toEqual(["allow", "ask"]);
  });
  test.each([
    "rg key -g '**/*.ts'",
    "rg key -g 'src/**/*.ts'",
    "rg key -g '*.{ts,tsx}'",
    "rg key -g 'package.json'",
    "rg key -g '!node_modules' -g '*.ts'",
    "grep -rn key --include=Makefile .",
    "grep -rn key --include='*.md' --include='README*' .",
    "grep -rn --exclude='.env*' KEY .",
    "tar czf x.tgz --exclude=.env --exclude='.env.*' .",
  ])("a search or archive whose patterns leave all of them out runs unasked: %s", (command) => {
    expect(way(root, command)).toBe("allow");
  });
});

describe("in a repository that tracks a secret file", () => {
  const root = repository(true);
  test.each([
    "git grep KEY",
    "git grep KEY HEAD",
    "git show",
    "git show HEAD",
    "git log -p",
    "git log -U1 --oneline",
    "git diff",
    "git diff HEAD~1 HEAD",
    "git cat-file -p 1234567",
    "git cat-file blob 1234567",
    "git archive HEAD",
    "git status -v",
    "git stash show -p",
    "git stash show --oneline",
    "git stash list --diff-merges=1",
    "git log -L1,1:.env",
    "git log -L 1,1:.env --oneline",
    "git show -n1,1:.env",
    "git add -p",
    "git commit --dry-run -v",
    "git commit -m x --patch",
    "git checkout -p",
    "git reset --patch",
    "git stash -p",
    "git request-pull HEAD~ . -p",
    "git difftool -y",
    "git -C src log -p",
  ])("a command that prints the text of all tracked files asks: %s", (command) => {
    expect(way(root, command)).toBe("ask");
    for (const mode of ["code", "auto"] as const) expect(way(root, command, { mode, sandbox: true })).toBe("ask");
  });

  test.each(["checkout", "reset", "rm", "stash"])(
    "git %s names the lines of a file that it takes for paths",
    (verb) => {
      for (const option of ["--pathspec-from-file=.env", "--pathspec-from-file .env"])
        expect(way(root, `git ${verb} ${option}`, { mode: "auto", sandbox: true }), option).toBe("ask");
    },
  );

  test.each([
    "git status",
    "git log --oneline -5",
    "git diff --stat",
    "git diff --name-only HEAD",
    "git diff src",
    "git diff HEAD -- src/a.ts",
    "git show HEAD:src/a.ts",
    "git show --stat HEAD",
    "git log -p -- src",
    "git grep -l KEY",
    "git grep KEY src",
    "git blame src/a.ts",
    "git blame -L 1,1 src/a.ts",
    "git blame -L1,+1 src/a.ts",
    "git log -L 1,1:src/a.ts",
    "git log -S'a b' --oneline",
    "git log -Gsome_name. --oneline",
    "git stash show",
    "git stash show --stat",
    "git cat-file -t HEAD",
  ])("a command that prints other files or no text runs unasked: %s", (command) => {
    expect(way(root, command)).toBe("allow");
    expect(way(root, command, { sandbox: true })).toBe("isolated");
  });
});

test.each(["ls -l .env", "stat .env", "git check-ignore .env", "test -f .env", "[ -s .env ]", "readlink -f .env"])(
  "%s shows facts about a secret file of the workspace and asks nothing",
  (command) => {
    const root = repository(false);
    for (const mode of ["code", "plan", "ask"] as const)
      expect(decided(root, command, { mode }).kind, mode).toBe("allow");
  },
);

test.each([
  "ls -l .env; cat .env",
  "stat --printf=%n .env | xargs cat",
  "ls -l ~/.ssh/id_rsa",
  "wc --files0-from=.env",
  "find -files0-from .env",
])("%s still asks", (command) => {
  const root = repository(false);
  expect(decided(root, command).kind).toBe("ask");
  expect(decided(root, command, { mode: "auto", sandbox: true }).kind).toBe("ask");
});

test("zgrep with a recursive option searches the working folder, whatever file it names", () => {
  const root = repository(false);
  symlinkSync(homedir(), join(root, "link-to-home"));
  for (const option of ["-R", "--dereference-recursive"])
    expect(decided(root, `zgrep ${option} 1 src/a.ts`, { mode: "plan" }).kind, option).not.toBe("allow");
});
