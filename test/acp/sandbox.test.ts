import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findProgram } from "../../agent-core/platform/find-program.ts";
import type { Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { branches, git } from "../support/git-repositories.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { hasSandbox } from "../support/programs.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

type Started = { readonly agent: AcpProcess; readonly model: ModelServer; readonly id: string; readonly asked: Json[] };

/** A session whose user says yes to everything; a PATH can be given. */
async function start(
  environment: Readonly<Record<string, string>> = {},
  capabilities: Json = {},
  config = "",
): Promise<Started> {
  const model = await startModelServer();
  const agent = new AcpProcess({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "m",
    HERMES_API_KEY: "sk-1",
    ...environment,
  });
  running.push(agent, model);
  writeFileSync(join(agent.home, "config.yaml"), config);
  mkdirSync(join(agent.cwd, ".vscode"));
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "once" } };
  });
  await agent.initialize(capabilities);
  const id = await agent.newSession();
  await agent.request("session/set_mode", { sessionId: id, modeId: "code" });
  return { agent, model, id, asked };
}

async function run({ agent, model, id }: Started, ...inputs: readonly Json[]): Promise<string[]> {
  model.script(...inputs.map((input) => ({ parts: [call("terminal", input)] })), say("done"));
  expect((await agent.prompt(id, "go")).result).toMatchObject({ stopReason: "end_turn" });
  return (model.requests.at(-1)?.body.messages ?? [])
    .filter((message) => message["role"] === "tool")
    .map((message) => String(message["content"]));
}

const isSandboxed = hasSandbox();

/** Makes a program that runs shell code. The approval does not read it, as it reads shell scripts. */
function program(agent: AcpProcess, text: string): void {
  const run = `require("node:child_process").spawnSync("sh", ["-c", ${JSON.stringify(text)}], { stdio: "inherit" })`;
  writeFileSync(join(agent.cwd, "tool"), `#!/usr/bin/env node\nprocess.exit(${run}.status);\n`, { mode: 0o755 });
}

test.runIf(isSandboxed)("plan mode runs a program that nobody knows where it can write nothing", async () => {
  const it = await start();
  program(it.agent, "echo seen; echo in > made.txt || echo held");
  await it.agent.request("session/set_mode", { sessionId: it.id, modeId: "plan" });
  const [result] = await run(it, { command: "./tool" });
  expect(it.asked).toEqual([]);
  expect(result).toMatch(/seen[\s\S]*held[\s\S]*sandboxed: no network, no writes/);
  expect(existsSync(join(it.agent.cwd, "made.txt"))).toBe(false);
});

test.runIf(isSandboxed)(
  "a program that nobody knows runs unasked in the sandbox, and reaches nothing outside of it",
  async () => {
    const it = await start({}, {}, "agent: {}\n");
    const outside = join(mkdtempSync(join(tmpdir(), "hermes-outside-")), "x");
    program(
      it.agent,
      `echo in > made.txt; echo out > ${outside}; echo t > .vscode/tasks.json; cat ${it.agent.home}/config.yaml; exit 3`,
    );
    const [result] = await run(it, { command: "./tool; echo code $?; false" });
    expect(it.asked).toEqual([]);
    expect(result).toContain("code 3");
    expect(result).toMatch(/\[exit code 1.*; sandboxed: no network/);
    expect(result).not.toContain("agent:");
    expect([existsSync(join(it.agent.cwd, "made.txt")), existsSync(outside)]).toEqual([true, false]);
    expect(readdirSync(join(it.agent.cwd, ".vscode"))).toEqual([]);
  },
);

test.runIf(isSandboxed)(
  "the output of an unknown program hides the keys of a secret file until the user agrees to show it",
  async () => {
    const it = await start();
    const key = ["rk", "live", "51HxYzAbCdEf2345678901"].join("_");
    const lines = [`STRIPE=${key}`, "DB_PASSWORD=postgres", "ADMIN_PASSWORD=correct-horse-7", "URL=http://db:5432/app"];
    writeFileSync(join(it.agent.cwd, ".env"), `${lines.join("\n")}\n`);
    program(it.agent, `c="cat .e"; \${c}nv`);
    execFileSync("git", ["init", "-q", "."], { cwd: it.agent.cwd });
    const [unknown, staged, named] = await run(
      it,
      { command: "./tool" },
      { command: "git add -A && git diff --cached" },
      { command: "cat .env" },
    );
    for (const result of [unknown, staged]) {
      expect(result).toContain(`${it.agent.cwd}/.env]`);
      expect(result).not.toMatch(/51HxYz|horse/);
    }
    expect(unknown).toContain("DB_PASSWORD=postgres\nADMIN_PASSWORD=[hidden: it stands in");
    expect(unknown).toContain("URL=http://db:5432/app");
    expect(named).toContain(lines.join("\n"));
    expect(JSON.stringify(it.asked)).not.toContain("./tool");
  },
);

test.runIf(isSandboxed)("commands run in a workspace that was opened by a link", async () => {
  const started = await start();
  const { agent } = started;
  const link = join(agent.home, "link");
  symlinkSync(agent.cwd, link);
  const { result } = await agent.request("session/new", { cwd: link, mcpServers: [] });
  const commands = [`pwd; echo four >> ${link}/a.txt`, `tail -n 1 ${link}/a.txt`].map((command) => ({ command }));
  const results = await run({ ...started, id: String(result?.["sessionId"]) }, ...commands);
  expect(results).toEqual([
    expect.stringContaining(`${link}\n[exit code 0`),
    expect.stringMatching(/^four\n\[exit code 0/),
  ]);
});

test.runIf(isSandboxed)(
  "a command that needs more asks, says that it runs outside, and does once allowed",
  async () => {
    const it = await start();
    program(it.agent, "echo t > .vscode/tasks.json && echo written");
    const [refused, allowed] = await run(it, { command: "./tool" }, { command: "./tool", unsandboxed: true });
    expect(refused).toContain("Read-only file system");
    expect(allowed).toMatch(/^written\n\[exit code 0/);
    expect(it.asked).toHaveLength(1);
    expect(JSON.stringify(it.asked)).toContain("Runs outside the sandbox");
    expect(readdirSync(join(it.agent.cwd, ".vscode"))).toEqual(["tasks.json"]);
  },
);

test.runIf(isSandboxed)(
  "folder, variables and files of /tmp persist between calls; a protected file is moved away and reported",
  async () => {
    const it = await start();
    const results = await run(
      it,
      { command: "mkdir sub; cd sub; export A=1; echo t > /tmp/kept" },
      { command: "./nothing; echo $A; pwd; cat /tmp/kept" },
      { command: "cd ..; printf 'echo evil > AGENTS.md' > tool.sh; chmod +x tool.sh; sh tool.sh" },
    );
    expect(results[1]).toContain(`1\n${it.agent.cwd}/sub\nt\n`);
    expect(results[2]).toContain(`${it.agent.cwd}/AGENTS.md is protected and was made in the sandbox: it was moved to`);
    expect(existsSync(join(it.agent.cwd, "AGENTS.md"))).toBe(false);
  },
);

test.runIf(isSandboxed)("an editor's terminal is given a command line that holds the sandbox", async () => {
  const it = await start({}, { terminal: true });
  const created: Json[] = [];
  it.agent
    .on("terminal/create", (params) => {
      created.push({ ...params, script: readFileSync(String((params["args"] as string[])[0]), "utf8") });
      return { terminalId: "t1" };
    })
    .on("terminal/wait_for_exit", () => ({ exitCode: 0 }))
    .on("terminal/output", () => ({ output: "", truncated: false }))
    .on("terminal/release", () => ({}));
  await run(it, { command: "./tool" }, { command: "git status" });
  expect(created).toHaveLength(2);
  for (const [index, line] of ["./tool", "git status"].entries()) {
    const script = String(created[index]?.["script"]);
    expect(script).toMatch(/^exec \/usr\/bin\/env -i .* \/\S+\/bwrap --cap-drop ALL --unshare-all /);
    expect(script).toContain(line);
    expect(JSON.stringify(created[index])).not.toContain("sk-1");
  }
});

/** PATH on which bwrap may not create namespaces. */
function pathWithoutSandbox(): string {
  const bin = mkdtempSync(join(tmpdir(), "hermes-bin-"));
  const script = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n";
  writeFileSync(join(bin, "bwrap"), script, { mode: 0o755 });
  return `${bin}:${process.env["PATH"]}`;
}

test("without a sandbox commands ask as usual", async () => {
  const it = await start({ PATH: pathWithoutSandbox() });
  program(it.agent, "echo ran");
  await run(it, { command: "./tool" }, { command: "./tool" });
  expect(it.asked).toHaveLength(2);
  expect(JSON.stringify(it.asked)).not.toContain("outside the sandbox");
});

test("terminal.sandbox: on refuses commands where there is no sandbox, and says how to get one", async () => {
  const it = await start({ PATH: pathWithoutSandbox() }, {}, "terminal:\n  sandbox: on\n");
  const [result] = await run(it, { command: "ls" });
  expect(result).toContain("No command runs, because terminal.sandbox is on");
  expect(result).toContain("No permissions to create new namespace");
  expect(result).toContain("kernel.apparmor_restrict_unprivileged_userns=0");
});

test.runIf(isSandboxed)("no command sees keys and tokens: not in its environment, and none of a process", async () => {
  const it = await start({ GITHUB_TOKEN: "token-1", AWS_SECRET_ACCESS_KEY: "token-2" });
  program(it.agent, "env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; ps eww -e");
  const [result] = await run(it, { command: "./tool" });
  expect(result).toContain("PATH=");
  for (const secret of ["sk-1", "token-1", "token-2"]) expect(result).not.toContain(secret);
});

test.runIf(isSandboxed)(
  "a checkout names its protected files in one question: Reject changes nothing, Allow all",
  async () => {
    const it = await start();
    const { cwd } = it.agent;
    branches(cwd);
    const state = (): readonly string[] =>
      ["rev-parse HEAD", "ls-files --stage", "status --porcelain"].map((line) => git(cwd, ...line.split(" ")));
    const before = state();
    const answers = ["reject", "once"];
    it.agent.on("session/request_permission", (params) => {
      it.asked.push(params);
      return { outcome: { outcome: "selected", optionId: answers.shift() } };
    });
    const [rejected] = await run(it, { command: "git checkout other" });
    expect(rejected).toContain("the user said no");
    expect(state()).toEqual(before);
    const results = await run(it, { command: "git checkout other" });
    expect(results.at(-1)).toMatch(/exit code 0, .*sandboxed/);
    expect(it.asked).toHaveLength(2);
    expect(JSON.stringify(it.asked)).toContain(
      "Changes protected files: .github/workflows/ci.yml, AGENTS.md, CLAUDE.md",
    );
    expect([git(cwd, "status", "--porcelain"), git(cwd, "fsck", "--no-dangling")]).toEqual(["", ""]);
    expect(readFileSync(join(cwd, "CLAUDE.md"), "utf8")).toBe("other\n");
  },
);

test.runIf(isSandboxed)("commands and file tools have one view of temporary files, both ways", async () => {
  const { agent, model, id, asked } = await start();
  program(agent, "echo made > /tmp/zq/out.txt; cat /tmp/zq-in.txt; mkdir -p /var/tmp/zq; echo v > /var/tmp/zq/v.txt");
  const steps = [
    call("write_file", { path: "/tmp/zq-in.txt", content: "given\n" }),
    call("terminal", { command: "mkdir -p /tmp/zq && ./tool" }),
    call("read_file", { path: "/tmp/zq/out.txt" }),
    call("read_file", { path: "/var/tmp/zq/v.txt" }),
    call("patch", { path: "/tmp/zq/out.txt", old_string: "made", new_string: "changed" }),
    call("search_files", { pattern: "changed", path: "/tmp/zq" }),
    call("terminal", { command: "cat /tmp/zq/out.txt" }),
  ];
  model.script(...steps.map((step) => ({ parts: [step] })), say("done"));
  await agent.prompt(id, "go");
  const results = (model.requests.at(-1)?.body.messages ?? []).filter(({ role }) => role === "tool");
  const [, ran, read, other, , searched, shown] = results.map(({ content }) => String(content));
  expect(ran).toContain("given");
  expect([read, other]).toEqual([expect.stringContaining("1|made"), expect.stringContaining("1|v")]);
  expect(searched).toContain("out.txt:1: changed");
  expect(shown).toContain("changed");
  expect(asked).toEqual([]);
  expect(existsSync("/tmp/zq-in.txt")).toBe(false);
});

test.runIf(isSandboxed)(
  "a commit that the repository's settings sign asks at once, and has its signature",
  async () => {
    const it = await start();
    const { cwd, home } = it.agent;
    branches(cwd);
    execFileSync(findProgram("ssh-keygen") ?? "", ["-q", "-t", "ed25519", "-N", "", "-f", join(home, "key")]);
    for (const [name, value] of Object.entries({
      "gpg.format": "ssh",
      "user.signingkey": join(home, "key.pub"),
      "commit.gpgsign": "true",
    }))
      git(cwd, "config", name, value);
    const [signed, plain] = await run(
      it,
      { command: "echo x >> b.txt && git add b.txt && git commit -qm signed" },
      { command: "git commit -q --no-gpg-sign --allow-empty -m plain" },
    );
    expect(it.asked).toHaveLength(1);
    expect([signed, plain]).toEqual([
      expect.stringMatching(/^\[exit code 0/),
      expect.stringMatching(/^\[exit code 0.*sandboxed/),
    ]);
    const isSigned = (commit: string): boolean => /^gpgsig /m.test(git(cwd, "cat-file", "commit", commit));
    expect([isSigned("HEAD~1"), isSigned("HEAD")]).toEqual([true, false]);
  },
);

test.runIf(isSandboxed)(
  "a command that fails beside a process in the sandbox learns how to reach and end that",
  async () => {
    const it = await start();
    program(it.agent, "sleep 60 & wait");
    const [started, failed] = await run(it, { command: "./tool", background: true }, { command: "pgrep -x sleep" });
    expect(started).toContain("runs in the background as p1: see process; in a sandbox of its own");
    expect(failed).toMatch(/exit code 1[\s\S]*p1: in a sandbox of its own[\s\S]*process kill/);
  },
);
