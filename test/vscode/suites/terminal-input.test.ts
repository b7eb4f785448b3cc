// The agent's terminals in a real extension host: what a user types there, and what closing one does.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { HermesTerminalMeta } from "../../../agent-core/protocol/processes.ts";
import { AgentTerminals } from "../../../extension/terminals/agent-terminals.ts";
import { isAlive } from "../../support/processes.ts";

type Running = {
  readonly id: string;
  readonly terminal: vscode.Terminal;
  readonly outputFile: string;
  printed(text: string): Promise<void>;
};

suite("terminal input", () => {
  let terminals: AgentTerminals;
  let folder: string;
  const printed = new Map<string, string>();
  const listeners = new Set<() => void>();

  setup(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-terminal-"));
    terminals = new AgentTerminals({
      output: (_session, id, text) => {
        printed.set(id, (printed.get(id) ?? "") + text);
        for (const listener of listeners) listener();
      },
      exit: () => undefined,
    });
  });

  teardown(async () => {
    await terminals.endAll();
    terminals.dispose();
    printed.clear();
  });

  async function start(command: string, more: Partial<HermesTerminalMeta> = {}): Promise<Running> {
    const outputFile = join(folder, "output.log");
    const hermes: HermesTerminalMeta = { outputFile, title: command, input: "open", hasPty: false, ...more };
    const opened = new Promise<vscode.Terminal>((resolve) => {
      const watch = vscode.window.onDidOpenTerminal((terminal) => {
        watch.dispose();
        resolve(terminal);
      });
    });
    const request = { sessionId: "s", command: "bash", args: ["-c", command], cwd: folder, _meta: { hermes } };
    const { terminalId } = await terminals.create(request);
    const terminal = await opened;
    terminal.show(true);
    return { id: terminalId, terminal, outputFile, printed: (text) => untilPrinted(terminalId, text) };
  }

  function untilPrinted(id: string, text: string): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!printed.get(id)?.includes(text)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });
  }

  test("a typed line reaches the program, and its output and exit code are complete", async () => {
    const { id, terminal, outputFile, printed: until } = await start('echo ready; read line; echo "got $line"; exit 3');
    await until("ready");
    terminal.sendText("hello there");
    assert.deepEqual(await terminals.waitForExit(id), { exitCode: 3, signal: null });
    assert.equal(readFileSync(outputFile, "utf8"), "ready\ngot hello there\n");
  });

  test("Ctrl+C interrupts the program, which may handle it", async () => {
    const {
      id,
      terminal,
      outputFile,
      printed: until,
    } = await start("trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.1; done", { input: "none" });
    await until("ready");
    terminal.sendText("\u0003", false);
    assert.deepEqual(await terminals.waitForExit(id), { exitCode: 5, signal: null });
    assert.equal(readFileSync(outputFile, "utf8"), "ready\ninterrupted\n");
  });

  test("Ctrl+D ends the input", async () => {
    const { id, terminal, outputFile, printed: until } = await start("echo ready; cat; echo end");
    await until("ready");
    terminal.sendText("one");
    await until("one");
    terminal.sendText("\u0004", false);
    assert.equal((await terminals.waitForExit(id)).exitCode, 0);
    assert.equal(readFileSync(outputFile, "utf8"), "ready\none\nend\n");
  });

  test("typed text reaches a pseudo-terminal unchanged", async () => {
    const inner = "script --quiet --return --flush --command 'tty; read line; echo \"got $line\"' /dev/null";
    const { id, terminal, outputFile, printed: until } = await start(inner, { hasPty: true });
    await until("/dev/pts/");
    terminal.sendText("raw");
    assert.equal((await terminals.waitForExit(id)).exitCode, 0);
    assert.match(readFileSync(outputFile, "utf8"), /got raw/);
  });

  test("the agent can type, too, and learns when no program reads it", async () => {
    const { id, outputFile, printed: until } = await start('echo ready; read line; echo "got $line"');
    await until("ready");
    assert.equal(await terminals.input(id, "from the agent\n"), undefined);
    await terminals.waitForExit(id);
    assert.equal(readFileSync(outputFile, "utf8"), "ready\ngot from the agent\n");
    assert.notEqual(await terminals.input(id, "more\n"), undefined);
  });

  test("closing the terminal ends the command and all its processes", async () => {
    const { id, printed: until } = await start("setsid sleep 7431 & echo pid $!; sleep 7432");
    await until("pid ");
    const pid = /pid (\d+)/.exec(printed.get(id) ?? "")?.[1];
    await vscode.commands.executeCommand("workbench.action.terminal.killAll");
    await terminals.waitForExit(id);
    assert.ok(pid);
    await terminals.endAll(); // resolves when nothing is left
    assert.equal(isAlive(Number(pid)), false);
  });
});
