// The agent's commands in the user's own shell: a real bash with VS Code's shell integration.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { processesNaming } from "../../support/processes.ts";
import { workspaceFolder } from "../support/agent-side.ts";
import { OwnShell, shells, unknownExit, withShell } from "../support/own-shell.ts";

suite("own terminal", () => {
  let shell: OwnShell;

  suiteSetup(async () => {
    shell = await OwnShell.open();
  });

  suiteTeardown(async () => {
    await shell.close();
  });

  test("output has its first and last line, and nothing of the prompt", async () => {
    const { exit, text } = await shell.run("echo first; seq 2 199; echo last");
    assert.deepEqual(exit, { exitCode: 0, signal: null });
    assert.equal(text, `first\n${Array.from({ length: 198 }, (_, index) => `${index + 2}\n`).join("")}last\n`);
  });

  test("a last line without a newline is complete", async () => {
    assert.equal((await shell.run("printf 'one\\ntwo'")).text, "one\ntwo");
  });

  test("exit codes are those of the command", async () => {
    const codes = [];
    for (const command of ["true", "(exit 3)", "no-such-program-here"])
      codes.push((await shell.run(command)).exit.exitCode);
    assert.deepEqual(codes, [0, 3, 127]);
  });

  test("colours are kept", async () => {
    assert.equal((await shell.run("printf '\\033[31mred\\033[0m\\n'")).text, "\u001b[31mred\u001b[0m\n");
  });

  test("several lines, quotes and exclamation marks mean the same as in a script", async () => {
    const { exit, text } = await shell.run("echo 'wow!' \"it's\"\ncat <<'E'\n$HOME\tand ! more\nE\n(exit 4)");
    assert.equal(text, "wow! it's\n$HOME\tand ! more\n");
    assert.equal(exit.exitCode, 4);
  });

  test("one idle terminal of the session is used again, and its shell keeps its state", async () => {
    await shell.run('mine() { echo "mine $1"; }; WORD=kept');
    assert.equal((await shell.run('mine "$WORD"')).text, "mine kept\n");
    assert.equal(shells().length, 1);
  });

  test("a command begins in the folder that it was approved for", async () => {
    const there = { folder: "/usr/share", variables: undefined };
    assert.equal((await shell.run("pwd", { shell: there })).text, "/usr/share\n");
    assert.equal((await shell.run("pwd")).text, `${workspaceFolder()}\n`);
  });

  test("a command's change of folder applies to the session", async () => {
    assert.equal((await shell.run("true")).after?.folder, workspaceFolder());
    assert.equal((await shell.run("cd /usr; cd share")).after?.folder, "/usr/share");
    assert.equal((await shell.run("cd /usr", { keepsShell: false })).after, undefined);
  });

  test("a megabyte arrives whole", async () => {
    const { exit, text } = await shell.run("head -c 1048576 /dev/zero | tr '\\0' x; echo; echo END");
    assert.deepEqual(exit, { exitCode: 0, signal: null });
    assert.equal(text.length, 1_048_576 + 5);
    assert.ok(text.endsWith("x\nEND\n"));
  }).timeout(180_000);

  test("no pager waits for a key", async () => {
    assert.equal((await shell.run('echo "$PAGER"')).text, "cat\n");
  });

  test("a running command has its terminal to itself, and receives typed text", async () => {
    const { running, file } = await shell.start("read -r line; echo got $line", { input: "open" });
    assert.equal((await shell.run("echo beside")).text, "beside\n");
    assert.equal(shells().length, 2);
    assert.deepEqual(await running.write("hello\n"), { ok: true });
    assert.deepEqual(await running.exit, { exitCode: 0, signal: null });
    assert.match(readFileSync(file, "utf8"), /got hello\r\n$/);
    await running.release();
  });

  test("killing interrupts the command and ends its background processes", async () => {
    const seconds = 86_400 + process.pid;
    const { running, file } = await shell.start(`sleep ${seconds} & echo ready; sleep ${seconds}`);
    await shell.ready({ running, file });
    await running.kill();
    assert.notEqual((await running.exit).exitCode, 0);
    assert.deepEqual(processesNaming(seconds), []);
    await running.release();
  });

  test("a command that ignores Ctrl+C ends with its terminal, as do processes outside its group", async () => {
    const seconds = 172_800 + process.pid;
    const { running, file } = await shell.start(
      `(trap '' INT HUP TERM; setsid sleep ${seconds} & echo ready; while :; do sleep 0.2; done)`,
    );
    await shell.ready({ running, file });
    await running.kill();
    assert.deepEqual(await running.exit, unknownExit);
    assert.match(readFileSync(file, "utf8"), /terminal was closed before the command ended; its exit code is unknown/);
    assert.deepEqual(processesNaming(seconds), []);
    await running.release();
  });

  test("a terminal that the user closes ends its command, whose exit code is unknown", async () => {
    const { running, file } = await shell.start("echo ready; sleep 1000");
    await shell.ready({ running, file });
    const before = shells();
    shell.side.terminals.show(running.terminalId ?? "");
    await closeActive(before);
    assert.deepEqual(await running.exit, unknownExit);
    assert.match(readFileSync(file, "utf8"), /ready\r\n\n\[the terminal was closed/);
    await running.release();
  });

  test("the first command of a new shell may end it, and reports that shell's exit code", async () => {
    await shell.side.terminals.endAll();
    assert.equal((await shell.run("echo bye; exit 5")).exit.exitCode, 5);
    assert.equal((await shell.run("echo again")).text, "again\n");
  });

  test("a command in the sandbox or elsewhere is never typed into it", async () => {
    const file = join(shell.spill, "child.txt");
    const hermes = { outputFile: file, title: "echo elsewhere", input: "none", hasPty: false };
    const before = shells().length;
    const { terminalId } = await shell.side.terminals.create({
      sessionId: "suite",
      command: "echo",
      args: ["in the sandbox"],
      cwd: workspaceFolder(),
      _meta: { hermes },
    });
    await shell.side.terminals.waitForExit(terminalId);
    assert.equal(readFileSync(file, "utf8"), "in the sandbox\n");
    assert.equal(shells().length, before);
    shell.side.terminals.release(terminalId);
  });

  test("in a shell without integration the command runs as our own child, with one notice", async () => {
    await withShell(shell.side, { program: "/bin/sh" }, async () => {
      const { running, file } = await shell.start("echo plain; exit 3");
      await shell.side.printed(running.terminalId, "no shell integration");
      assert.deepEqual(await running.exit, { exitCode: 3, signal: null });
      assert.equal(readFileSync(file, "utf8"), "plain\n");
      await running.release();
      const opened: string[] = [];
      const watch = vscode.window.onDidOpenTerminal(({ name }) => opened.push(name));
      assert.equal((await shell.run("echo more")).text, "more\n");
      watch.dispose();
      assert.ok(!opened.includes("Hermes"), "it is not tried again");
      assert.equal(shell.side.warnings.length, 1);
      assert.deepEqual(shells(), []);
    });
    assert.match((await shell.run("echo $0")).text, /bash/);
  });
});

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
