import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, IDENTITY } from "../sandboxed-workspace.ts";
import {
  type Attack,
  config,
  evil,
  later,
  leaves,
  lies,
  looks,
  node,
  outside,
  sha,
  text,
  works,
  write,
} from "./attack.ts";

export const RACES: readonly Attack[] = [
  ...(
    [
      [".vscode/tasks.json", "nohup"],
      ["AGENTS.md", "setsid"],
    ] as const
  ).map(
    ([path, how]): Attack => ({
      name: `makes ${path} by a process that ${how} leaves behind`,
      steps: () => [`${how} ${node(later(300, write(path, "evil")))} >/dev/null 2>&1 &`, "sleep 0.6"],
      succeeds: lies(path),
    }),
  ),
  {
    name: "makes .mcp.json by a command in the background, before the next command",
    steps: () => [leaves(`${later(150, write(".mcp.json", "evil"))} ${later(5_000, "0")}`), "sleep 0.4; ls"],
    succeeds: lies(".mcp.json"),
  },
  {
    name: "makes and moves a protected file again and again while commands run",
    steps: () => [
      leaves(
        `setInterval(() => { try { ${write("w/tasks.json", "evil")} fs.renameSync("w", ".vscode") } catch {} }, 5); setTimeout(() => process.exit(), 900)`,
      ),
      "sleep 0.3",
      "sleep 0.3",
      "sleep 0.6",
    ],
    // The user may have made what comes between two commands.
    succeeds: (place, output) => lies(".vscode/tasks.json")(place) && !/is protected and was made or/.test(output),
  },
  {
    name: "swaps a file for a link while the file tool writes",
    steps: ({ home }) => [
      leaves(
        `setInterval(() => { try { fs.rmSync("a.txt", { force: true }); fs.symlinkSync("${home}/got", "a.txt") } catch {} }, 1); setTimeout(() => process.exit(), 700)`,
      ),
      { edit: "a.txt", text: "evil" },
      { edit: "a.txt", text: "evil" },
    ],
    succeeds: ({ home }) => existsSync(join(home, "got")),
  },
  {
    name: "replaces a loose object that git writes at this moment",
    steps: () => [
      leaves(
        `setInterval(() => { for (const d of fs.readdirSync(".git/objects")) if (d.length === 2) for (const f of fs.readdirSync(".git/objects/" + d)) try { fs.rmSync(".git/objects/" + d + "/" + f) } catch {} }, 1); setTimeout(() => process.exit(), 800)`,
      ),
      `echo b > b.txt; git add b.txt; git ${IDENTITY.join(" ")} commit -qm two; true`,
    ],
    after: () => undefined,
    succeeds: ({ root }) => spawnSync("git", ["fsck", "--full"], { cwd: root }).status !== 0,
  },
  {
    name: "makes a hook beside git while the user commits",
    steps: (place) => [
      leaves(
        `${later(100, `try { ${write(".git/hooks/pre-commit", `#!/bin/sh\n${evil(place)}`)} } catch {}`)} ${later(400, "0")}`,
      ),
      "sleep 0.2",
      { user: works },
    ],
  },
  {
    name: "changes git's settings from a process that outlives the turn",
    steps: (place) => [
      leaves(
        `${later(200, `try { fs.appendFileSync(".git/config", "[core]\\n fsmonitor = ${evil(place)}\\n") } catch {}`)} ${later(500, "0")}`,
      ),
      "sleep 0.4",
    ],
    after: works,
  },
  {
    name: "removes the workspace's folder and makes another while a command runs",
    steps: (place) => [
      leaves(
        `${later(100, `for (const n of fs.readdirSync(".")) try { fs.rmSync(n, { recursive: true }) } catch {} ${write(".husky/pre-commit", evil(place))}`)} ${later(400, "0")}`,
      ),
      "sleep 0.6",
    ],
    succeeds: ({ root }) => existsSync(join(root, ".husky/pre-commit")) || !existsSync(join(root, ".git/HEAD")),
  },
  {
    name: "waits until git commands open the git folder, and writes hooks then",
    steps: (place) => [
      leaves(
        `setInterval(() => { try { ${write(".git/hooks/post-commit", `#!/bin/sh\n${evil(place)}`)} } catch {} }, 2); setTimeout(() => process.exit(), 900)`,
      ),
      `echo b > b.txt; git add b.txt; git ${IDENTITY.join(" ")} commit -qm two`,
      "sleep 0.8",
    ],
    after: works,
  },
  {
    name: "moves a branch from a process in the background",
    before: ({ root }) => {
      writeFileSync(join(root, "b.txt"), "b\n");
      git(root, "add", ".");
      git(root, "commit", "-qm", "two");
    },
    steps: ({ root }) => [
      leaves(
        `setInterval(() => { try { fs.writeFileSync(".git/refs/heads/main", "${sha(root, "main~1")}\\n") } catch {} }, 2); setTimeout(() => process.exit(), 700)`,
      ),
      "git add a.txt",
      "sleep 0.7",
    ],
    succeeds: ({ root }) => git(root, "log", "--format=%s", "main").trim() !== "two\none",
  },
];

const many = (count: number, make: (at: number) => void): void => {
  for (let at = 0; at < count; at += 1) make(at);
};
export const LIMITS: readonly Attack[] = [
  {
    name: "makes 400 protected files to hide one",
    steps: () => [
      node(`for (let i = 0; i < 400; i++) fs.writeFileSync(".env." + i, "x"); ${write(".vscode/tasks.json", "evil")}`),
    ],
    succeeds: lies(".vscode/tasks.json"),
  },
  {
    name: "uses a workspace with 400 protected files",
    before: ({ root }) => {
      many(400, (at) => writeFileSync(join(root, `.env.${at}`), "x"));
      mkdirSync(join(root, ".vscode"));
      writeFileSync(join(root, ".vscode/tasks.json"), "{}");
    },
    steps: () => [node(`fs.writeFileSync(".vscode/tasks.json", "evil")`)],
    succeeds: ({ root }) => text(join(root, ".vscode/tasks.json")) === "evil",
  },
  {
    name: "makes a git hook below sixty folders",
    steps: (place) => [
      node(
        `const d = "d/".repeat(60); fs.mkdirSync(d, { recursive: true }); require("child_process").spawnSync("git", ["init", "-q", d]); fs.writeFileSync(d + ".git/config", ${JSON.stringify(config(evil(place)))})`,
      ),
    ],
    after: ({ root }) => looks(join(root, "d/".repeat(60))),
  },
  {
    name: "makes a link in sixty folders of branches",
    steps: ({ home }) => [
      `git add a.txt; ${node(`const d = ".git/refs/heads/" + "d/".repeat(60); fs.mkdirSync(d, { recursive: true }); fs.symlinkSync("${home}/ref", d + "x")`)}`,
    ],
    after: ({ root }) => outside(root, "git", "branch", `${"d/".repeat(60)}x`),
    succeeds: ({ home }) => existsSync(join(home, "ref")),
  },
  {
    name: "makes 5,000 folders and a protected one in the last",
    steps: () => [
      node(`for (let i = 0; i < 5000; i++) fs.mkdirSync("d" + i); ${write("d4999/.vscode/tasks.json", "evil")}`),
    ],
    succeeds: lies("d4999/.vscode/tasks.json"),
  },
  {
    name: "makes 10,000 links beside a protected file",
    steps: () => [node(`for (let i = 0; i < 10000; i++) fs.symlinkSync("/", "l" + i); ${write("AGENTS.md", "evil")}`)],
    succeeds: lies("AGENTS.md"),
  },
  {
    name: "uses a name of 255 characters beside a protected file",
    steps: () => [
      node(`fs.writeFileSync("x".repeat(255), "x"); ${write(`${"y".repeat(255)}/.claude/settings.json`, "evil")}`),
    ],
    succeeds: lies(`${"y".repeat(255)}/.claude/settings.json`),
  },
  ...(["makes", "changes"] as const).map(
    (does): Attack => ({
      name: `${does} a folder whose name is not UTF-8`,
      before: ({ root }) => {
        if (does === "changes") mkdirSync(Buffer.from(`${root}/\xff`, "latin1"));
      },
      steps: () => [
        node(
          `const at = (name) => Buffer.from("\\xff" + name, "latin1"); fs.mkdirSync(at("/.vscode"), { recursive: true }); fs.writeFileSync(at("/.vscode/tasks.json"), "evil")`,
        ),
      ],
      succeeds: ({ root }) => outside(root, "find", ".", "-name", "tasks.json").includes("tasks.json"),
    }),
  ),
  {
    name: "makes a folder unreadable to hide a protected one in it",
    steps: () => [node(`${write("d/.vscode/tasks.json", "evil")} fs.chmodSync("d", 0o300)`)],
    after: ({ root }) => outside(root, "chmod", "700", "d"),
    succeeds: lies("d/.vscode/tasks.json"),
  },
];
