import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, test as anyTest, beforeEach, expect } from "vitest";
import { statOf } from "../../../../agent-core/platform/paths.ts";
import { hasSandbox } from "../../../support/programs.ts";
import {
  commit,
  git,
  home,
  IDENTITY,
  inSandbox,
  newFolder,
  removeFolders,
  repository,
  run,
  start,
  terminalsOf,
  top,
} from "./sandboxed-workspace.ts";

const test = anyTest.runIf(hasSandbox());
let folder = "";

beforeEach(() => {
  folder = newFolder();
});

afterAll(removeFolders);

test.for([
  ["commondir", "mkdir -p e/objects e/refs; cp .git/HEAD e; echo x > e/config; echo ../e > .git/commondir"],
  ["remotes/x", "mkdir -p .git/remotes; echo URL: git@evil.example:x > .git/remotes/x"],
  ["branches/x", "mkdir -p .git/branches; echo git@evil.example:x > .git/branches/x"],
  ["config.worktree", "echo x > .git/config.worktree"],
  ["config.lock", "echo x > .git/config.lock"],
  ["CONFIG", "echo x > .git/CONFIG"],
  ["objects/info/alternates", "mkdir -p .git/objects/info; echo /srv/x > .git/objects/info/alternates"],
  ["logs/refs/heads/main", "ln -sf /etc/passwd .git/logs/refs/heads/main"],
  ["COMMIT_EDITMSG", "ln -sf ../../.bashrc .git/COMMIT_EDITMSG"],
  [
    "worktrees/w",
    "mkdir -p .git/worktrees/w; echo ../../e > .git/worktrees/w/commondir; cp .git/HEAD .git/worktrees/w",
  ],
  ["lfs", "ln -s /etc .git/lfs"],
] as const)("a command cannot leave .git/%s behind", async ([name, command]) => {
  const root = repository(folder);
  const before = readdirSync(join(root, ".git"));
  const was = statOf(join(root, ".git", name))?.ino;
  const { notes, output } = await inSandbox(root, command);
  const isSame = statOf(join(root, ".git", name))?.ino === was;
  expect([name, isSame, /is protected/.test(notes) || /Read-only/.test(output)]).toEqual([name, true, true]);
  expect(readdirSync(join(root, ".git"))).toEqual(expect.arrayContaining(before));
  git(root, "status");
});

test("repositories in folders of packages, far down and bare ones are guarded like the workspace's own", async () => {
  const root = repository(folder);
  const deep = "a/b/c/d/e/f/g/h/i";
  const nested = ["vendor", "target", "node_modules/x", ".venv/src/y", deep].map((name) =>
    repository(join(root, name)),
  );
  const bare = join(root, "fixtures", "bare.git");
  git(root, "clone", "-q", "--bare", root, bare);
  const gits = [...nested.map((path) => join(path, ".git")), bare];
  const configs = gits.map((path) => readFileSync(join(path, "config"), "utf8"));
  const attack = gits
    .map(
      (path) =>
        `echo x >> ${path}/config; echo x > ${path}/hooks/pre-commit; echo x > ${path}/commondir; mv ${path} ${path}2`,
    )
    .join("; ");
  const made = `for f in new vendor/new/deep node_modules/z ${deep}/k; do mkdir -p $f; cp -r .git $f/.git; done; git init -q --bare q; echo x > q/hooks/post-update; mkdir -p w/refs w/objects; cp .git/HEAD w; printf '[core]\\n\\tfsmonitor=x\\n' > w/config`;
  const { notes } = await inSandbox(root, `${attack}; ${made}`);
  expect(gits.map((path) => readFileSync(join(path, "config"), "utf8"))).toEqual(configs);
  const left = [
    ...gits.flatMap((path) => ["hooks/pre-commit", "commondir"].map((name) => join(path, name))),
    ...["new", "vendor/new/deep", "node_modules/z", `${deep}/k`].map((name) => join(root, name, ".git")),
    join(root, "q/hooks"),
    join(root, "w/config"),
  ];
  expect(left.filter((path) => existsSync(path))).toEqual([]);
  expect(notes).toContain("w/config is protected");
});

type Layout = { readonly name: string; readonly make: () => { readonly root: string; readonly git: string } };

const layouts: readonly Layout[] = [
  { name: "a plain repository", make: () => ({ root: repository(folder), git: join(folder, ".git") }) },
  {
    name: "a linked worktree beside its repository",
    make: () => {
      git(repository(join(folder, "main")), "worktree", "add", "-q", "../wt", "-b", "wt");
      return { root: join(folder, "wt"), git: join(folder, "main/.git") };
    },
  },
  {
    name: "a linked worktree with relative paths",
    make: () => {
      git(repository(join(folder, "main")), "worktree", "add", "-q", "../wt", "-b", "wt");
      writeFileSync(join(folder, "wt/.git"), "gitdir: ../main/.git/worktrees/wt\n");
      writeFileSync(join(folder, "main/.git/worktrees/wt/gitdir"), "../../../../wt/.git\n");
      return { root: join(folder, "wt"), git: join(folder, "main/.git") };
    },
  },
  {
    name: "a bare repository in .bare with sibling worktrees",
    make: () => {
      git(folder, "clone", "-q", "--bare", repository(join(top, `source-${Date.now()}`)), join(folder, ".bare"));
      writeFileSync(join(folder, ".git"), "gitdir: ./.bare\n");
      git(folder, "worktree", "add", "-q", "dev", "-b", "dev");
      git(folder, "worktree", "add", "-q", "other", "-b", "other");
      return { root: join(folder, "dev"), git: join(folder, ".bare") };
    },
  },
  {
    name: "a worktree in the folder of its bare repository",
    make: () => {
      git(folder, "clone", "-q", "--bare", repository(join(top, `source-${Date.now()}`)), "proj.git");
      git(join(folder, "proj.git"), "worktree", "add", "-q", "dev", "-b", "dev");
      return { root: join(folder, "proj.git/dev"), git: join(folder, "proj.git") };
    },
  },
  {
    name: "a submodule as the workspace",
    make: () => {
      const outer = repository(join(folder, "outer"));
      git(outer, "submodule", "add", "-q", repository(join(folder, "inner")), "libs/inner");
      return { root: join(outer, "libs/inner"), git: join(outer, ".git/modules/libs/inner") };
    },
  },
  {
    name: "a separate git folder",
    make: () => {
      git(repository(join(folder, "work")), "init", "-q", "--separate-git-dir", join(folder, "elsewhere/repo.git"));
      return { root: join(folder, "work"), git: join(folder, "elsewhere/repo.git") };
    },
  },
  {
    name: "a .git that is a link",
    make: () => {
      const root = repository(join(folder, "work"));
      cpSync(join(root, ".git"), join(root, "git-data"), { recursive: true });
      rmSync(join(root, ".git"), { recursive: true });
      symlinkSync("git-data", join(root, ".git"));
      return { root, git: join(root, "git-data") };
    },
  },
];

test.for(layouts)("a commit works in $name, and its settings are out of reach", async ({ make }) => {
  mkdirSync(join(folder, "elsewhere"));
  const { root, git: data } = make();
  const config = readFileSync(join(data, "config"), "utf8");
  const attack = `git config core.fsmonitor evil; echo x >> ${data}/config; echo x > ${data}/hooks/pre-commit; echo x > ${data}/config.worktree; git config --worktree a.b c`;
  const { output, notes } = await inSandbox(root, `${commit}; { ${attack}; } 2>&1`);
  expect(output).toMatch(/^2\n/);
  expect(git(root, "log", "--format=%s", "-1")).toBe("two\n");
  expect([readFileSync(join(data, "config"), "utf8"), notes]).toEqual([config, notes]);
  expect(["hooks/pre-commit", "config.worktree"].filter((name) => existsSync(join(data, name)))).toEqual([]);
  expect(git(root, "status", "--porcelain", "--untracked-files=no")).toBe("");
});

test("a submodule and a linked worktree in the workspace take commits, too", async () => {
  const root = repository(join(folder, "outer"));
  git(root, "submodule", "add", "-q", repository(join(folder, "inner")), "sub");
  git(root, "worktree", "add", "-q", ".worktrees/w", "-b", "w");
  const { output, notes } = await inSandbox(
    root,
    `(cd sub; ${commit}); (cd .worktrees/w; ${commit}); git status --short`,
  );
  expect([output, notes]).toEqual([expect.stringMatching(/^2\n2\n/), ""]);
});

test("a .git file cannot open a folder that is not its own", async () => {
  const other = repository(join(folder, "other"));
  git(other, "worktree", "add", "-q", "../theirs", "-b", "theirs");
  for (const target of [".git", ".git/worktrees/theirs", "."]) {
    const root = join(folder, `evil-${target.length}`);
    mkdirSync(root);
    writeFileSync(join(root, ".git"), `gitdir: ${join(other, target)}\n`);
    const { output } = await inSandbox(
      root,
      `echo x > ${other}/.git/refs/heads/main; echo x > ${other}/.git/index; echo $?`,
    );
    expect([target, output.endsWith("1\n")]).toEqual([target, true]);
  }
  expect(git(other, "log", "--format=%s", "main")).toBe("one\n");
});

test("everyday git commands work, and nothing of them is taken away", async () => {
  const root = repository(folder);
  const g = `git ${IDENTITY.join(" ")}`;
  const lines = [
    "echo 1 > b.txt; git add b.txt",
    `${g} commit -qm two`,
    "git branch side; git switch -q side",
    `echo 2 > b.txt; ${g} commit -qam three; git switch -q main`,
    `echo 3 > c.txt; git add .; ${g} commit -qm four; ${g} merge -q side -m merged`,
    `echo 4 > c.txt; ${g} stash -q; ${g} stash pop -q; git checkout -q c.txt`,
    `${g} tag -a v1 -m v1; git tag v2; git branch -d side`,
    `git reset -q --hard HEAD~1; ${g} cherry-pick v1 -m 1 >/dev/null; ${g} revert --no-edit HEAD >/dev/null`,
    `${g} rebase -q HEAD~1; git notes --ref=x list; git bisect start HEAD HEAD~1 >/dev/null; git bisect reset 2>/dev/null`,
    `git worktree add -q wt -b wt; (cd wt; echo 5 > d; git add d; ${g} commit -qm five)`,
  ];
  const tidy = "git pack-refs --all; git gc -q; git fsck; git reflog expire --expire=now --all; git repack -adq";
  for (const line of [lines.join("; "), tidy]) {
    const { output, notes, exitCode } = await inSandbox(root, `set -e; { ${line}; } 2>&1`);
    expect([output, notes, exitCode]).toEqual([expect.not.stringContaining("fatal"), "", 0]);
  }
  expect(git(join(root, "wt"), "log", "--format=%s", "-1")).toBe("five\n");
  expect((await inSandbox(root, "git worktree remove wt; git merge wt && git log -1 --format=%s")).output).toContain(
    "five",
  );
});

test("only a command that calls git writes in a git folder, and beside unread code it keeps the packs", async () => {
  const root = repository(folder);
  mkdirSync(join(root, "sub"));
  git(join(root, "sub"), "init", "-q");
  git(root, "gc", "-q");
  const wipe = `node -e 'for (const f of [".git", "sub/.git"]) try { fs.rmSync(f, { recursive: true }) } catch {}'`;
  await inSandbox(root, `${wipe}; node -e 'fs.writeFileSync(".git/HEAD", "git add")'; rm -rf sub/.git`);
  expect([git(root, "log", "--format=%s"), git(join(root, "sub"), "rev-parse", "--git-dir")]).toEqual([
    "one\n",
    ".git\n",
  ]);
  await inSandbox(root, `git add .; node -e 'fs.rmSync(".git/objects/pack", { recursive: true })'`);
  expect(git(root, "cat-file", "-t", "HEAD")).toBe("commit\n");
});

test("a link into a folder that the sandbox hides is taken away; one to a program of the system stays", async () => {
  const root = repository(folder);
  const links = `ln -s ${home}/.ssh/id_rsa notes.txt; mkdir d; ln -s ${homedir()} d/all; ln -s /usr/bin/env python; ln -s a.txt b.txt; mkdir -p node_modules/x; ln -s ${home} node_modules/x/data`;
  const { notes } = await inSandbox(root, links);
  expect(
    ["notes.txt", "d/all", "node_modules/x/data", "python", "b.txt"].filter((name) => statOf(join(root, name))),
  ).toEqual(["python", "b.txt"]);
  expect(notes.match(/was made in the sandbox/g)).toHaveLength(3);
});

test("git outside does not follow a folder that a command names while it runs", async () => {
  const root = repository(folder);
  const terminals = terminalsOf(root);
  const marker = join(folder, "ran");
  writeFileSync(join(folder, "go"), "");
  const command = `cp -r .git e; git --git-dir=e config core.fsmonitor 'touch ${marker}'; echo ../e > .git/commondir; mv e/config .git/commondir; rm -f .git/commondir; echo tried; while [ -e go ]; do sleep 0.05; done`;
  const running = await start(terminals, root, command);
  await expect.poll(async () => (await running.output()).head).toContain("tried");
  expect(git(root, "status", "--porcelain")).toContain("?? e/");
  rmSync(join(root, "go"));
  await running.exit;
  expect((await running.inspected()).join()).toContain("e/config is protected");
  expect([existsSync(marker), existsSync(join(root, ".git/commondir"))]).toEqual([false, false]);
  await terminals.dispose();
});

test("a process that a command leaves behind is compared with the state before it", async () => {
  const root = repository(folder);
  const terminals = terminalsOf(root);
  const left = "AGENTS.md .vscode/settings.json sub/.git/config .git/remotes/x";
  const make = left
    .split(" ")
    .map((name) => `mkdir -p $(dirname ${name}); echo evil > ${name}`)
    .join("; ");
  const running = await start(
    terminals,
    root,
    `{ until [ -e go ]; do sleep 0.05; done; ${make}; touch made; sleep 60; } >/dev/null 2>&1 & echo left`,
  );
  await running.exit;
  expect([await running.inspected(), await running.hasSurvivors()]).toEqual([[], true]);
  writeFileSync(join(root, "go"), "");
  await expect.poll(() => existsSync(join(root, "made"))).toBe(true);
  const { notes } = await run(terminals, root, "true");
  expect(left.split(" ").filter((name) => existsSync(join(root, name)))).toEqual([]);
  // Git folders that exist are read-only.
  expect(notes.match(/is protected and was made in the sandbox/g)).toHaveLength(3);
  expect(await terminals.inspectLiving?.()).toEqual([]);
  await terminals.endTurn?.();
  writeFileSync(join(root, "GEMINI.md"), "the user's\n");
  expect(await terminals.inspectLiving?.()).toEqual([
    expect.stringContaining("GEMINI.md is protected and was made or replaced"),
  ]);
  expect(existsSync(join(root, "GEMINI.md"))).toBe(true);
  expect(await terminals.inspectLiving?.()).toEqual([]);
  await running.kill();
  await running.release();
  expect(existsSync(join(root, ".git/commondir"))).toBe(false);
  await terminals.dispose();
});

test("a command in the background is reported when it makes a protected file, at the next look", async () => {
  const root = repository(folder);
  const terminals = terminalsOf(root);
  const running = await start(terminals, root, "echo x > .mcp.json; touch made; sleep 60", { keepsShell: false });
  await expect.poll(() => existsSync(join(root, "made"))).toBe(true);
  expect(await terminals.inspectLiving?.()).toEqual([expect.stringContaining(".mcp.json is protected")]);
  await running.kill();
  await running.release();
  expect(await running.inspected()).toEqual([]);
  await terminals.dispose();
});

test("hooks and settings in folders that git's settings name are guarded, and a link is put back", async () => {
  const root = repository(folder);
  for (const name of ["tools/hooks", "tools/git"]) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "tools/git/shared"), "[a]\nb = c\n");
  writeFileSync(join(root, "tools/guide.md"), "guide\n");
  symlinkSync("tools/guide.md", join(root, "AGENTS.md"));
  git(root, "config", "core.hooksPath", "tools/hooks");
  git(root, "config", "include.path", "../tools/git/shared");
  const attack =
    "echo x > tools/hooks/pre-commit; echo x >> tools/git/shared; echo x > tools/guide.md; rm AGENTS.md; echo evil > AGENTS.md";
  const { notes } = await inSandbox(
    root,
    `${attack}; git init -q --bare made.git; git init -q --bare evil.git; echo x > evil.git/hooks/update`,
  );
  const texts = ["tools/git/shared", "tools/guide.md", "AGENTS.md"].map((name) =>
    readFileSync(join(root, name), "utf8"),
  );
  expect([readdirSync(join(root, "tools/hooks")), ...texts]).toEqual([[], "[a]\nb = c\n", "guide\n", "guide\n"]);
  expect(notes.match(/is protected/g)?.length).toBeGreaterThan(1);
  expect(["made.git/hooks", "made.git/config", "evil.git/hooks"].map((name) => existsSync(join(root, name)))).toEqual([
    true,
    true,
    false,
  ]);
});

test("a workspace with more protected files than can be mounted gets no sandbox, in words", async () => {
  const root = repository(folder);
  for (let index = 0; index < 400; index += 1) writeFileSync(join(root, `.env.${index}`), "A=1\n");
  const terminals = terminalsOf(root);
  await expect(run(terminals, root, "true")).rejects.toThrow(/40\d protected files and folders.*asks the user/);
  expect(await terminals.sandboxProblem?.()).toMatch(/protected files/);
  for (let index = 0; index < 200; index += 1) rmSync(join(root, `.env.${index}`));
  expect(await terminals.sandboxProblem?.()).toBeUndefined();
  expect((await run(terminals, root, "echo held")).output).toBe("held\n");
  await terminals.dispose();
});

test("a repository works after the agent was killed beside git, and the next command takes its file away", async () => {
  const root = repository(folder);
  writeFileSync(join(root, ".git/commondir"), ".\n"); // as a killed agent leaves it
  expect(git(root, "log", "--format=%s")).toBe("one\n");
  const { output } = await inSandbox(root, commit);
  expect([output.trim().split("\n").at(-1), existsSync(join(root, ".git/commondir"))]).toEqual(["2", false]);
});
