/** Real repositories in each layout that git has, for tests of what runs in them. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const OWN =
  "user.name=A B|user.email=a@b.example|init.defaultBranch=main|protocol.file.allow=always|commit.gpgsign=false";

/** Output of git in `folder`; throws when it fails. */
export function git(folder: string, ...args: readonly string[]): string {
  const settings = OWN.split("|").flatMap((each) => ["-c", each]);
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" };
  return execFileSync("git", [...settings, ...args], { cwd: folder, encoding: "utf8", env, stdio: "pipe" }).trim();
}

export function newFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "hermes-git-")));
}

/** Writes files below `folder`, and returns it. */
export function write(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Commits all files of `folder` with `files` in it. */
export function commit(folder: string, message: string, files: Readonly<Record<string, string>> = {}): void {
  write(folder, files);
  git(folder, "add", "--all", "--force");
  git(folder, "commit", "-q", "--allow-empty", "-m", message);
}

/** Commands in the sandbox have no settings of the user. */
function asSomebody(folder: string): void {
  git(folder, "config", "user.name", "A B");
  git(folder, "config", "user.email", "a@b.example");
}

/** A folder that git takes for a repository, with these settings. */
export function settingsOnly(folder: string, settings: string, head = "ref: refs/heads/main\n"): string {
  for (const part of ["objects", "refs"]) mkdirSync(join(folder, part), { recursive: true });
  write(folder, { config: settings, HEAD: head });
  return folder;
}

const MAIN = { "a.txt": "one\n", "CLAUDE.md": "main\n", ".github/workflows/ci.yml": "main\n" };
const OTHER = { "a.txt": "two\n", "CLAUDE.md": "other\n", "AGENTS.md": "new\n" };

/**
 * Branches of each layout: `main`; `other`, which changes CLAUDE.md, makes AGENTS.md and deletes the workflow; `plain`, which
 * changes only b.txt.
 */
export function branches(folder: string): void {
  // Files that are there already belong to the first commit.
  if (readdirSync(folder).length > 0) return void withBranches(folder);
  template ??= withBranches(newFolder());
  cpSync(template, folder, { recursive: true });
  git(folder, "update-index", "-q", "--refresh"); // it holds the inodes of the template's files
}

/** Repository with the branches, of which the others are copies. */
let template: string | undefined;

function withBranches(folder: string): string {
  git(folder, "init", "-q");
  asSomebody(folder);
  commit(folder, "main", MAIN);
  git(folder, "checkout", "-q", "-b", "other");
  git(folder, "rm", "-q", ".github/workflows/ci.yml");
  commit(folder, "other", OTHER);
  git(folder, "checkout", "-q", "-b", "plain", "main");
  commit(folder, "plain", { "b.txt": "plain\n" });
  git(folder, "checkout", "-q", "main");
  return folder;
}

/** Makes each layout in an empty folder; returns the work tree, on `main` or a branch of the same commit. */
export const LAYOUTS = {
  "a plain repository": (base) => {
    branches(base);
    return base;
  },
  "a folder of a repository": (base) => {
    branches(base);
    mkdirSync(join(base, "sub"));
    return join(base, "sub");
  },
  "a linked worktree": (base) => linked(base, (tree) => tree),
  "a linked worktree with relative paths": (base) =>
    linked(base, (tree) => {
      write(tree, { ".git": "gitdir: ../repo/.git/worktrees/tree\n" });
      write(join(base, "repo/.git/worktrees/tree"), { gitdir: "../../../../tree/.git\n" });
      return tree;
    }),
  "a worktree of a bare repository": (base) => {
    branches(made(base, "from"));
    git(base, "clone", "-q", "--bare", "from", ".bare");
    write(base, { ".git": "gitdir: ./.bare\n" });
    git(base, "worktree", "add", "-q", "-b", "work", "tree", "main");
    return join(base, "tree");
  },
  "a separate git folder": (base) => {
    branches(made(base, "from"));
    git(base, "clone", "-q", "--separate-git-dir", "store.git", "from", "tree");
    for (const branch of ["other", "plain"]) git(join(base, "tree"), "branch", branch, `origin/${branch}`);
    return join(base, "tree");
  },
  "a clone that borrows objects": (base) => {
    branches(made(base, "from"));
    git(base, "clone", "-q", "--shared", "from", "tree");
    return withBranchesOfRemote(join(base, "tree"));
  },
  "a submodule": (base) => {
    branches(made(base, "from"));
    git(made(base, "outer"), "init", "-q");
    git(join(base, "outer"), "submodule", "--quiet", "add", join(base, "from"), "inner");
    return withBranchesOfRemote(join(base, "outer/inner"));
  },
  "a submodule of a linked worktree": (base) => {
    branches(made(base, "from"));
    const outer = made(base, "outer");
    git(outer, "init", "-q");
    git(outer, "submodule", "--quiet", "add", join(base, "from"), "inner");
    commit(outer, "with inner");
    git(outer, "worktree", "add", "-q", "-b", "work", "../tree");
    git(join(base, "tree"), "submodule", "--quiet", "update", "--init");
    return withBranchesOfRemote(join(base, "tree/inner"));
  },
} satisfies Readonly<Record<string, (base: string) => string>>;

function withBranchesOfRemote(tree: string): string {
  asSomebody(tree);
  git(tree, "checkout", "-q", "-B", "main");
  for (const branch of ["other", "plain"]) git(tree, "branch", branch, `origin/${branch}`);
  return tree;
}

function made(base: string, name: string): string {
  mkdirSync(join(base, name), { recursive: true });
  return join(base, name);
}

function linked(base: string, place: (tree: string) => string): string {
  branches(made(base, "repo"));
  git(join(base, "repo"), "worktree", "add", "-q", "-b", "work", join(base, "tree"), "main");
  return place(join(base, "tree"));
}
