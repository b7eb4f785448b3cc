/** An agent that delegates, over real files, journals and a model server whose answers are scripted by task. */
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { AIAgentOptions } from "../../../../agent-core/agent/agent-options.ts";
import type { ApprovalRequest, ToolProgressEvent } from "../../../../agent-core/agent/callbacks.ts";
import { sessionsFolder } from "../../../../agent-core/config/home.ts";
import { AIAgent } from "../../../../agent-core/index.ts";
import type { TaskResult } from "../../../../agent-core/orchestration/task-result.ts";
import type { JournalEntry } from "../../../../agent-core/sessions/entry.ts";
import { Journal } from "../../../../agent-core/sessions/journal.ts";
import { readEntries } from "../../../../agent-core/sessions/read-journal.ts";
import { journalPath, newSessionId } from "../../../../agent-core/sessions/session-files.ts";
import type { Answer } from "../../../support/model-server/answer.ts";
import { call, type ModelServer, say, startModelServer } from "../../../support/model-server/model-server.ts";

type Body = ModelServer["requests"][number]["body"];

export type DelegationBench = {
  readonly model: ModelServer;
  /** Working folder, absolute. */
  readonly cwd: string;
  readonly home: string;
  readonly agent: AIAgent;
  readonly sessionId: string;
  readonly events: readonly ToolProgressEvent[];
  /** Permission requests; each is allowed once. */
  readonly asked: readonly ApprovalRequest[];
  /** Requests of the task whose goal begins with this word. */
  requestsOf(task: string): readonly Body[];
  /** Entries of a session's journal. */
  entries(sessionId: string): Promise<readonly JournalEntry[]>;
  /** Lets the agent delegate `input`; a task answers by the first word of its goal, in order of its requests. */
  script(input: unknown, tasks?: Readonly<Record<string, readonly Answer[]>>): void;
  /** Runs a turn, and gives the results of its delegation. */
  run(): Promise<readonly TaskResult[]>;
};

export const firstPrompt = ({ messages }: Body): string =>
  String(messages.find(({ role }) => role === "user")?.["content"]);

export async function delegationBench(options: AIAgentOptions = {}): Promise<DelegationBench> {
  const model = await startModelServer();
  const cwd = options.cwd ?? realpathSync(mkdtempSync(join(tmpdir(), "hermes-delegation-")));
  const home = join(cwd, ".home");
  mkdirSync(home, { recursive: true });
  const [events, asked]: [ToolProgressEvent[], ApprovalRequest[]] = [[], []];
  const sessionId = newSessionId(Date.now());
  const pathOf = (id: string): string => journalPath(sessionsFolder(home), id) ?? "";
  const failed = (message: string): void => expect.fail(message);
  const journal = new Journal({ path: pathOf(sessionId), sessionId, cwd, now: Date.now, onFailure: failed });
  const agent = new AIAgent({
    baseUrl: model.baseUrl,
    model: "test-model",
    apiKey: "sk-test-123456",
    environment: {},
    title: "Test",
    home,
    sessionId,
    surroundings: false,
    journal,
    callbacks: {
      toolProgress: (event) => void events.push(event),
      approval: async (request) => {
        asked.push(request);
        return { kind: "once" };
      },
    },
    ...options,
    cwd,
  });
  onTestFinished(async () => {
    await agent.close();
    journal.close();
    await model.stop();
  });
  return {
    model,
    cwd,
    home,
    agent,
    sessionId,
    events,
    asked,
    requestsOf: (task) => model.requests.map(({ body }) => body).filter((body) => wordOf(body) === task),
    entries: (id) => readEntries(pathOf(id)),
    script(input, tasks = {}) {
      const counts = new Map<string, number>();
      model.respondWith((body) => {
        const word = wordOf(body);
        const isBegun = body.messages.some(({ role }) => role === "tool");
        if (word === "go") return isBegun ? say("done") : { parts: [call("delegate_task", input)] };
        const count = counts.get(word) ?? 0;
        counts.set(word, count + 1);
        return tasks[word]?.[count] ?? say(`${word} is done.`);
      });
    },
    async run() {
      await agent.chat("go");
      const result = agent.messages.find(({ role }) => role === "tool");
      const text = String(result?.content);
      return text.startsWith("[") ? (JSON.parse(text) as readonly TaskResult[]) : expect.fail(text);
    },
  };
}

function wordOf(body: Body): string {
  return /^\w+/.exec(firstPrompt(body))?.[0] ?? "";
}

/** Tasks without dependencies, each with its name as the goal. */
export function tasksNamed(...names: readonly string[]) {
  return { tasks: names.map((name) => ({ id: name, goal: name })) };
}
