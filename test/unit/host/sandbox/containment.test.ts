import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, test as anyTest, beforeAll, expect } from "vitest";
import { confine } from "../../../../agent-core/approval/confinement.ts";
import { childRunner } from "../../../../agent-core/host/terminals/child-runner.ts";
import { localBackend } from "../../../../agent-core/host/terminals/local-backend.ts";
import { findSandbox } from "../../../../agent-core/host/terminals/sandbox/find-sandbox.ts";
import { layerOver } from "../../../../agent-core/host/terminals/sandbox/layer.ts";
import { sandboxedBackend } from "../../../../agent-core/host/terminals/sandbox/sandboxed-backend.ts";
import { sessionTerminals } from "../../../../agent-core/host/terminals/session-terminals.ts";
import type {
  HostTerminals,
  RunningCommand,
  SandboxKind,
  ShellState,
} from "../../../../agent-core/host/terminals/terminals.ts";
import { resolvePath } from "../../../../agent-core/platform/paths.ts";
import { hasPrograms, hasSandbox } from "../../../support/programs.ts";

const workspace = realpathSync(mkdtempSync(join(tmpdir(), "hermes-workspace-")));
const home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-user-home-")));
/** Neither the workspace nor a folder of temporary files. */
const outside = realpathSync(mkdtempSync(join(homedir(), "hermes-test-outside-")));
const ownHome = join(home, ".hermes");
const withheld = join(ownHome, "vscode", "withheld");
let terminals: HostTerminals;
let server: Server;
let connections = 0;

const isSandboxed = hasSandbox();
const test = anyTest.runIf(isSandboxed);

beforeAll(async () => {
  const found = findSandbox();
  if (!found.ok) return;
  const scope = { cwd: workspace, roots: [workspace], home, hermesHome: ownHome, resolvePath };
  const backend = sandboxedBackend(localBackend(), {
    sandbox: found.sandbox,
    confine: (caches, command) => confine(scope, { withheld, caches, outputs: join(ownHome, "outputs") }, command),
  });
  terminals = sessionTerminals(backend, childRunner());
  spawnSync("git", ["init", "-q", workspace]);
  mkdirSync(join(workspace, ".vscode"));
  mkdirSync(join(home, ".ssh"));
  mkdirSync(ownHome, { recursive: true });
  writeFileSync(join(workspace, "a.txt"), "a\n");
  writeFileSync(join(workspace, ".env"), "KEY=1\n");
  writeFileSync(join(home, ".ssh", "id_rsa"), "PRIVATE\n");
  writeFileSync(join(home, ".netrc"), "PASSWORD\n");
  writeFileSync(join(ownHome, ".env"), "OWN-KEY\n");
  server = createServer((socket) => {
    connections += 1;
    socket.end("hello");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(async () => {
  await terminals.dispose();
  server.close();
  for (const folder of [workspace, home, outside]) rmSync(folder, { recursive: true, force: true });
});

type Ran = {
  readonly output: string;
  readonly exitCode: number | null;
  readonly notes: readonly string[];
  readonly after: ShellState | undefined;
};

async function run(
  command: string,
  how: { shell?: ShellState; sandbox?: SandboxKind | undefined; pty?: boolean; keepsShell?: boolean } = {},
): Promise<Ran> {
  const { shell = { folder: workspace, variables: undefined }, pty = false, keepsShell = true } = how;
  const sandbox = "sandbox" in how ? how.sandbox : "isolated";
  const outputFile = join(home, "output.log");
  const running = await terminals.start(
    { command, shell, keepsShell, input: "none", pty, sandbox, outputFile },
    AbortSignal.timeout(120_000),
  );
  const { exitCode } = await running.exit;
  const { head } = await running.output();
  const ran = { output: head, exitCode, notes: await running.inspected(), after: await running.shellAfter() };
  await running.release();
  return ran;
}

const listed = (): string[] => readdirSync(workspace).toSorted();

test("a command works as outside: output, exit code, folder, files of the workspace", async () => {
  const ran = await run("pwd; cat a.txt; echo new > made.txt; echo oops >&2; exit 7");
  expect([ran.output, ran.exitCode]).toEqual([`${workspace}\na\noops\n`, 7]);
  expect(readFileSync(join(workspace, "made.txt"), "utf8")).toBe("new\n");
  rmSync(join(workspace, "made.txt"));
});

test("nothing outside the workspace can be written, not even by root", async () => {
  for (const place of [outside, homedir(), "/etc", "/usr/local", "/opt", "/sys/kernel", "/proc/sys/kernel"]) {
    const file = place.startsWith("/proc") ? `${place}/hostname` : `${place}/hermes-was-here`;
    const ran = await run(`echo x > ${file} && echo WRITTEN`);
    expect([place, ran.output.includes("WRITTEN"), ran.exitCode === 0]).toEqual([place, false, false]);
    if (!place.startsWith("/proc")) expect(existsSync(file)).toBe(false);
  }
  expect((await run("mount -o remount,rw / || umount /etc || chroot / true || mknod sda b 8 0")).exitCode).not.toBe(0);
});

test("a command that only reads writes nothing in the workspace or its repository, and does not see secret files", async () => {
  const before = [listed(), readdirSync(join(workspace, ".git"))];
  const attempts = ["echo x > made.txt", "rm a.txt", "mkdir b", "git add a.txt", "git commit --allow-empty -m x"];
  for (const attempt of attempts)
    expect([attempt, (await run(attempt, { sandbox: "reading" })).exitCode]).not.toEqual([attempt, 0]);
  expect(
    (await run("cat a.txt; cat .env 2>/dev/null; echo x > /tmp/a && cat /tmp/a", { sandbox: "reading" })).output,
  ).toBe("a\nx\n");
  expect([listed(), readdirSync(join(workspace, ".git"))]).toEqual(before);
});

test("protected files are read-only, by every path", async () => {
  const before = listed();
  const config = readFileSync(join(workspace, ".git/config"), "utf8");
  const attempts = [
    "echo x > .git/hooks/pre-commit",
    "echo x >> .git/config",
    "git config core.fsmonitor evil",
    "echo x > .env",
    "mv other .env",
    "rm -f .env",
    "rm -rf .vscode",
    "mv .vscode away",
    "echo x > .vscode/tasks.json",
    "mv .git away",
    "ln .env linked",
    "ln -s .git/hooks l; echo x > l/pre-commit",
    "chmod 777 .git/hooks",
  ];
  for (const attempt of attempts) {
    const ran = await run(`echo other > other; ${attempt}`);
    expect([attempt, ran.exitCode === 0]).toEqual([attempt, false]);
    rmSync(join(workspace, "other"), { force: true });
    rmSync(join(workspace, "l"), { force: true });
  }
  expect(readFileSync(join(workspace, ".git/config"), "utf8")).toBe(config);
  expect(readFileSync(join(workspace, ".env"), "utf8")).toBe("KEY=1\n");
  expect(existsSync(join(workspace, ".git/hooks/pre-commit"))).toBe(false);
  expect(listed()).toEqual(before);
});

test("commits work, with the repository's settings out of reach", async () => {
  const ran = await run("git add a.txt && git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline");
  expect(ran.output).toMatch(/^[0-9a-f]{7,} one\n$/);
});

test("new protected files are removed after the command", async () => {
  const before = listed();
  const ran = await run(
    "mkdir -p .idea pkg/.vscode; echo a > .idea/x.xml; echo b > AGENTS.md; echo c > pkg/.vscode/tasks.json; echo d > pkg/ok",
  );
  expect(ran.exitCode).toBe(0);
  expect(ran.notes).toHaveLength(3);
  expect(ran.notes.join("\n")).toContain(`${workspace}/AGENTS.md is protected`);
  expect(readdirSync(join(workspace, "pkg"))).toEqual(["ok"]);
  rmSync(join(workspace, "pkg"), { recursive: true });
  expect(listed()).toEqual(before);
  expect(readFileSync(/to (\S+AGENTS\.md)/.exec(ran.notes.join("\n"))?.[1] ?? "", "utf8")).toBe("b\n");
});

test("a whole repository in a moved folder's place is noticed", async () => {
  await run("mkdir -p deep/pkg", {});
  mkdirSync(join(workspace, "deep/pkg/.vscode"));
  const ran = await run("mv deep gone && mkdir -p deep/pkg/.vscode && echo evil > deep/pkg/.vscode/tasks.json");
  expect(ran.notes.join()).toContain(`${workspace}/deep/pkg/.vscode is protected`);
  expect([existsSync(join(workspace, "deep/pkg/.vscode")), existsSync(join(workspace, "gone/pkg/.vscode"))]).toEqual([
    false,
    true,
  ]);
  for (const folder of ["deep", "gone"]) rmSync(join(workspace, folder), { recursive: true });
});

test("git's folders that a repository lacks cannot be made in it either", async () => {
  rmSync(join(workspace, ".git/hooks"), { recursive: true });
  expect((await run("git add a.txt; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit")).exitCode).not.toBe(0);
  expect(readdirSync(join(workspace, ".git/hooks"))).toEqual([]);
});

test("changes of a long command are reported only, because the user works meanwhile", async () => {
  const ran = await run("echo x > GEMINI.md", { keepsShell: false });
  expect(ran.notes).toEqual([expect.stringContaining(`${workspace}/GEMINI.md is protected and was made`)]);
  expect(existsSync(join(workspace, "GEMINI.md"))).toBe(true);
  rmSync(join(workspace, "GEMINI.md"));
});

anyTest.runIf(isSandboxed && hasPrograms("python3"))(
  "there is no network, not even to this machine; a server of the command's own is reached",
  async () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const connect = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    expect((await run(connect, { sandbox: undefined })).output).toBe("hello");
    const before = connections;
    expect((await run(connect)).output).toContain("refused");
    expect(connections).toBe(before);
    const networked = await run(`${connect}; cat ${home}/.netrc; echo x > ${outside}/x`, { sandbox: "networked" });
    expect(networked.output).toMatch(/^hello.*No such file.*(?:Read-only|No such file)/s);
    const reach = "until (exec 3<>/dev/tcp/127.0.0.1/8123) 2>/dev/null; do :; done";
    const own = `python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & timeout 15 bash -c '${reach}' && echo reached; kill %1`;
    expect((await run(own)).output).toContain("reached");
  },
);

test("secrets of the home and of the agent are hidden", async () => {
  for (const file of [join(home, ".ssh/id_rsa"), join(home, ".netrc"), join(ownHome, ".env"), "/etc/shadow"]) {
    const ran = await run(`cat ${file}`);
    expect([file, /PRIVATE|PASSWORD|OWN-KEY|root:/.test(ran.output)]).toEqual([file, false]);
  }
});

test("sockets and processes of the machine are out of reach", async () => {
  const socket = join(tmpdir(), `hermes-socket-${process.pid}`);
  const listener = createServer().listen(socket);
  await once(listener, "listening");
  const ran = await run(`ls /run; test -e ${socket} && echo there`);
  listener.close();
  expect(ran.output).toBe("");
  expect((await run(`kill -0 ${process.pid}`)).exitCode).not.toBe(0);
});

test("files in /tmp outlive the command, in the sandbox alone", async () => {
  const name = `hermes-test-${process.pid}`;
  await run(`echo kept > /tmp/${name}`);
  expect((await run(`cat /tmp/${name}`)).output).toBe("kept\n");
  expect(existsSync(`/tmp/${name}`)).toBe(false);
});

test("folder and variables persist in the sandbox; outside only the folder does", async () => {
  const first = await run(`mkdir -p sub; cd sub; export A=inside PATH=${workspace}/evil:$PATH`);
  expect(first.after).toMatchObject({ folder: join(workspace, "sub"), variables: undefined });
  if (first.after === undefined) throw new Error("the shell was not kept");
  const inside = await run("echo $A; pwd; case $PATH in *evil*) echo path;; esac", { shell: first.after });
  expect(inside.output).toBe(`inside\n${workspace}/sub\npath\n`);
  const open = await run("echo [$A]; pwd; case $PATH in *evil*) echo path;; esac; export B=open", {
    shell: first.after,
    sandbox: undefined,
  });
  expect(open.output).toBe(`[]\n${workspace}/sub\n`);
  if (open.after === undefined) throw new Error("the shell was not kept");
  expect((await run("echo [$A] [$B]", { shell: open.after })).output).toBe("[] [open]\n");
});

test("a forged shell state is ignored", async () => {
  const state = `"\${__hermes_to%/*}"`;
  expect((await run(`echo x > ${state}/../preamble`)).exitCode).not.toBe(0);
  for (const trick of [`ln -sf ${home}/.netrc`, "rm -f x; mkfifo"]) {
    const ran = await run(
      `for part in folder before variables; do rm -f $__hermes_to.$part; ${trick} $__hermes_to.$part; done; kill -9 $$`,
    );
    expect(ran.after).toBeUndefined();
  }
});

test("a pseudo-terminal works in the sandbox", async () => {
  const ran = await run("test -t 0 && test -t 1 && tty; stty size; echo x > /etc/hermes-x; exit 4", { pty: true });
  expect(ran.output).toMatch(/\/dev\/pts\/\d+\r?\n24 80\r?\n/);
  expect([ran.exitCode, existsSync("/etc/hermes-x")]).toEqual([4, false]);
});

/** A command that no other test on this machine runs. */
const nap = (number: number): string => `sleep 8${process.pid}${number}`;
const isRunning = (command: string): boolean => spawnSync("pgrep", ["-f", `^${command}$`]).status === 0;

async function start(command: string, keepsShell = true): Promise<RunningCommand> {
  const shell = { folder: workspace, variables: undefined };
  const outputFile = join(home, "background.log");
  return terminals.start(
    { command, shell, keepsShell, input: "open", pty: false, sandbox: "isolated", outputFile },
    AbortSignal.timeout(120_000),
  );
}

test("the whole tree is killed, whatever it does", async () => {
  const tricks = [nap(1), `setsid -f setsid ${nap(1)}; ${nap(1)}`, `trap '' TERM INT HUP; env -i ${nap(1)}; ${nap(1)}`];
  for (const command of tricks) {
    const running = await start(command);
    await expect.poll(() => isRunning(nap(1))).toBe(true);
    await running.kill();
    expect([command, isRunning(nap(1))]).toEqual([command, false]);
    await running.release();
  }
});

test("background processes continue, are seen and ended", async () => {
  const running = await start(`${nap(2)} & echo started`);
  expect((await running.exit).exitCode).toBe(0);
  expect([await running.hasSurvivors(), isRunning(nap(2))]).toEqual([true, true]);
  await running.kill();
  expect(isRunning(nap(2))).toBe(false);
  await running.release();
});

test("a background command takes input, and is interrupted by Ctrl+C", async () => {
  const running = await start(
    "read line; echo got $line; trap 'echo bye; exit 5' INT; while :; do sleep 0.05; done",
    false,
  );
  await running.write("hello\n");
  await expect.poll(async () => (await running.output()).head).toBe("got hello\n");
  await running.write("\u0003");
  const { exitCode, signal } = await running.exit;
  expect(exitCode === 5 || signal === "SIGINT").toBe(true);
  await running.release();
});

test("the home is hidden, its toolchains can be read, and nothing is written into either", async () => {
  mkdirSync(join(home, ".cargo/bin"), { recursive: true });
  mkdirSync(join(home, ".cache"), { recursive: true });
  writeFileSync(join(home, ".cargo/bin/tool"), "#!/bin/sh\necho tool\n", { mode: 0o755 });
  writeFileSync(join(home, ".cargo/credentials.toml"), "CRATES\n");
  writeFileSync(join(home, "notes.txt"), "PRIVATE NOTES\n");
  const ran = await run(
    `${home}/.cargo/bin/tool; cat ${home}/notes.txt ${home}/.cargo/credentials.toml; echo x > ${home}/new; echo x > ${home}/.cargo/bin/evil; echo c > ${home}/.cache/c && cat ${home}/.cache/c`,
  );
  expect(ran.output).toMatch(/^tool\n.*No such file.*Read-only.*\nc\n$/s);
  expect(ran.output).not.toMatch(/PRIVATE NOTES|CRATES/);
  expect(readdirSync(join(home, ".cache"))).toEqual([]);
  expect(readdirSync(join(home, ".cargo/bin"))).toEqual(["tool"]);
});

const trial = { base: home, folder: mkdtempSync(join(tmpdir(), "hermes-layer-")), hidden: [] };

/** A file that a tool reads, one that it writes, and one with keys, which must not stop it. */
const CACHES = [
  [".m2/repository/a.jar", ".m2/repository/com/acme/app.jar", ".m2/settings.xml"],
  [".gradle/wrapper/dists/gradle.zip", ".gradle/caches/journal.lock", ".gradle/gradle.properties"],
  [".cargo/registry/index/config.json", ".cargo/registry/cache/a.crate", ".cargo/credentials.toml"],
  [".nuget/packages/a.nupkg", ".nuget/packages/b/b.nupkg", ".nuget/NuGet/NuGet.Config"],
  [".local/share/pnpm/store/v10/index", ".local/share/pnpm/store/v10/files/00", ".config/pnpm/rc"],
  ["go/pkg/mod/a.mod", "go/pkg/mod/cache/download/b.zip", ".netrc"],
  [".ivy2/cache/a.xml", ".ivy2/.sbt.ivy.lock", ".ivy2/.credentials"],
  [".pub-cache/hosted/a", ".pub-cache/hosted/b", ".pub-cache/log"],
] as const;

anyTest.runIf(isSandboxed && (await layerOver(trial)) !== undefined)(
  "tools write beside what their caches hold, for the session alone, and commands with the network see none of it",
  async () => {
    for (const path of CACHES.flatMap(([read, , keys]) => [read, keys])) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), path.includes("log") ? "" : "KEY\n");
    }
    const tool = CACHES.map(
      ([read, written, keys]) =>
        `cat ${read} >/dev/null && mkdir -p $(dirname ${written}) && echo new >> ${written} && echo more >> ${read} && if [ -s ${keys} ]; then echo saw ${keys}; fi`,
    );
    writeFileSync(join(workspace, "build"), `#!/bin/sh\ncd ${home}\n${tool.join("\n")}\n`, { mode: 0o755 });
    const built = await run("./build; cat /etc/shadow");
    expect(built.output).toMatch(/^cat: \/etc\/shadow: Permission denied\n$/);
    const names = CACHES.map(([, written]) => join(home, written)).join(" ");
    expect((await run(`./unknown; cat ${names}`)).output.match(/^new$/gm)).toHaveLength(CACHES.length);
    expect((await run(`./unknown; cat ${names}`, { sandbox: "networked" })).output).not.toMatch(/^new$/m);
    expect(CACHES.map(([read]) => readFileSync(join(home, read), "utf8"))).toEqual(CACHES.map(() => "KEY\n"));
    expect(CACHES.filter(([, written]) => existsSync(join(home, written)))).toEqual([]);
    expect((await run(`./unknown; echo got > ${home}/go/fetched`, { sandbox: "networked" })).output).not.toContain(
      "Read-only",
    );
    expect((await run(`./unknown; cat ${home}/go/fetched`)).output).toContain("got\n");
  },
);

test("git works in a linked worktree and below the repository's top, whose other files are read-only", async () => {
  const repository = realpathSync(mkdtempSync(join(tmpdir(), "hermes-repository-")));
  const git = (...args: string[]) => spawnSync("git", ["-C", repository, ...args], { encoding: "utf8" });
  git("init", "-q");
  mkdirSync(join(repository, "sub"));
  writeFileSync(join(repository, "sub/a.txt"), "a\n");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one");
  git("worktree", "add", "-q", join(repository, "../worktree-of-test"), "-b", "other");
  const worktree = realpathSync(join(repository, "../worktree-of-test"));
  for (const root of [join(repository, "sub"), worktree]) {
    const scope = { cwd: root, roots: [root], home, hermesHome: ownHome, resolvePath };
    const found = findSandbox();
    if (!found.ok) throw new Error(found.reason);
    const backend = sandboxedBackend(localBackend(), {
      sandbox: found.sandbox,
      confine: (caches, command) => confine(scope, { withheld, caches, outputs: join(ownHome, "outputs") }, command),
    });
    const other = sessionTerminals(backend, childRunner());
    const command = `git status --short; echo b > b.txt; git add b.txt && git -c user.name=a -c user.email=a@b commit -qm two && git log --oneline | wc -l; echo x > ${repository}/top.txt; git config a.b c; echo x > ${repository}/.git/hooks/pre-commit`;
    const outputFile = join(home, "git.log");
    const request = {
      command,
      shell: { folder: root, variables: undefined },
      keepsShell: true,
      pty: false,
      outputFile,
    };
    const running = await other.start({ ...request, input: "none", sandbox: "isolated" }, AbortSignal.timeout(120_000));
    await running.exit;
    expect((await running.output()).head).toMatch(/^2\n/);
    await other.dispose();
  }
  expect([existsSync(join(repository, "top.txt")), git("config", "a.b").stdout]).toEqual([false, ""]);
  expect(existsSync(join(repository, ".git/hooks/pre-commit"))).toBe(false);
  for (const folder of [repository, worktree]) rmSync(folder, { recursive: true });
});
