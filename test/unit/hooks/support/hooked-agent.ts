import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { ApprovalRequest, ToolProgressEvent } from "../../../../agent-core/agent/callbacks.ts";
import type { Hook } from "../../../../agent-core/hooks/hook.ts";
import { AIAgent, type AIAgentOptions } from "../../../../agent-core/index.ts";
import { Journal } from "../../../../agent-core/sessions/journal.ts";
import { defineTool } from "../../../../agent-core/tools/tool.ts";
import type { ModelServer } from "../../../support/model-server/model-server.ts";

/** An agent with hooks, a real journal and a real folder; `greet` is a tool of an extension, as an MCP server's. */
export function hookedAgent(model: ModelServer, hooks: readonly Hook[], options: Partial<AIAgentOptions> = {}) {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-hooks-")));
  writeFileSync(join(cwd, "a.txt"), "one\n");
  const path = join(cwd, ".home", "vscode", "s.jsonl");
  const asked: ApprovalRequest[] = [];
  const progress: ToolProgressEvent[] = [];
  const notices: string[] = [];
  const greet = defineTool({
    name: "mcp__hello__greet",
    toolset: "mcp-hello",
    kind: "other",
    readOnly: false,
    description: "Greets.",
    input: z.object({ who: z.string() }),
    title: ({ who }) => `Greet ${who}`,
    effect: () => ({ kind: "none" }),
    async run({ who }, { cwd: folder }) {
      writeFileSync(join(folder, "greeted.txt"), who);
      return { ok: true, text: `hello, ${who}` };
    },
  });
  const agent = new AIAgent({
    baseUrl: model.baseUrl,
    model: "test-model",
    apiKey: "sk-test-123456",
    environment: {},
    cwd,
    home: join(cwd, ".home"),
    sessionId: "s1",
    memory: false,
    journal: new Journal({ path, sessionId: "s1", cwd, now: () => 1, onFailure: (message) => notices.push(message) }),
    extensions: [{ name: "test", tools: () => [greet], hooks: () => hooks }],
    callbacks: {
      approval: async (request) => {
        asked.push(request);
        return { kind: "once" };
      },
      toolProgress: (event) => progress.push(event),
      status: ({ message }) => notices.push(message),
    },
    ...options,
  });
  return {
    agent,
    cwd,
    asked,
    progress,
    notices,
    /** Entries of the journal in order. */
    entries: (): readonly Record<string, unknown>[] =>
      readFileSync(path, "utf8")
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>])),
    journalText: () => readFileSync(path, "utf8"),
  };
}

export function hook(event: Hook["event"], run: Hook["run"], options: Partial<Hook> = {}): Hook {
  return { event, label: "guard.sh", origin: "home", failClosed: false, timeoutMs: 5_000, run, ...options };
}
