/** Ports of a tool over the real machine, in a temporary folder. */
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { SessionBrowser } from "../../agent-core/browser/session-browser.ts";
import { SessionScripts } from "../../agent-core/execute-code/session-scripts.ts";
import type { Answer } from "../../agent-core/host/host.ts";
import { nodeHost } from "../../agent-core/host/node-host.ts";
import type { HostTerminals } from "../../agent-core/host/terminals/terminals.ts";
import { Memory } from "../../agent-core/memory/memory.ts";
import { FileMemory } from "../../agent-core/tools/seen-files.ts";
import { Processes } from "../../agent-core/tools/terminal/processes.ts";
import { SessionShell } from "../../agent-core/tools/terminal/session-shell.ts";
import { TodoList } from "../../agent-core/tools/todo-list.ts";
import type { Tool, ToolActivity, ToolContext, ToolResult } from "../../agent-core/tools/tool.ts";

const contexts: ToolContext[] = [];

// Ends what a test file left running.
afterAll(async () => {
  for (const { processes, host, browser, scripts } of contexts.splice(0)) {
    await processes.dispose();
    await browser?.close();
    await scripts.close();
    await host.terminals.dispose();
  }
});

export type Bench = {
  readonly folder: string;
  readonly context: ToolContext;
  readonly shown: ToolActivity[];
  readonly cancel: AbortController;
  run(tool: Tool, input: unknown): Promise<ToolResult>;
};

/** Commands run on this machine unless other `terminals` are given. */
export function toolBench(answer: Answer = { kind: "unavailable" }, terminals?: HostTerminals, place?: string): Bench {
  const folder = place ?? realpathSync(mkdtempSync(join(tmpdir(), "hermes-tool-")));
  const host = nodeHost();
  const shown: ToolActivity[] = [];
  const cancel = new AbortController();
  const shell = new SessionShell(folder);
  const processes = new Processes();
  const browser = new SessionBrowser({}, () => join(folder, ".spill"));
  const context: ToolContext = {
    shell,
    shellFolder: folder,
    processes,
    browser,
    scripts: new SessionScripts(),
    commandSeconds: 180,
    host: terminals === undefined ? host : { ...host, terminals },
    cwd: folder,
    callId: "call_1",
    spillFolder: join(folder, ".spill"),
    signal: cancel.signal,
    files: new FileMemory(),
    todos: new TodoList(() => undefined),
    sessions: undefined,
    skills: undefined,
    isSecret: (path) => path.endsWith(".env"),
    memory: new Memory({ folder: join(folder, ".memories") }),
    sessionId: "20261120_120000_00000000",
    ask: () => Promise.resolve(answer),
    show: (activity) => shown.push(activity),
  };
  contexts.push(context);
  return {
    folder,
    context,
    shown,
    cancel,
    async run(tool, input) {
      const view = { folder: shell.folder, process: (id: string) => processes.find(id), page: browser.address };
      const preparation = tool.prepare(input, folder, view);
      if (!preparation.ok) return { ok: false, text: preparation.text };
      const staged = await preparation.call.stage(context);
      return staged.ok ? staged.run() : { ok: false, text: staged.text };
    },
  };
}
