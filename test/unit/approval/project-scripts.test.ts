import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { hasHooks } from "../../../agent-core/approval/repository.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { git, LAYOUTS, newFolder, write } from "../../support/git-repositories.ts";

function folderWith(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "hermes-scripts-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

function verdict(command: string, root: string, cwd = root) {
  return judgeCommand(command, { cwd, roots: [root], home: "/home/a", hermesHome: "/home/a/.hermes", resolvePath });
}

test("make asks without a sandbox, because no makefile is read", () => {
  const root = folderWith({ Makefile: "all:\n\trm -rf src\n" });
  expect(verdict("make", root)).toMatchObject({ level: "ask", isContained: true, runsProject: true });
  expect(verdict("make deploy", root)).toMatchObject({ level: "ask", isContained: false });
});

test("a manifest that is too long is not passed over for another one", () => {
  const long = "x".repeat(70_000);
  const root = folderWith({
    "package.json": JSON.stringify({ scripts: { test: "echo hi" } }),
    "sub/package.json": JSON.stringify({ scripts: { test: "rm -rf src" }, long }),
  });
  expect(verdict("npm test", root, join(root, "sub"))).toMatchObject({ runsProject: true });
});

test.each(["npm test", "npm t", "npm tst", "pnpm t", "yarn test"])(
  "a short name of the test script is read as it: %s",
  (command) => {
    const root = folderWith({ "package.json": JSON.stringify({ scripts: { test: "rm -rf src" } }) });
    expect(verdict(command, root).reasons).toEqual(["Deletes src recursively"]);
  },
);

test("a linked worktree has the hooks and settings of its repository", () => {
  const tree = LAYOUTS["a linked worktree"](newFolder());
  expect(hasHooks(tree)).toBe(false);
  write(join(tree, "../repo/.git/hooks"), { "pre-commit": "#!/bin/sh\n" });
  expect(hasHooks(tree)).toBe(true);
});

test.each([
  ["services:\n  web:\n    image: a\n    env_file: .env\n    ports: ['1:1']\n", true],
  ["services:\n  web:\n    env_file:\n      - ./web.env\n      - sub/db.env\n    image: a\n", true],
  ["services:\n  web:\n    env_file:\n      - web.env\n      - /home/someone/.ssh/id_rsa\n    image: a\n", false],
  ["services:\n  web:\n    env_file: ../../other/.env\n", false],
  ["services:\n  web:\n    label_file: [~/.netrc]\n", false],
  ["services:\r\n  web:\r\n    env_file: .env # local\r\n    image: a\r\n", true],
  ["services:\n  web:\n    env_file: [.env, '.env.local']\n    image: a\n", true],
  ["services:\n  web:\n    env_file:\n      - path: .env\n        required: false\n    image: a\n", true],
  ["# include: no\nservices:\n  web:\n    command: rsync --include x\n    extends: { service: base }\n", true],
  ["services:\n  web:\n    env_file:\n      - .env\n\n      # next\n      - /etc/x\n    image: a\n", false],
  ["services:\n  web:\n    env_file:\n      - path: .env\n        required: false\n      - path: /etc/x\n", false],
  ["services:\n  web:\n    env_file: [.env, ../../x]\n", false],
  ["services:\n  web:\n    env_file: a\n      /../../../etc/x\n    image: a\n", false],
  ['services:\n  web:\n    env_file: "a\n      # /../../etc/x"\n    image: a\n', false],
  ["x: &k include\n*k : [https://evil.example/data.git]\n", false],
  ["services:\n  web:\n    extends:\n      service: a\n      file: /srv/x.yml\n", false],
  ["include:\n  - https://evil.example/data.git\n", false],
  ['"incl\\u0075de": /etc/hosts\n', false],
  ["services:\n  web:\n    extends: { file: /srv/x.yml, service: a }\n", false],
])("looking at a compose project asks unless it names no file elsewhere: %j", (text, isPlain) => {
  const root = folderWith({ "compose.yaml": text, "sub/a": "" });
  const level = isPlain ? "safe" : "ask";
  for (const command of ["docker compose ps", "cd sub && docker-compose logs web", "docker compose config --services"])
    expect(verdict(command, root), command).toMatchObject({ level });
  const chosen = folderWith({ "compose.yaml": text, ".env": "COMPOSE_FILE=/srv/x.yml\n" });
  expect(verdict("docker compose ps", chosen).level).toBe("ask");
  const named = folderWith({ "compose.yaml": text, ".env": "COMPOSE_PROJECT_NAME=app\n# COMPOSE_FILE=x\n" });
  for (const command of ["docker compose -p app ps", "docker compose --profile dev -f compose.yaml ps"])
    expect(verdict(command, named), command).toMatchObject({ level });
});

test("npx asks for a tool that is not installed, which it would download, and for a chosen version", () => {
  const root = folderWith({
    "node_modules/.bin/jest": "#!/bin/sh\n",
    "node_modules/@a/tool/package.json": "{}",
    "sub/a": "",
  });
  for (const command of ["npx jest --ci", "cd sub && npx jest", "npm exec jest", "bunx jest"])
    expect(verdict(command, root), command).toMatchObject({ level: "safe", runsProject: true });
  for (const command of ["npx vitest run", "npx jest@29", "npx @a/tool", "npx ../jest", "pnpm dlx jest"])
    expect(verdict(command, root).level, command).toBe("ask");
  // In the sandbox the tool of a project fails without the network, and any other package asks for it.
  expect(verdict("npx vitest run", root).isContained).toBe(true);
  expect(verdict("npx @a/other", root).reach).toBe("network");
});

test("programs of the project run unasked where their verb tests or looks, and ask otherwise: they may publish", () => {
  const names = ["vercel", "surge", "gh-pages", "lt", "firebase", "tool"];
  const root = folderWith(Object.fromEntries(names.map((name) => [`node_modules/.bin/${name}`, "#!/bin/sh\n"])));
  for (const command of ["npx tool test", "npx firebase help", "pnpm exec tool lint", "uv run tool check"])
    expect(verdict(command, root), command).toMatchObject({ level: "safe", runsProject: true });
  const surge = ["npx surge dist x.surge.sh", "npx surge", "npx gh-pages -d dist", "npx lt --port 80"];
  const vercel = ["npx vercel --prod", "npx vercel build", "npx vercel ls --token $X", "npx vercel test x"];
  const firebase = ["npx firebase functions:delete x", "npx -y firebase status --json", "npx tool"];
  for (const command of [...surge, ...vercel, ...firebase]) expect(verdict(command, root).level, command).toBe("ask");
});

test.each([
  ["core.fsmonitor", "./watch.sh"],
  ["filter.x.clean", "./clean.sh"],
  ["filter.x.process", "sh -c y"],
  ["diff.pic.textconv", "./show.sh"],
  ["diff.external", "./diff.sh"],
  ["core.sshCommand", "./ssh.sh"],
  ["gpg.ssh.program", "./sign.sh"],
  ["merge.x.driver", "./merge.sh %A"],
])("git asks without a sandbox where the repository itself names a program: %s", (key, value) => {
  const root = LAYOUTS["a linked worktree"](newFolder());
  for (const command of ["git status", "git diff", "git -C . log -p", "git add -A", "git fetch"])
    expect(verdict(command, root).level, command).toBe("safe");
  git(root, "config", key, value);
  for (const command of ["git status", "git diff", "git -C . log -p", "git add -A", "git fetch"])
    expect(verdict(command, root), command).toMatchObject({ level: "ask", readOnly: false, isContained: true });
});

test("git asks for a hook that runs when it only reads, and not for settings that start nothing", () => {
  const root = LAYOUTS["a linked worktree"](newFolder());
  const harmless = { "core.fsmonitor": "true", "filter.lfs.clean": "git-lfs clean -- %f", "user.name": "a; b" };
  for (const [key, value] of Object.entries(harmless)) git(root, "config", key, value);
  expect(verdict("git status", root)).toMatchObject({ level: "safe", readOnly: true });
  write(join(root, "../repo/.git/hooks"), { "post-index-change": "#!/bin/sh\n" });
  expect(verdict("git status", root).level).toBe("ask");
});
