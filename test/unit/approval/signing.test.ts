import { expect, test } from "vitest";
import { judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { branches, git, newFolder } from "../../support/git-repositories.ts";

const folder = newFolder();
branches(folder);

test.each([
  // setting, command, reach
  ["commit.gpgsign=true", "git commit -m x", "outside"],
  ["commit.gpgSign=on", "git add -A && git commit -am x && git log -1", "outside"],
  ["commit.gpgsign=1", "git merge --no-ff other", "outside"],
  ["commit.gpgsign=true", "git -C . cherry-pick other", "outside"],
  ["commit.gpgsign=true", "git rebase other", "outside"],
  ["commit.gpgsign=true", "git -c commit.gpgsign=false commit -m x", "inside"],
  ["commit.gpgsign=true", "git commit --no-gpg-sign -m x", "inside"],
  ["commit.gpgsign=true", "git merge --abort", "inside"],
  ["commit.gpgsign=true", "git commit -s -m signed-off --no-gpg-sign", "inside"],
  ["commit.gpgsign=true", "git status && git add -A", "inside"],
  ["commit.gpgsign=false", "git commit -s -m x", "inside"],
  ["commit.gpgsign=false", "git commit -S -m x", "outside"],
  ["commit.gpgsign=no", "git -c commit.gpgSign=true commit -m x", "outside"],
  ["commit.gpgsign=yes", "git -c commit.gpgsign=true -c commit.gpgsign=false commit -m x", "inside"],
  ["commit.gpgsign=0", "git commit --gpg-sign=0A46826A -m x", "outside"],
  ["tag.gpgsign=true", "git tag v1", "outside"],
  ["tag.gpgsign=true", "git tag --list", "inside"],
  ["tag.gpgsign=true", "git tag --no-sign v1", "inside"],
  ["tag.gpgsign=false", "git tag -s v1 -m x", "outside"],
  ["tag.forceSignAnnotated=true", "git tag -a v1 -m x", "outside"],
  ["tag.forceSignAnnotated=true", "git tag v1", "inside"],
  ["commit.gpgsign=true", "git am x.patch", "outside"],
  ["commit.gpgsign=true", "git am --abort", "inside"],
  ["commit.gpgsign=true", "git merge --no-commit other", "inside"],
  ["commit.gpgsign=true", "git commit --dry-run", "inside"],
  ["user.signingkey=~/.ssh/id.pub", "git commit -m x", "inside"],
])("a commit or tag leaves the sandbox only where it is signed: %s, %s", (setting, command, reach) => {
  git(folder, "config", ...(setting.split("=") as [string, string]));
  const scope = { cwd: folder, roots: [folder], home: "/home/a", hermesHome: "/home/a/.hermes", resolvePath };
  expect(judgeCommand(command, scope).reach).toBe(reach);
  git(folder, "config", "--unset", setting.replace(/=.*/, ""));
});
