// The agent's commands in the user's own shell: a real bash with VS Code's shell integration.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { CommandRequest, RunningCommand } from "../../../agent-core/host/terminals/terminals.ts";
import { type AgentSide, connectAgentSide, workspaceFolder } from "../support/agent-side.ts";

suite("own terminal", () => {
  const spill = join(workspaceFolder(), ".own-terminal-suite");
  const { signal } = new AbortController();
  const unknown = { exitCode: null, signal: null };
  let side: AgentSide;
  let count = 0;

  suiteSetup(async () => {
    await setting("hermes", "terminal.runIn", "shell");
    side = await connectAgentSide();
  });

  suiteTeardown(async () => {
    await side.terminals.endAll();
    await side.dispose();
    await setting("hermes", "terminal.runIn", undefined);
    rmSync(spill, { recursive: true, force: true });
  });

  type Started = { readonly running: RunningCommand; readonly file: string };

  async function start(command: string, more: Partial<CommandRequest> = {}): Promise<Started> {
    count += 1;
    const outputFile = join(spill, `${count}.txt`);
    const shell = { folder: workspaceFolder(), variables: undefined };
    const request = { command, shell, keepsShell: true, input: "none", pty: false, outputFile, ...more } as const;
    return { running: await side.host.terminals.start(request, signal), file: outputFile };
  }

  /** Runs to the end; `text` is the output file, with the line ends of a file. */
  async function run(command: string, more: Partial<CommandRequest> = {}) {
    const { running, file } = await start(command, more);
    const exit = await running.exit;
    await running.release();
    return { exit, text: readFileSync(file, "utf8").replaceAll("\r\n", "\n") };
  }

  /** Resolves when the command has printed `ready`; rejects with its output when it ended without that. */
  async function ready({ running, file }: Started): Promise<void> {
    const ended = running.exit.then(({ exitCode }) => {
      throw new Error(`It ended with ${exitCode}: ${readFileSync(file, "utf8")}`);
    });
    await Promise.race([side.printed(running.terminalId, "ready\r\n"), ended]);
    ended.catch(() => undefined); // it ends later, as it shall
  }

  const shells = (): readonly vscode.Terminal[] => vscode.window.terminals.filter(({ name }) => name === "Hermes");

  test("the first line is there, the last one, and nothing of the prompt", async () => {
    const { exit, text } = await run("echo first; seq 2 199; echo last");
    assert.deepEqual(exit, { exitCode: 0, signal: null });
    assert.equal(text, `first\n${Array.from({ length: 198 }, (_, index) => `${index + 2}\n`).join("")}last\n`);
  });

  test("a last line that nothing ends is whole", async () => {
    assert.equal((await run("printf 'one\\ntwo'")).text, "one\ntwo");
  });

  test("exit codes are the command's", async () => {
    const codes = [];
    for (const command of ["true", "(exit 3)", "no-such-program-here"]) codes.push((await run(command)).exit.exitCode);
    assert.deepEqual(codes, [0, 3, 127]);
  });

  test("colours stay for who can show them", async () => {
    assert.equal((await run("printf '\\033[31mred\\033[0m\\n'")).text, "\u001b[31mred\u001b[0m\n");
  });

  test("several lines, quotes and exclamation marks come to what a script makes of them", async () => {
    const { exit, text } = await run("echo 'wow!' \"it's\"\ncat <<'E'\n$HOME\tand ! more\nE\n(exit 4)");
    assert.equal(text, "wow! it's\n$HOME\tand ! more\n");
    assert.equal(exit.exitCode, 4);
  });

  test("one idle terminal of the session is used again, and its shell keeps its state", async () => {
    await run('mine() { echo "mine $1"; }; WORD=kept');
    assert.equal((await run('mine "$WORD"')).text, "mine kept\n");
    assert.equal(shells().length, 1);
  });

  test("a command begins in the folder that it was approved for", async () => {
    await run("cd /usr");
    assert.equal((await run("pwd")).text, `${workspaceFolder()}\n`);
    const folder = { folder: "/usr/share", variables: undefined };
    assert.equal((await run("pwd", { shell: folder })).text, "/usr/share\n");
  });

  test("a megabyte arrives whole", async () => {
    const { exit, text } = await run("head -c 1048576 /dev/zero | tr '\\0' x; echo; echo END");
    assert.deepEqual(exit, { exitCode: 0, signal: null });
    assert.equal(text.length, 1_048_576 + 5);
    assert.ok(text.endsWith("x\nEND\n"));
  }).timeout(120_000);

  test("no pager waits for anybody there either", async () => {
    assert.equal((await run('echo "$PAGER"')).text, "cat\n");
  });

  test("a running command has its terminal to itself, and takes what is typed", async () => {
    const { running, file } = await start("read -r line; echo got $line", { input: "open" });
    assert.equal((await run("echo beside")).text, "beside\n");
    assert.equal(shells().length, 2);
    assert.deepEqual(await running.write("hello\n"), { ok: true });
    assert.deepEqual(await running.exit, { exitCode: 0, signal: null });
    assert.ok(readFileSync(file, "utf8").endsWith("got hello\r\n"));
    await running.release();
  });

  test("killing interrupts the command and ends what it left in the background", async () => {
    const seconds = 86_400 + process.pid;
    const { running, file } = await start(`sleep ${seconds} & echo ready; sleep ${seconds}`);
    await ready({ running, file });
    await running.kill();
    assert.notEqual((await running.exit).exitCode, 0);
    assert.deepEqual(processesNaming(seconds), []);
    await running.release();
  });

  test("a command that ignores Ctrl+C goes with its terminal, and so does what left its group", async () => {
    const seconds = 172_800 + process.pid;
    const { running, file } = await start(
      `(trap '' INT HUP TERM; setsid sleep ${seconds} & echo ready; while :; do sleep 0.2; done)`,
    );
    await ready({ running, file });
    await running.kill();
    assert.deepEqual(await running.exit, unknown);
    assert.match(readFileSync(file, "utf8"), /terminal was closed before it had ended; the exit code is not known/);
    assert.deepEqual(processesNaming(seconds), []);
    await running.release();
  });

  test("a terminal that the user closes ends its command, whose exit code is unknown", async () => {
    const { running, file } = await start("echo ready; sleep 1000");
    await ready({ running, file });
    const before = shells();
    side.terminals.show(running.terminalId ?? "");
    await closeActive(before);
    assert.deepEqual(await running.exit, unknown);
    assert.match(readFileSync(file, "utf8"), /ready\r\n\n\[its terminal was closed/);
    await running.release();
  });

  test("a command that ends the shell tells that shell's exit code", async () => {
    assert.equal((await run("echo bye; exit 5")).exit.exitCode, 5);
    assert.equal((await run("echo again")).text, "again\n");
  });

  test("a command in the sandbox or elsewhere is never typed into it", async () => {
    const file = join(spill, "child.txt");
    const hermes = { outputFile: file, title: "echo elsewhere", input: "none", hasPty: false };
    const before = shells().length;
    const { terminalId } = await side.terminals.create({
      ...{ sessionId: "suite", command: "echo", args: ["in the sandbox"], cwd: workspaceFolder() },
      _meta: { hermes },
    });
    await side.terminals.waitForExit(terminalId);
    assert.equal(readFileSync(file, "utf8"), "in the sandbox\n");
    assert.equal(shells().length, before);
    side.terminals.release(terminalId);
  });

  test("a shell without integration: the command runs as our own child, and the user is told once", async () => {
    await setting("terminal.integrated", "profiles.linux", { plain: { path: "/bin/sh" } });
    await setting("terminal.integrated", "defaultProfile.linux", "plain");
    await defaultShell(/\/sh$/);
    await side.terminals.endAll();
    try {
      const { running, file } = await start("echo plain; exit 3");
      await side.printed(running.terminalId, "no shell integration");
      assert.deepEqual(await running.exit, { exitCode: 3, signal: null });
      assert.equal(readFileSync(file, "utf8"), "plain\n");
      await running.release();
      const began = performance.now();
      assert.equal((await run("echo more")).text, "more\n");
      assert.ok(performance.now() - began < 5_000, "it is not waited for again");
      assert.equal(side.warnings.length, 1);
      assert.deepEqual(shells(), []);
    } finally {
      await setting("terminal.integrated", "defaultProfile.linux", undefined);
      await setting("terminal.integrated", "profiles.linux", undefined);
      await defaultShell(/bash$/);
    }
    assert.equal((await run("echo $0")).text.includes("bash"), true);
  });
});

async function setting(section: string, name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration(section).update(name, value, vscode.ConfigurationTarget.Global);
}

/** Resolves when terminals are opened with such a shell: settings of terminals take effect some time later. */
async function defaultShell(path: RegExp): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (!path.test(vscode.env.shell)) return;
      watch.dispose();
      resolve();
    };
    const watch = vscode.env.onDidChangeShell(look);
    look();
  });
}

/** Closes the terminal that is shown, as its button does. */
async function closeActive(terminals: readonly vscode.Terminal[]): Promise<void> {
  const isShown = (): boolean => terminals.some((terminal) => terminal === vscode.window.activeTerminal);
  await new Promise<void>((resolve) => {
    if (isShown()) resolve();
    const watch = vscode.window.onDidChangeActiveTerminal(() => {
      if (!isShown()) return;
      watch.dispose();
      resolve();
    });
  });
  await vscode.commands.executeCommand("workbench.action.terminal.kill");
}

/** Ids of the living processes whose command line names the number. */
function processesNaming(number: number): readonly string[] {
  const names = (id: string): boolean => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, "utf8").includes(String(number));
    } catch {
      return false; // it ended meanwhile
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && names(name));
}
