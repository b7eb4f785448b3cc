import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { Grants } from "../../../agent-core/approval/grants.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { withPackages } from "./support/packages.ts";

const scopeOf = (root: string) => ({
  cwd: root,
  roots: [root],
  home: "/home/someone",
  hermesHome: "/home/someone/.hermes",
  resolvePath: withPackages(root),
});
const newGrants = (): Grants => new Grants(mkdtempSync(join(tmpdir(), "hermes-grants-")), () => undefined);

test("code that the agent wrote asks once in a workspace before it runs; what it does not run does not", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-own-code-")));
  const grants = newGrants();
  const written = new Set<string>();
  const scope = scopeOf(root);
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
  void grants.keep(asked.grant, "session");
  expect([run("npx vitest run").kind, run("npx jest").kind]).toEqual(["allow", "allow"]);
});

test.each([
  ["pytest /tmp/w/t.py", "/tmp/w/t.py"],
  ["python3 -m unittest ../../../../../../../../tmp/w/t.py", "/tmp/w/t.py"],
  ["npx vitest run --config=/tmp/w/v.ts", "/tmp/w/v.ts"],
  ["eslint -c/tmp/w/rules.txt src", "/tmp/w/rules.txt"],
  ["gradle -I /tmp/w/i.gradle help", "/tmp/w/i.gradle"],
  ["cmake -S /tmp/w -B build", "/tmp/w/CMakeLists.txt"],
  ["cargo test --manifest-path /tmp/w/Cargo.toml", "/tmp/w/build.rs"],
  ["cd /tmp/w && go test ./...", "/tmp/w/x_test.go"],
  ["npx jest", "__snapshots__/a.snap"],
  ["python3 -m terraform", "terraform.py"],
  ["python -m ruff --version", "ruff.py"],
  ["cmake --build build", "CMakeLists.txt"],
  ["cargo build", "Cargo.lock"],
  ["source /tmp/w/env/bin/activate", "/tmp/w/env/bin/activate"],
  ["npx tailwindcss -i a.css -o b.css", "a.css"],
  ["pytest", "templates/page.html"],
])("a tool of the project asks before it runs what the agent wrote, also elsewhere: %s", (command, path) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-own-code-")));
  const written = new Set<string>();
  const scope = scopeOf(root);
  const context = { mode: "code", scope, trusted: true, grants: newGrants(), written } as const;
  const kind = () => decide({ kind: "command", command, cwd: root }, context).kind;
  const before = kind();
  written.add("/tmp/other/log.txt").add(join(root, "notes.md")).add(resolve(root, path));
  expect([before, kind()]).toEqual(["allow", "ask"]);
});

test.each([
  "npx vitest run > /tmp/w/out.txt 2>&1; tail -20 /tmp/w/out.txt",
  "npm test 2>&1 | tee /tmp/w/test.txt | tail -5",
  "pytest -q > /tmp/w/out.txt; grep FAILED /tmp/w/out.txt",
  "npm test && git commit -F /tmp/w/msg.txt",
])("a tool of the project does not ask for files elsewhere that it does not read: %s", (command) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-own-code-")));
  const written = new Set(["out.txt", "test.txt", "msg.txt"].map((name) => `/tmp/w/${name}`));
  const scope = scopeOf(root);
  const context = { mode: "code", scope, trusted: true, grants: newGrants(), written } as const;
  expect(decide({ kind: "command", command, cwd: root }, context)).toMatchObject({ kind: "allow" });
});
