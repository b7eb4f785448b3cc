/** `delegate_task` with real agents, files and a model server: only the model's answers are scripted. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AIAgentOptions } from "../../../agent-core/agent/agent-options.ts";
import type { ApprovalRequest, ToolProgressEvent } from "../../../agent-core/agent/callbacks.ts";
import { sessionsFolder } from "../../../agent-core/config/home.ts";
import { AIAgent } from "../../../agent-core/index.ts";
import type { TaskResult } from "../../../agent-core/orchestration/task-result.ts";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import { readEntries } from "../../../agent-core/sessions/read-journal.ts";
import { journalPath } from "../../../agent-core/sessions/session-files.ts";
import type { Answer } from "../../support/model-server/answer.ts";
import { call, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

const SESSION = "20261120_120000_00000000";

let model: ModelServer;
let cwd: string;
let home: string;
let events: ToolProgressEvent[];
let asked: ApprovalRequest[];
const agents: AIAgent[] = [];

beforeEach(async () => {
  model = await startModelServer();
  cwd = mkdtempSync(join(tmpdir(), "hermes-delegation-"));
  home = join(cwd, ".home");
  mkdirSync(home);
  events = [];
  asked = [];
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close();
  await model.stop();
});

function start(options: AIAgentOptions = {}): AIAgent {
  const path = journalPath(sessionsFolder(home), SESSION) ?? "";
  const agent = new AIAgent({
    baseUrl: model.baseUrl,
    model: "test-model",
    apiKey: "sk-test-123456",
    environment: {},
    title: "Test",
    cwd,
    home,
    sessionId: SESSION,
    surroundings: false,
    journal: new Journal({
      path,
      sessionId: SESSION,
      cwd,
      now: Date.now,
      onFailure: (message) => expect.fail(message),
    }),
    callbacks: {
      toolProgress: (event) => void events.push(event),
      approval: async (request) => {
        asked.push(request);
        return { kind: "once" };
      },
    },
    ...options,
  });
  agents.push(agent);
  return agent;
}

type Body = ModelServer["requests"][number]["body"];

const firstMessage = (body: Body): string => String(body.messages.find(({ role }) => role === "user")?.["content"]);
const calls = (body: Body): number => body.messages.filter(({ role }) => role === "tool").length;

/** The parent delegates once and then ends; a sub-agent answers by the first word of its goal, in order of its requests. */
function scripted(input: unknown, children: Readonly<Record<string, readonly Answer[]>>): void {
  const asks = new Map<string, number>();
  model.respondWith((body) => {
    const prompt = firstMessage(body);
    if (prompt.startsWith("go")) return calls(body) === 0 ? { parts: [call("delegate_task", input)] } : say("done");
    const name = /^\w+/.exec(prompt)?.[0] ?? "";
    const count = asks.get(name) ?? 0;
    asks.set(name, count + 1);
    return children[name]?.[count] ?? say(`${name} is done.`);
  });
}

async function delegated(agent: AIAgent): Promise<readonly TaskResult[]> {
  await agent.chat("go");
  const result = agent.messages.find(({ role }) => role === "tool");
  return JSON.parse(String(result?.content)) as readonly TaskResult[];
}

test("one task runs in a sub-agent with a context of its own, and its result has facts", async () => {
  writeFileSync(join(cwd, "AGENTS.md"), "Use tabs.\n");
  scripted(
    { goal: "Alpha: write a.txt", context: "It holds one word." },
    {
      Alpha: [
        { parts: [call("write_file", { path: "a.txt", content: "alpha\n" })] },
        { parts: [call("terminal", { command: "exit 3" })] },
        say("I wrote a.txt."),
      ],
    },
  );
  const agent = start();
  const [result, ...others] = await delegated(agent);
  expect(others).toEqual([]);
  expect(result).toMatchObject({
    id: "task-1",
    status: "completed",
    summary: "I wrote a.txt.",
    iterations: 3,
    files: [{ path: "a.txt", hunks: 1 }],
    commands: [{ command: "exit 3", exit: 3 }],
    usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
  });
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("alpha\n");
  const request = model.requests.map(({ body }) => body).find((body) => firstMessage(body).startsWith("Alpha"));
  if (request === undefined) return expect.fail("no request of the sub-agent");
  const [system] = request.messages;
  expect(system?.["content"]).toContain("Use tabs.");
  expect(system?.["content"]).toContain("You are a sub-agent");
  expect(request.messages).toHaveLength(2);
  expect(firstMessage(request)).toContain("It holds one word.");
  const offered = (request["tools"] as readonly { function: { name: string } }[]).map((tool) => tool.function.name);
  expect(offered).toContain("write_file");
  expect(offered.filter((name) => ["delegate_task", "clarify", "memory", "cronjob"].includes(name))).toEqual([]);
});

test("a sub-agent is a session with a journal that names its parent, and its calls are parts of the parent's call", async () => {
  scripted({ goal: "Alpha" }, { Alpha: [{ parts: [call("write_file", { path: "a.txt", content: "x" })] }, say("ok")] });
  const agent = start();
  const [result] = await delegated(agent);
  const child = result?.session ?? "";
  const entries = await readEntries(journalPath(sessionsFolder(home), child) ?? "");
  expect(entries[0]).toMatchObject({ type: "session", origin: "delegation", parent: SESSION });
  const started = events.filter((event) => event.type === "started");
  const [outer, inner] = started;
  expect(inner).toMatchObject({ name: "write_file", parentCallId: outer?.callId, taskId: "task-1" });
  expect(inner?.callId.startsWith(`${outer?.callId}/task-1/`)).toBe(true);
  const own = await readEntries(journalPath(sessionsFolder(home), SESSION) ?? "");
  expect(own.filter(({ type }) => type === "delegation")).toMatchObject([{ callId: outer?.callId, child }]);
  expect(own.find((entry) => entry.type === "tool" && entry.name === "delegate_task")).toMatchObject({
    tasks: [{ id: "task-1", status: "completed", sessionId: child, files: [{ path: "a.txt", hunks: 1 }] }],
  });
  expect(readdirSync(sessionsFolder(home)).filter((name) => name.endsWith(".lock"))).toEqual([`${SESSION}.jsonl.lock`]);
});

const until = (file: string): string => `for _ in $(seq 500); do [ -e ${file} ] && break; sleep 0.02; done`;

test("sub-agents that write and run commands at the same time each get their own files and commands", async () => {
  writeFileSync(join(cwd, "make.sh"), "echo made > made.txt\n");
  const [waiting, writing] = [`touch started; ${until("go")}; echo a > a.txt`, `${until("a.txt")}; echo b > b.txt`];
  scripted(
    { tasks: ["Alpha", "Beta", "Gamma"].map((goal) => ({ id: goal, goal })) },
    {
      Alpha: [{ parts: [call("terminal", { command: waiting })] }],
      Beta: [
        { parts: [call("terminal", { command: until("started") })] },
        { parts: [call("write_file", { path: "edited.txt", content: "beta\n" })] },
        { parts: [call("terminal", { command: "sh make.sh; touch go" })] },
        { parts: [call("terminal", { command: writing })] },
      ],
      Gamma: [{ parts: [call("write_file", { path: "gamma.txt", content: "gamma\n" })] }],
    },
  );
  const results = await delegated(start());
  const facts = results.map(({ files, commands }) => ({
    files: files.toSorted((one, other) => one.path.localeCompare(other.path)),
    commands: commands.map(({ command }) => command),
  }));
  expect(facts).toEqual([
    {
      files: [
        { path: "a.txt", hunks: 0 },
        { path: "made.txt", hunks: 0, shared: true },
        { path: "started", hunks: 0 },
      ],
      commands: [waiting],
    },
    {
      files: [
        { path: "b.txt", hunks: 0 },
        { path: "edited.txt", hunks: 1 },
        { path: "go", hunks: 0 },
        { path: "made.txt", hunks: 0, shared: true },
      ],
      commands: [until("started"), "sh make.sh; touch go", writing],
    },
    { files: [{ path: "gamma.txt", hunks: 1 }], commands: [] },
  ]);
});
