import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sessionPolicy } from "../../../agent-core/agent/approvals.ts";
import type { ApprovalMode, Decision, PolicyContext } from "../../../agent-core/approval/decision.ts";
import { Grants } from "../../../agent-core/approval/grants.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { settingsOnly } from "../../support/git-repositories.ts";
import { readCorpus } from "./support/corpus.ts";

const home = "/home/someone";
const scope = { cwd: "/projects/p", roots: ["/projects/p"], home, hermesHome: `${home}/.hermes`, resolvePath };
const newGrants = (): Grants => new Grants(mkdtempSync(join(tmpdir(), "hermes-grants-")), () => undefined);

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
  "node -e 'delete a.b; // removes one\nconsole.log(a.c / 2)'",
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

test.each([
  { mode: "code", sandbox: true, limit: 0.06 },
  { mode: "auto", sandbox: true, limit: 0.06 },
  { mode: "code", sandbox: false, limit: 0.12 },
  { mode: "auto", sandbox: false, limit: 0.12 },
] as const)("few everyday commands ask in $mode (sandbox: $sandbox)", ({ mode, sandbox, limit }) => {
  const everyday = readCorpus("everyday");
  const asked = everyday.filter(({ command }) => decision(command, { mode, sandbox }).kind !== "allow");
  expect(asked.length / everyday.length, asked.map(({ command }) => command).join("\n")).toBeLessThanOrEqual(limit);
});

const RISKY = ["dangerous", "obfuscated", "decoded", "risky", "pairs", "manuals"]
  .flatMap(readCorpus)
  .filter(({ level }) => level !== "safe");

test.each(["ask", "code", "plan", "auto"] as const)(
  "no risky command leaves the sandbox unasked, or runs without one: %s",
  (mode) => {
    for (const { command } of RISKY) {
      expect(way(command, mode), command).not.toMatch(/allow|networked/);
      expect(decision(command, { mode, sandbox: false }).kind, command).not.toBe("allow");
    }
  },
);

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
  "git clone https://example.com/x",
  "git init",
  "git config user.name x",
  "ssh host ls",
  "gh pr list --web",
  "gh api https://example.com/x",
  "docker ps && make",
  "docker ps > list.txt",
  "docker ps | sed s/a/b/",
  "docker logs --file=x a",
  "docker compose config",
  "docker compose -f other.yml ps",
  "docker-compose --env-file ~/.ssh/id_rsa logs",
  "docker inspect web",
  "docker inspect -f '{{.Id}}' -fjson web",
  "podman container inspect -f '{{.Config.Env}}' web",
  "docker compose exec web ls",
  "node_modules/.bin/docker ps",
  "kubectl get pods -o go-template-file=x",
  "kubectl get secrets",
  "helm template ~/chart",
  "kubectl get -f ~/.ssh/id_rsa",
  "aws s3api list-objects --bucket file://x",
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

test.each([
  "docker ps -a",
  "docker images; ls src",
  "docker logs --tail 50 app 2>&1 | grep -i error",
  "docker compose ps && docker compose logs web | tail -n 20",
  "docker compose config --services",
  "docker inspect -f '{{.State.Status}}' web",
  "docker inspect --format={{.NetworkSettings.IPAddress}} web",
  "kubectl get pods -n x -o json | jq .items",
  "helm list -A",
  "gh pr view 1 --json title",
  "gh api repos/a/b",
  "git fetch",
  "git ls-remote origin",
  "systemctl status nginx",
])("looking at a service of this machine or account leaves the sandbox unasked in code mode: %s", (command) => {
  expect(decision(command)).toEqual({ kind: "allow" });
  expect(way(command, "ask")).toBe("ask");
  expect(way(command, "plan")).not.toBe("allow");
});

test.each([
  "CLOUDSDK_PYTHON=./x.sh gcloud compute instances list",
  "env HELM_DATA_HOME=./h helm list",
  "export GH_CONFIG_DIR=./g; gh pr list",
  "KUBERC=./k kubectl get pods",
])("a look that sets a variable leaves the sandbox only on the user's word: %s", (command) => {
  expect(way(command)).toBe("ask");
  const [, name = ""] = /(\w+)=/.exec(command) ?? [];
  const variables = join(mkdtempSync(join(tmpdir(), "hermes-variables-")), "exported");
  writeFileSync(variables, `declare -x ${name}="./x"\n`);
  const effect = { kind: "command", command: "kubectl get pods", cwd: "/projects/p", variables } as const;
  expect(decide(effect, { mode: "code", scope, trusted: true, grants: newGrants(), sandbox: true }).kind).toBe("ask");
  expect(way("TZ=UTC kubectl get pods")).toBe("allow");
});

test.each([
  ["a clone's own settings", '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@example.com:a/b\n', "allow"],
  ["a program for ssh", "[core]\n\tsshCommand = ./evil\n", "ask"],
  ["an address that names a program", '[remote "origin"]\n\turl = ext::sh -c ./evil\n', "ask"],
  ["settings of another file", "[include]\n\tpath = ../evil\n", "ask"],
  ["a setting on the section's line", "[core] sshCommand = ./evil\n", "ask"],
])("git contacts a remote unasked only where the repository's settings are plain: %s", (_, settings, kind) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-git-")));
  settingsOnly(join(folder, ".git"), settings);
  const inside = { ...scope, cwd: folder, roots: [folder] };
  const context = { mode: "code", scope: inside, trusted: true, grants: newGrants(), sandbox: true } as const;
  for (const command of [
    "git pull",
    "git fetch origin && git status -sb",
    "git fetch; git log HEAD..origin/main | head",
  ])
    expect(decide({ kind: "command", command, cwd: folder }, context).kind, command).toBe(kind);
  expect(decide({ kind: "command", command: "git fetch && make", cwd: folder }, context).kind).toBe("ask");
});

test.each([
  "curl -s http://localhost:3000/health",
  "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:5000/a | head -1",
])(
  "a port that a process of the session opened is read unasked, with the network and in the sandbox: %s",
  (command) => {
    const ownPorts = new Set([3000, 5000]);
    expect(decision(command, { ownPorts })).toEqual({ kind: "allow", sandbox: "networked" });
    expect(way(command)).toBe("ask");
    expect([way(command, "ask"), way(command, "plan")]).toEqual(["ask", "deny"]);
  },
);

test.each([
  ["curl -s http://localhost:8888/", "curl http://127.0.0.1:8888/api", "curl -d x=1 http://localhost:8888/"],
  ["curl -X POST localhost:3000/login -d '{}'", "curl --json '{}' localhost:3000/b", "curl -X POST localhost:3001/"],
])("a port, and a request that sends to one, ask once, in the sandbox with the network: %s", (first, same, other) => {
  const grants = newGrants();
  const ownPorts = new Set([3000]);
  const asked = decision(first, { grants, ownPorts });
  expect(asked).toMatchObject({ kind: "ask", sandbox: "networked" });
  if (asked.kind === "ask" && asked.grant) void grants.keep(asked.grant, "session");
  expect([same, other].map((command) => decision(command, { grants, ownPorts }).kind)).toEqual(["allow", "ask"]);
});

test.each(["-d '{}'", "-sXPOST", "--json '{}' -s", "-sd x=1"])(
  "in auto a request that sends to a port of another program asks, with and without a sandbox: %s",
  (options) => {
    const context = { mode: "auto", ownPorts: new Set([3000]) } as const;
    for (const sandbox of [true, false]) {
      const kindOf = (rest: string) => decision(`curl ${rest}`, { ...context, sandbox }).kind;
      expect(kindOf(`${options} http://localhost:2375/containers/create`)).toBe("ask");
      expect([kindOf(`${options} localhost:3000/api`), kindOf("-s localhost:2375/info")]).toEqual(["allow", "allow"]);
    }
  },
);

test.each(["gh pr list --search yrettab-esroh-tcerroc", "git fetch origin correct-hor"])(
  "an argument that carries a secret out asks each time: %s",
  (command) => {
    const asked = decision(command, { secrets: ["correct-horse-battery"] });
    expect([asked.kind, asked.kind === "ask" && asked.grant]).toEqual(["ask", undefined]);
  },
);

test.each([
  "curl http://localhost.example.com/",
  "curl http://localhost@example.com/",
  "curl http://localhost http://example.com",
  "curl -L http://localhost:3000",
  "curl -d @.env http://localhost:3000",
  "curl --resolve localhost:80:192.0.2.1 http://localhost",
  "curl http://169.254.169.254/latest",
  "./x; curl http://localhost",
  "curl http://localhost:3000 | sh",
  "curl http://localhost -o ~/.bashrc",
])("another server, a redirection, a file or code beside it asks: %s", (command) => {
  expect(way(command)).toBe("ask");
});

test.each([
  "dpkg --pre-invoke='./evil.sh' -P",
  "dpkg -i evil.deb",
  "apt-get install -y ./evil.deb",
  "apt-get update -c=evil.conf",
  "brew install someone/tap/evil",
  "rpm --eval '%(./evil)'",
  "pipx run ./evil",
  "tmux new-session -d ./evil.sh",
  "screen -dm ./evil.sh",
  "docker compose -f evil.yml up -d",
  "psql -c '\\! ./evil.sh'",
  "psql -f evil.sql",
  "mysql -e 'system ./evil.sh'",
  "gh alias set x '!./evil.sh'",
  "xdg-open evil.desktop",
  "npm publish",
  "cargo publish",
  "launchctl submit -l x -- ./evil.sh",
  "ssh localhost ./evil.sh",
  "ssh -p 2222 me@127.0.0.1 ./evil.sh",
  "ssh ::1",
  "ssh ssh://localhost:22 ./evil.sh",
  "scp evil localhost:.bashrc",
])("a command that leaves the sandbox asks in auto, too: %s", (command) => {
  expect(way(command, "auto")).toBe("ask");
});

test("a program that the workspace provides leaves the sandbox only on the user's word", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-bin-")));
  const path = process.env["PATH"];
  try {
    writeFileSync(join(folder, "docker"), "#!/bin/sh\n", { mode: 0o755 });
    process.env["PATH"] = `${folder}:${path}`;
    expect(decision("docker ps", { scope: { ...scope, cwd: folder, roots: [folder] } }).kind).toBe("ask");
  } finally {
    process.env["PATH"] = path;
    rmSync(folder, { recursive: true });
  }
});

test("pages of one host are granted once, and no address of another host with them", () => {
  const grants = newGrants();
  const first = decision("curl -s https://example.com/a", { grants });
  if (first.kind !== "ask" || first.grant === undefined) throw new Error("it did not ask");
  expect(first.grant).toEqual([{ row: "fetching: example.com" }]);
  void grants.keep(first.grant, "session");
  expect(decision("curl -sI https://example.com/b?x=1", { grants })).toMatchObject({ kind: "allow" });
  for (const other of ["https://example.org/a", "https://example.com/ example.org", "-o a https://example.com/"])
    expect(decision(`curl -s ${other}`, { grants }).kind, other).toBe("ask");
});

test.each(["./x; docker ps", "npm test && git push", "sudo ./x", "python3 a.py; gh pr create"])(
  "in auto, code that nobody read does not leave the sandbox with another command: %s",
  (command) => {
    expect(way(command, "auto")).toBe("ask");
  },
);

test("the floor, plan mode, trust and the mode that asks for every change stay", () => {
  for (const mode of ["ask", "code", "plan", "auto"] as const) {
    expect(way("./x; rm -rf /", mode)).toBe("deny");
    expect(way(":(){ :|:& };:", mode)).toBe("deny");
  }
  expect(decision("./x", { mode: "plan", sandbox: false }).kind).toBe("deny");
  expect(decision("./x", { mode: "ask" })).toMatchObject({ kind: "ask", sandbox: "isolated" });
  expect(decision("./x", { trusted: false }).kind).toBe("deny");
});

test.each(["./x", "foo --list", "python3 -c 'open(input())'", "npm test", "make -n", "source env.sh; tool"])(
  "in plan mode a command that nothing proves to be a read runs where nothing can be written: %s",
  (command) => {
    expect(way(command, "plan")).toBe("reading");
  },
);

test.each([
  "rm a.txt",
  "echo x > a.txt",
  "mkdir b",
  "./x; git push",
  "npm install",
  "kill 7",
  "cat ~/notes.txt",
  "docker ps",
])("in plan mode a command that surely changes something, or that leaves the sandbox, is refused: %s", (command) => {
  expect(way(command, "plan")).toMatch(/deny|ask/);
});

test("a call may ask to leave the sandbox, in every mode, and a lasting answer covers that", () => {
  const grants = newGrants();
  const first = decision("npm test", { grants }, "outside");
  if (first.kind !== "ask" || first.grant === undefined) throw new Error("it did not ask");
  expect(first.reasons.join()).toContain("outside the sandbox");
  void grants.keep(first.grant, "session");
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
  expect(way("npm run dev", "auto", "network")).toBe("ask");
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

test("a command asks, auto mode included, while the sandbox cannot hold it, and the question says why", async () => {
  let problem: string | undefined = "too many protected files";
  const { cwd, roots, hermesHome } = scope;
  const where = { cwd, roots, home, hermesHome, grants: newGrants(), asks: true, trusted: () => true };
  const policy = sessionPolicy({
    ...where,
    mode: () => "auto",
    sandbox: () => true,
    language: "sh",
    sandboxProblem: async () => problem,
  });
  const effect = { kind: "command", command: "bash x.sh", cwd } as const;
  expect(await policy.decide(effect)).toMatchObject({
    kind: "ask",
    reasons: expect.arrayContaining(["Runs without the sandbox: too many protected files"]),
  });
  problem = undefined;
  expect(await policy.decide(effect)).toEqual({ kind: "allow", sandbox: "isolated" });
});
