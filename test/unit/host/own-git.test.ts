import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { gitLayout as guardedLayout } from "../../../agent-core/approval/git-folders.ts";
import { isPlainRepository } from "../../../agent-core/approval/repository.ts";
import { gitLayout, gitLayoutSync } from "../../../agent-core/host/git-layout.ts";
import { changedFiles, gitSettings, readGitSync } from "../../../agent-core/host/read-git.ts";
import { commit, git, LAYOUTS, newFolder, settingsOnly, write } from "../../support/git-repositories.ts";

describe.each(Object.entries(LAYOUTS))("in %s", (name, make) => {
  const folder = make(newFolder());

  test("the layout is that of git, and the shared git folder belongs to the work tree", async () => {
    const layout = await gitLayout(folder);
    const own = git(folder, "rev-parse", "--absolute-git-dir");
    expect(layout).toMatchObject({ own, top: git(folder, "rev-parse", "--show-toplevel") });
    expect(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")).toBe(layout?.common);
    // Nothing in a separate git folder names its work tree.
    expect(layout?.isMutual).toBe(name !== "a separate git folder");
    expect(gitLayoutSync(folder)).toEqual(layout);
  });

  test("a changed file is found", async () => {
    write(folder, { "a.txt": "changed\n" });
    expect(await changedFiles(folder)).toContainEqual({
      status: folder.endsWith("/sub") ? "??" : "M",
      path: expect.stringContaining(folder.endsWith("/sub") ? "sub/" : "a.txt"),
    });
  });
});

test("a bare repository and a folder without git have no work tree", async () => {
  const base = newFolder();
  expect(await gitLayout(base)).toBeUndefined();
  git(base, "init", "-q", "--bare", ".bare");
  write(base, { ".git": "gitdir: ./.bare\n" });
  expect(await gitLayout(base)).toMatchObject({ top: undefined, own: join(base, ".bare") });
  expect(await changedFiles(base)).toBeUndefined();
});

test("each of forty git folders in one another is looked at once", () => {
  const [base, other] = [newFolder(), newFolder()];
  git(other, "init", "-q", "--bare", "plain");
  const depths = Array.from({ length: 40 }, (_, depth) => join(base, "d/".repeat(depth + 1)));
  for (const folder of depths) write(folder, { ".git": `gitdir: ${join(other, "plain")}\n` });
  const scope = { cwd: base, roots: [base], home: "/home/a", hermesHome: "/home/a/.hermes", resolvePath: resolve };
  expect(guardedLayout(depths.at(-1) ?? "", scope)).toBeUndefined();
});

test("the layout is asked again after its files changed", () => {
  const [repo, other] = [newFolder(), newFolder()];
  git(repo, "init", "-q");
  git(other, "init", "-q");
  expect(gitLayoutSync(repo)?.common).toBe(join(repo, ".git"));
  write(repo, { ".git/commondir": join(other, ".git") });
  expect(gitLayoutSync(repo)).toMatchObject({ common: join(other, ".git"), isMutual: false });
});

/** Ways of a program in the sandbox to give git other settings; each gets the text of settings that run a program. */
const PLANTED: Readonly<Record<string, (top: string, settings: string) => void>> = {
  "its own settings": (top, settings) => write(top, { ".git/config": `[core]\n\tbare = false\n${settings}` }),
  "another common folder": (top, settings) => {
    settingsOnly(join(top, "conf"), settings);
    for (const part of ["objects", "refs"]) git(top, "config", "x.y", part);
    write(top, { ".git/commondir": "../conf\n" });
  },
  "settings of the worktree": (top, settings) => {
    git(top, "config", "extensions.worktreeConfig", "true");
    write(top, { ".git/config.worktree": settings });
  },
  "an included file": (top, settings) => {
    write(top, { "more.cfg": settings });
    git(top, "config", "include.path", "../more.cfg");
  },
  "a file that is included for one branch": (top, settings) => {
    write(top, { "more.cfg": settings });
    git(top, "config", "includeIf.onbranch:**.path", "../more.cfg");
  },
};

describe.each(Object.entries(PLANTED))("with programs in %s", (_, plant) => {
  const top = newFolder();
  const ran = join(top, "RAN");
  git(top, "init", "-q");
  commit(top, "one", {
    "a.txt": "text\n",
    "b=c.log": "text\n",
    ".gitattributes": "*.txt filter=evil diff=evil\n*.log filter=x=y\n",
  });
  utimesSync(join(top, "a.txt"), 1, 1);
  const keys = [
    '[filter "evil"]\n\tclean',
    '[filter "evil"]\n\tprocess',
    '[filter "x=y"]\n\tclean',
    "[core]\n\tfsmonitor",
    '[diff "evil"]\n\ttextconv',
    "[core]\n\tsshCommand",
  ];
  plant(top, keys.map((key) => `${key} = "touch ${ran}; cat"\n`).join(""));

  test("reading the state of the repository runs none of them", async () => {
    for (const program of ["a.txt", "b=c.log"]) utimesSync(join(top, program), 2, 2);
    await changedFiles(top);
    readGitSync(top, ["diff-files", "--name-only"]);
    expect(existsSync(ran)).toBe(false);
  });

  test("the repository is not plain, so git contacts no remote unasked", () => {
    expect(isPlainRepository(top)).toBe(false);
  });
});

test.each(["include.path", "includeIf.gitdir:**.path", "includeIf.hasconfig:remote.*.url:**.path"])(
  "settings with %s are remembered until the file appears that it names",
  async (key) => {
    const top = newFolder();
    git(top, "init", "-q");
    git(top, "config", "remote.origin.url", "https://example.com/a.git");
    git(top, "config", key, "../more.cfg");
    const isRemembered = (): boolean => {
      const settings = gitSettings(top);
      return settings === gitSettings(top);
    };
    await expect.poll(isRemembered).toBe(true);
    write(top, { "more.cfg": "[core]\n\tfsmonitor = x\n" });
    expect(gitSettings(top)).toContainEqual({ scope: "local", key: "core.fsmonitor", value: "x" });
  },
);

test("a remote in git's older places makes a repository not plain", () => {
  const top = newFolder();
  git(top, "init", "-q");
  git(top, "remote", "add", "origin", "https://example.com/a.git");
  expect(isPlainRepository(top)).toBe(true);
  mkdirSync(join(top, ".git/remotes"));
  writeFileSync(join(top, ".git/remotes/x"), "URL: git@evil.example:a\nPull: refs/heads/*:refs/remotes/x/*\n");
  expect(isPlainRepository(top)).toBe(false);
});
