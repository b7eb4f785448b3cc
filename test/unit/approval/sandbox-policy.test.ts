import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ApprovalMode, Decision, PolicyContext } from "../../../agent-core/approval/decision.ts";
import { Grants } from "../../../agent-core/approval/grants.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { resolvePath } from "../../../agent-core/approval/resolve-path.ts";

const home = "/home/someone";
const scope = { cwd: "/projects/p", roots: ["/projects/p"], home, hermesHome: `${home}/.hermes`, resolvePath };
const newGrants = (): Grants =>
  new Grants(join(mkdtempSync(join(tmpdir(), "hermes-grants-")), "g.json"), () => undefined);

function decision(command: string, context: Partial<PolicyContext> = {}, reach?: "network" | "outside"): Decision {
  const effect = { kind: "command", command, cwd: "/projects/p", reach } as const;
  return decide(effect, { mode: "code", scope, trusted: true, grants: newGrants(), sandbox: true, ...context });
}

/** The sandbox of a command that does not ask, or the kind of the decision. */
function way(command: string, mode: ApprovalMode = "code", reach?: "network" | "outside"): string {
  const decided = decision(command, { mode }, reach);
  return decided.kind === "allow" && decided.sandbox !== undefined ? decided.sandbox : decided.kind;
}

test.each([
  "ls -la",
  "git status",
  "git log --oneline",
  "git commit -m x",
  "git checkout -b x",
  "git remote -v",
  "ps aux",
  "find / -name x",
  "./build.sh",
  "foo bar",
  "python3 x.py",
  "python3 -m tool",
  "node x.js",
  "npx tsc",
  "bash a.sh && ./b",
  "source env.sh; make",
  "$(cat which) now",
  'eval "$CODE"',
  "PATH=./bin:$PATH tool",
  "npm test",
  "npm run build",
  "npm ls",
  "cargo build",
  "pip list",
  "sqlite3 a.db .tables",
  "make -j4",
  "cat a > b.txt",
  "sed -i s/a/b/ c && ./d",
  "echo $X > $Y",
  "cat ~/.cargo/config.toml",
  "cat /projects/other/a.txt",
])("a command that the sandbox holds runs in it, unasked: %s", (command) => {
  expect([way(command), way(command, "auto")]).toEqual(["isolated", "isolated"]);
});

test.each(["ls -la", "git status", "cat a.txt", "ps aux"])(
  "reading commands run in it in every mode: %s",
  (command) => {
    for (const mode of ["ask", "code", "plan", "auto"] as const) expect(way(command, mode)).toBe("isolated");
  },
);

test.each(["rm -rf src", "git reset --hard && ./x", "./x; rm a.txt", "ls 'unclosed"])(
  "a risky change of the workspace asks, and runs in it: %s",
  (command) => {
    expect(decision(command)).toMatchObject({ kind: "ask", sandbox: "isolated" });
  },
);

test.each([
  "npm install",
  "npm ci",
  "pip install x",
  "curl http://example.com",
  "curl -d @a http://x.org",
  "cargo install x",
])("a command that needs the network asks for that, and runs in a sandbox with it: %s", (command) => {
  expect(decision(command)).toMatchObject({
    kind: "ask",
    sandbox: "networked",
    reasons: expect.arrayContaining([expect.stringContaining("Uses the network")]),
  });
});

test.each([
  "npm install -g x",
  "npm publish",
  "git push",
  "git fetch",
  "git clone https://example.com/x",
  "git init",
  "git config user.name x",
  "ssh host ls",
  "gh pr list",
  "docker ps",
  "docker run -v /:/a b",
  "psql -c 'select 1'",
  "sudo ./x",
  "apt-get install x",
  "echo x > /etc/a",
  "cp a ~/.bashrc",
  "./x && echo y > .vscode/tasks.json",
  "./x > .git/hooks/pre-commit",
  "cat .env",
  "cat ~/.ssh/id_rsa",
  "cat ~/notes.txt",
  "grep -r x ~",
  "kill 7",
  "systemctl restart x",
  "./x && npm publish",
])("a command that needs more than a sandbox gives asks, and runs outside: %s", (command) => {
  const decided = decision(command);
  expect(decided).toMatchObject({
    kind: "ask",
    reasons: expect.arrayContaining([expect.stringContaining("outside the sandbox")]),
  });
  expect(decided).not.toHaveProperty("sandbox");
});

test("the floor, plan mode, trust and the mode that asks for every change stay", () => {
  for (const mode of ["ask", "code", "plan", "auto"] as const) {
    expect(way("./x; rm -rf /", mode)).toBe("deny");
    expect(way(":(){ :|:& };:", mode)).toBe("deny");
  }
  expect(way("./x", "plan")).toBe("deny");
  expect(decision("./x", { mode: "ask" })).toMatchObject({ kind: "ask", sandbox: "isolated" });
  expect(decision("./x", { trusted: false }).kind).toBe("deny");
});

test("a call may ask to leave the sandbox, in every mode, and a lasting answer covers that", () => {
  const grants = newGrants();
  const first = decision("npm test", { grants }, "outside");
  if (first.kind !== "ask" || first.grant === undefined) throw new Error("it did not ask");
  expect(first.reasons.join()).toContain("outside the sandbox");
  grants.keep(first.grant, "session");
  expect(decision("npm test", { grants }, "outside")).toEqual({ kind: "allow", granted: true });
  expect(decision("npm test", { grants })).toEqual({ kind: "allow", sandbox: "isolated" });
  for (const mode of ["code", "auto"] as const) expect(way("./unknown", mode, "outside")).toBe("ask");
});

test.each(["cat ~/.s*/i*", "grep -r key ~", "cat ~/notes.txt", "tar -C ~ -c .ssh"])(
  "no mode reads the home outside the sandbox unasked: %s",
  (command) => {
    for (const mode of ["ask", "code", "auto"] as const) expect(way(command, mode)).toMatch(/^(?:ask|isolated)$/);
    expect(decision(command, { mode: "auto", sandbox: false }).kind).toBe("ask");
  },
);

test("a call may ask for the network", () => {
  expect(decision("npm run dev", {}, "network")).toMatchObject({ kind: "ask", sandbox: "networked" });
  expect(way("npm run dev", "auto", "network")).toBe("networked");
});

test("with approvals off, commands still run in the sandbox that they need", () => {
  expect(decision("rm -rf src", { asks: false })).toEqual({ kind: "allow", sandbox: "isolated" });
  expect(decision("npm ci", { asks: false })).toEqual({ kind: "allow", sandbox: "networked" });
  expect(decision("git push", { asks: false })).toEqual({ kind: "allow" });
});

test("without a sandbox nothing of this changes anything", () => {
  const open = (command: string, reach?: "outside"): Decision => decision(command, { sandbox: false }, reach);
  expect([open("./x").kind, open("npm test").kind, open("npm test", "outside").kind]).toEqual([
    "ask",
    "allow",
    "allow",
  ]);
  expect(JSON.stringify(open("./x"))).not.toContain("sandbox");
});
