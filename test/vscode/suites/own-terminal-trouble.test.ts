// Conflicts between the agent and the user's own shell: the user at the same prompt, keys, other kinds of shells.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import * as vscode from "vscode";
import { processesNaming, untilProcesses } from "../../support/processes.ts";
import { OwnShell, shells, unknownExit, withShell } from "../support/own-shell.ts";

/** In the environment of the window that the suites run in (scripts/vscode-suite.ts). */
const INHERITED = "HERMES_PROVIDER";
const OWN_TERMINAL = "Hermes' own terminal";

suite("own terminal, trouble", () => {
  let shell: OwnShell;

  suiteSetup(async () => {
    shell = await OwnShell.open({ withheld: [INHERITED, "SUITE_KEY"], passed: { SUITE_PASSED: "passed" } });
  });

  suiteTeardown(async () => {
    await shell.close();
  });

  async function closeShells(): Promise<void> {
    await shell.side.terminals.endAll();
    assert.deepEqual(shells(), []);
  }

  /** The one terminal with the user's shell. */
  function terminal(): vscode.Terminal {
    const [only, ...others] = shells();
    assert.ok(only !== undefined && others.length === 0);
    return only;
  }

  const trace = (name: string): string => join(shell.spill, `trace-${name}`);

  /** Output of a command that our own child carries out, since the user's shell must not; the terminal says why. */
  async function runBeside(command: string): Promise<string> {
    const { running, file } = await shell.start(command);
    await shell.side.printed(running.terminalId, OWN_TERMINAL);
    await running.exit;
    await running.release();
    return readFileSync(file, "utf8");
  }

  const startUp = "export SUITE_KEY=secret SUITE_PLAIN=plain\n";
  const names = `env | grep -e '^SUITE_' -e '^${INHERITED}=' | sort`;
  const allowed = "SUITE_PASSED=passed\nSUITE_PLAIN=plain\n";

  test("the shell has no keys of providers, neither from VS Code nor from start-up files", async () => {
    assert.ok(process.env[INHERITED] !== undefined);
    await withShell(
      shell.side,
      { program: "/bin/bash", files: { ".bashrc": `HISTCONTROL=ignoreboth\n${startUp}` } },
      async () => {
        assert.equal((await shell.run(names)).text, allowed);
        // VS Code calls a line by its first command there.
        assert.equal((await shell.run("echo one; echo two")).text, "one\ntwo\n");
        assert.equal((await shell.run("eval 'echo three'; (exit 3)")).exit.exitCode, 3);
      },
    );
  });

  test("a shell that keeps a key gets no command", async () => {
    const files = { ".bashrc": "readonly SUITE_KEY=secret\n" };
    await withShell(shell.side, { program: "/bin/bash", files }, async () => {
      assert.equal(await runBeside("echo plain"), "plain\n");
      assert.equal(await runBeside("echo more"), "more\n");
      assert.equal(shell.side.warnings.length, 1);
    });
  });

  test("zsh runs commands that mean the same in bash; a child runs all others", async () => {
    const program = installed("zsh");
    await withShell(shell.side, { program, files: { ".zshrc": startUp } }, async () => {
      assert.equal((await shell.run(names)).text, allowed);
      const { exit, text } = await shell.run("for word in one 'two!'\ndo echo $ZSH_NAME $word\ndone\nls /nowhere");
      assert.match(text, /^zsh one\nzsh two!\n.*\/nowhere/);
      assert.notEqual(exit.exitCode, 0);
      assert.equal((await shell.run("cd /usr && pwd")).after?.folder, "/usr");
      assert.equal(await runBeside("echo one # ; echo two"), "one\n");
    });
  });

  test("fish does the same, and keeps its universal variables", async () => {
    const program = installed("fish");
    const start = "set -Ux SUITE_KEY secret; set -gx SUITE_PLAIN plain; function mine; echo mine $argv; end\n";
    await withShell(shell.side, { program, files: { ".config/fish/config.fish": start } }, async () => {
      // A universal variable can only be hidden, not removed.
      assert.equal(plain(await shell.run(names)), `SUITE_KEY=\n${allowed}`);
      assert.equal(plain(await shell.run("mine own; set --show SUITE_KEY")).includes("set in universal scope"), true);
      assert.equal((await shell.run("false")).exit.exitCode, 1);
      assert.equal((await shell.run("cd /usr; pwd")).after?.folder, "/usr");
      assert.equal(await runBeside("echo 'a\\'' ; echo two; echo '"), "a\\ ; echo two; echo \n");
      // Longer than the terminal is wide: fish breaks the line, and its output is complete all the same.
      const long = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
      assert.equal(plain(await shell.run(`echo ${long}`)).replace(/\n/g, ""), long);
    });
  });

  test("text that the user began at the prompt is cleared or reported", async () => {
    await closeShells();
    assert.equal((await shell.run("echo first")).text, "first\n");
    terminal().sendText("echo half", false);
    const { exit, text } = await shell.run("echo whole");
    // VS Code wipes out what it has seen of it, and may take ours for another line then.
    const told = /\[the shell ran it as: (?:echo half)?echo whole\nThe beginning of its output may be missing\.\]\n$/;
    assert.ok(text === "whole\n" || told.test(text), text);
    assert.equal(exit.exitCode, 0);
  });

  test("text typed while a command runs reaches the command", async () => {
    await closeShells();
    const started = await shell.start("echo ready; read -r line; echo got $line");
    await shell.ready(started);
    terminal().sendText("hello");
    assert.deepEqual(await started.running.exit, { exitCode: 0, signal: null });
    assert.match(readFileSync(started.file, "utf8"), /got hello\r\n$/);
    await started.running.release();
  });

  test("while the user runs a program, the agent's commands use another terminal", async () => {
    const seconds = 259_200 + process.pid;
    const users = terminal();
    const begun = new Promise<void>((resolve) => {
      const watch = vscode.window.onDidStartTerminalShellExecution(({ terminal: where }) => {
        if (where !== users) return;
        watch.dispose();
        resolve();
      });
    });
    users.sendText(`sleep ${seconds}`);
    await begun;
    const started = await shell.start("echo ready; sleep 1000");
    await shell.ready(started);
    await started.running.kill();
    await started.running.exit;
    await started.running.release();
    assert.equal(shells().length, 2);
    await untilProcesses(seconds, (count) => count === 1);
    await closeShells();
    await untilProcesses(seconds, (count) => count === 0);
  });

  test("no command is typed into a program that VS Code takes for ended", async () => {
    const started = await shell.start("printf '\\033]633;D;0\\007'; echo ready; cat");
    await started.running.exit;
    assert.equal((await shell.run("echo beside")).text, "beside\n");
    assert.equal(shells().length, 2);
    await started.running.release();
    await closeShells();
  });

  test("a command that is killed before its start ends", async () => {
    const seconds = 345_600 + process.pid;
    const { running } = await shell.start(`sleep ${seconds}`);
    await running.kill();
    assert.notEqual((await running.exit).exitCode, 0);
    await running.release();
    assert.deepEqual(processesNaming(seconds), []);
  });

  test("after a shell stops reporting, each command has run once with unknown exit code, and the next one gets a new shell", async () => {
    await closeShells();
    // The trap goes with the line itself: removed at the prompt, it would still report a start there, or not in time.
    await shell.run("USUAL=$PROMPT_COMMAND; PROMPT_COMMAND='eval \"$USUAL\"; PROMPT_COMMAND='; trap - DEBUG");
    const silent = terminal();
    const untold = await shell.start(`echo once >> ${trace("nothing")}`);
    await shell.run("trap - DEBUG");
    const halfTold = await shell.run(`echo once >> ${trace("ends")}`);
    assert.deepEqual(halfTold.exit, unknownExit);
    assert.match(halfTold.text, /\[the shell did not report how the command ended; the exit code is not known\]/);
    assert.equal(readFileSync(trace("ends"), "utf8"), "once\n");
    assert.equal((await shell.run("echo again")).text, "again\n");
    assert.deepEqual(await untold.running.exit, unknownExit);
    assert.match(readFileSync(untold.file, "utf8"), /\[the shell did not start this command; its effect is unknown\]/);
    await untold.running.release();
    assert.equal(readFileSync(trace("nothing"), "utf8"), "once\n");
    assert.ok(!shells().includes(silent), "it is closed");
    assert.equal(shells().length, 2);
  }).timeout(180_000);
});

/** Without a shell's messages to the terminal around a command: title, colours, modes. */
function plain({ text }: { readonly text: string }): string {
  return stripVTControlCharacters(text).replaceAll("\r", "");
}

/** Path of a shell that scripts/system-programs.ts installs. */
function installed(name: string): string {
  const path = `/usr/bin/${name}`;
  assert.ok(existsSync(path), `${path} is missing: npm test installs it`);
  return path;
}
