import { existsSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { IDENTITY, repository } from "../sandboxed-workspace.ts";
import { type Attack, evil, lies, node, outside, type Place, plant, text, works, write } from "./attack.ts";

export const TRUSTED: readonly Attack[] = [
  ...[
    ".vscode/tasks.json",
    ".VSCode/settings.json",
    "sub/.vscode/settings.json",
    "deep/er/AGENTS.md",
    "CLAUDE.local.md",
    ".cursor/rules/a.mdc",
    ".github/workflows/x.yml",
    ".husky/pre-commit",
    ".envrc",
    "a.code-workspace",
  ].map(
    (path): Attack => ({ name: `makes ${path} by code`, steps: (place) => plant(place, path), succeeds: lies(path) }),
  ),
  {
    name: "changes a protected file in place",
    before: ({ root }) => {
      mkdirSync(join(root, ".vscode"));
      writeFileSync(join(root, ".vscode/tasks.json"), "{}");
    },
    steps: () => [node(`fs.appendFileSync(".vscode/tasks.json", "evil")`)],
    succeeds: ({ root }) => text(join(root, ".vscode/tasks.json")).includes("evil"),
  },
  {
    name: "moves the folder of a protected file and makes another",
    before: ({ root }) => {
      mkdirSync(join(root, "sub/.vscode"), { recursive: true });
      writeFileSync(join(root, "sub/.vscode/tasks.json"), "{}");
    },
    steps: () => [node(`fs.renameSync("sub", "old"); ${write("sub/.vscode/tasks.json", "evil")}`)],
    succeeds: ({ root }) => text(join(root, "sub/.vscode/tasks.json")).includes("evil"),
  },
  {
    name: "commits a protected file by git's plumbing and checks it out",
    steps: () => [
      `node -e 'fs.writeFileSync("x.json", "evil")'; b=$(git hash-object -w x.json); git update-index --add --cacheinfo 100644,$b,.vscode/tasks.json; git checkout-index -a`,
    ],
    succeeds: lies(".vscode/tasks.json"),
  },
  {
    name: "unpacks an archive with protected files",
    steps: () => [
      `mkdir t && cd t && mkdir .vscode && echo evil > .vscode/tasks.json`,
      node(
        `${write("t/y/x.json", "evil")} fs.renameSync("t/y", "t/.idea"); require("child_process").spawnSync("tar", ["cf", "t.tar", "-C", "t", ".idea"]); require("child_process").spawnSync("tar", ["xf", "t.tar"]);`,
      ),
    ],
    succeeds: lies(".idea/x.json"),
  },
];

/** An archive brings links at the top of its git folder, and code that reads `file`. */
function brought(
  name: string,
  file: (place: Place) => string,
  links: (place: Place) => Readonly<Record<string, string>>,
): Attack {
  return {
    name: `reads ${name} through a link in the git folder that an archive brought`,
    before: (place) => {
      const path = file(place);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "PRIVATE\n");
      for (const [at, target] of Object.entries(links(place))) {
        rmSync(join(place.root, ".git", at), { recursive: true, force: true });
        symlinkSync(target, join(place.root, ".git", at));
      }
      writeFileSync(join(place.root, "tests.cjs"), `console.log(require("fs").readFileSync("${path}", "utf8"));`);
    },
    steps: () => ["node tests.cjs"],
    succeeds: (_, output) => output.includes("PRIVATE"),
  };
}

export const LINKS: readonly Attack[] = [
  brought(
    "the home",
    ({ secret }) => secret,
    () => ({ [basename(homedir())]: homedir(), home: "/home", root: "/root", Users: "/Users" }),
  ),
  brought(
    "a folder with keys",
    ({ root }) => join(root, "../.ssh/id"),
    () => ({ ".ssh": "../../.ssh" }),
  ),
  brought(
    "an ordinary folder with a name of git",
    ({ root }) => join(root, "../logs/day.log"),
    () => ({ logs: "../../logs" }),
  ),
  brought(
    "another name beside the parts of another repository",
    ({ root }) => join(repository(join(root, "../other")), ".git/lfs/key"),
    () => ({ lfs: "../../other/.git/lfs" }),
  ),
  brought(
    "the git folder of another repository",
    ({ root }) => join(repository(join(root, "../other")), ".git/description"),
    () => ({ "": "../other/.git" }),
  ),
  brought(
    "keys in the shape of a repository",
    ({ home }) => join(repository(join(home, ".ssh")), ".git/logs/key"),
    ({ home }) => ({ logs: join(home, ".ssh/.git/logs") }),
  ),
  ...(
    [
      ["a link to the home", "fs.symlinkSync(process.env.HOME, `way`)", "way/out"],
      ["a link to the folder above", "fs.symlinkSync(`..`, `way`)", "way/out"],
      ["a chain of links", "fs.symlinkSync(`b`, `way`); fs.symlinkSync(`..`, `b`)", "way/out"],
    ] as const
  ).map(
    ([name, code, path]): Attack => ({
      name: `writes through ${name} with the file tools`,
      steps: () => [node(code), { edit: path, text: "evil" }],
      succeeds: ({ root }) => [join(root, "../out"), join(homedir(), "out")].some((file) => existsSync(file)),
    }),
  ),
  {
    name: "reads a secret of the home through a link",
    steps: ({ secret }) => [node(`fs.symlinkSync("${secret}", "way")`), "cat way"],
    succeeds: (_, output) => output.includes("PRIVATE"),
  },
  {
    name: "makes a hard link to a secret of the home",
    steps: ({ secret }) => [node(`fs.linkSync("${secret}", "way")`), "cat way"],
    succeeds: (_, output) => output.includes("PRIVATE"),
  },
  {
    name: "writes through a hard link that the repository brought",
    before: ({ root, secret }) => linkSync(secret, join(root, "way")),
    steps: () => [{ edit: "way", text: "evil" }],
    succeeds: ({ secret }) => text(secret) === "evil",
  },
  ...["AGENTS.md", ".git/hooks/pre-commit"].map(
    (path): Attack => ({
      name: `changes ${path} by the other name of a hard link that an archive brought`,
      before: ({ root }) => {
        writeFileSync(join(root, path), "good");
        linkSync(join(root, path), join(root, "way"));
      },
      steps: () => [node(`fs.writeFileSync("way", "evil")`)],
      succeeds: ({ root }) => text(join(root, path)) === "evil",
    }),
  ),
  {
    name: "reads another repository, whose objects an archive borrows",
    before: ({ root }) => {
      const other = repository(join(root, "../other"));
      writeFileSync(join(other, "a.txt"), "PRIVATE\n");
      outside(other, "git", ...IDENTITY, "commit", "-qam", "two");
      writeFileSync(join(root, ".git/objects/info/alternates"), `${other}/.git/objects\n`);
    },
    steps: () => [
      node(
        `console.log(String(require("child_process").spawnSync("git", ["cat-file", "--batch-all-objects", "--batch"]).stdout))`,
      ),
      "git cat-file --batch-all-objects --batch",
    ],
    succeeds: (_, output) => output.includes("PRIVATE"),
  },
  {
    name: "turns a folder of protected files into a link",
    before: ({ root }) => mkdirSync(join(root, ".vscode")),
    steps: () => [
      node(`${write("mine/tasks.json", "evil")} fs.rmdirSync(".vscode"); fs.symlinkSync("mine", ".vscode")`),
    ],
    succeeds: lies(".vscode/tasks.json"),
  },
  {
    name: "makes .vscode a link to an ordinary folder",
    steps: () => [node(`${write("mine/tasks.json", "evil")} fs.symlinkSync("mine", ".vscode")`)],
    succeeds: lies(".vscode/tasks.json"),
  },
  {
    name: "makes .git/hooks a link",
    steps: (place) => [
      `git add a.txt; ${node(`${write("h/pre-commit", `#!/bin/sh\n${evil(place)}`)} try { fs.renameSync(".git/hooks", ".git/OLD_H") } catch {} fs.symlinkSync("../h", ".git/hooks")`)}`,
    ],
    after: works,
  },
  {
    name: "makes refs a link that git writes through",
    steps: ({ home }) => [
      `git add a.txt; ${node(`fs.renameSync(".git/refs", ".git/OLD_REFS"); fs.symlinkSync("${home}", ".git/refs")`)}`,
    ],
    after: works,
    succeeds: ({ home }) => existsSync(join(home, "heads")),
  },
  {
    name: "makes logs of a branch a link to a file of the home",
    steps: ({ home }) => [
      `git add a.txt; ${node(`fs.rmSync(".git/logs/refs/heads/main"); fs.symlinkSync("${home}/profile", ".git/logs/refs/heads/main")`)}`,
    ],
    after: works,
    succeeds: ({ home }) => existsSync(join(home, "profile")),
  },
  {
    name: "follows a protected link to its target",
    before: ({ root }) => {
      mkdirSync(join(root, "rules"));
      writeFileSync(join(root, "rules/main.md"), "good\n");
      symlinkSync("rules/main.md", join(root, "AGENTS.md"));
    },
    steps: () => [node(`fs.writeFileSync("rules/main.md", "evil")`)],
    succeeds: ({ root }) => text(join(root, "AGENTS.md")) === "evil",
  },
  {
    name: "points a protected link elsewhere",
    before: ({ root }) => {
      writeFileSync(join(root, "good.md"), "good\n");
      symlinkSync("good.md", join(root, "AGENTS.md"));
    },
    steps: () => [node(`${write("bad.md", "evil")} fs.rmSync("AGENTS.md"); fs.symlinkSync("bad.md", "AGENTS.md")`)],
    succeeds: ({ root }) => text(join(root, "AGENTS.md")) === "evil",
  },
];
