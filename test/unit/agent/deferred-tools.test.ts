import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import type { AIAgentOptions } from "../../../agent-core/agent/agent-options.ts";
import type { ToolProgressEvent } from "../../../agent-core/agent/callbacks.ts";
import { AIAgent } from "../../../agent-core/index.ts";
import { defineTool, type Tool } from "../../../agent-core/tools/tool.ts";
import { call, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let model: ModelServer;
let ran: unknown[];

beforeEach(async () => {
  model = await startModelServer();
  ran = [];
});
afterEach(() => model.stop());

const FILLER = "It does one more of the many things that such a service offers. ".repeat(4);

function tool(name: string, description = FILLER, toolset = `mcp-${name.split("__")[1]}`): Tool {
  return defineTool({
    name,
    toolset,
    need: "foreign",
    kind: "fetch",
    readOnly: false,
    description,
    input: z.object({ title: z.string(), body: z.string().optional() }),
    title: ({ title }) => `Hub: ${title}`,
    effect: () => ({ kind: "edit", paths: ["/elsewhere/issue"] }),
    run: async (input) => {
      ran.push(input);
      return { ok: true, text: `created ${input.title}` };
    },
  });
}

const MANY = [
  ...Array.from({ length: 298 }, (_, index) => tool(`mcp__server${index % 6}__action_number_${index}`)),
  tool("mcp__hub__create_issue", "Create an issue in a repository."),
  tool("mcp__hub__search_issues", "Search the issues of a repository."),
];

function agentWith(tools: () => readonly Tool[], options: Partial<AIAgentOptions> = {}): AIAgent {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-deferred-"));
  const endpoint = { baseUrl: model.baseUrl, model: "test-model", apiKey: "sk-test-123456", environment: {} };
  return new AIAgent({ ...endpoint, cwd, home: join(cwd, ".home"), extensions: [{ name: "mcp", tools }], ...options });
}

const EVERYTHING: Partial<AIAgentOptions> = {
  cron: { state: () => Promise.reject(new Error()), act: () => Promise.reject(new Error()) },
  browser: { executable: "/bin/true" },
  platform: "Visual Studio Code",
};

const requestSchema = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.string().nullish() })),
  tools: z.array(z.object({ function: z.object({ name: z.string(), description: z.string() }) })),
});

function request(number: number) {
  return requestSchema.parse(model.requests[number]?.body);
}

/** Result that the model got last in a request. */
function result(number: number): string {
  return request(number).messages.findLast(({ role }) => role === "tool")?.content ?? "";
}

const names = (number: number): readonly string[] => request(number).tools.map(({ function: { name } }) => name);

test("with 300 tools of servers the request stays small, and names servers and tools", async () => {
  model.script(say("done"));
  await agentWith(() => MANY).chat("hi");
  const { messages, tools } = request(0);
  expect(names(0).filter((name) => name.startsWith("mcp__"))).toEqual([]);
  expect(names(0)).toEqual(expect.arrayContaining(["tool_search", "tool_describe", "tool_call"]));
  expect(Buffer.byteLength(JSON.stringify(tools) + messages[0]?.content)).toBeLessThan(10_000);
  const directory = tools.find(({ function: { name } }) => name === "tool_search")?.function.description;
  expect(directory).toContain("mcp__hub__create_issue, search_issues");
  expect(directory).toMatch(/mcp__server0__action_number_0, action_number_6, .*… \d+ more/);
});

test.each([
  ["with a usual window", 128_000, 8_900],
  ["of a model with 16,000 tokens", 16_000, 6_000],
  ["of a model with 8,192 tokens", 8_192, 6_000],
])("the first request %s is small, with all built-in tools on", async (_case, contextWindow, limit) => {
  model.script(say("done"));
  await agentWith(() => [], { ...EVERYTHING, modelFacts: () => ({ contextWindow }) }).chat("hi");
  expect(Buffer.byteLength(JSON.stringify(model.requests[0]?.body))).toBeLessThan(limit);
  expect(names(0)).toEqual(expect.arrayContaining(["read_file", "search_files", "patch", "write_file", "terminal"]));
  const search = request(0).tools.find(({ function: { name } }) => name === "tool_search")?.function.description;
  for (const name of ["cronjob", "delegate_task", "execute_code", "browser_"]) expect(search).toContain(name);
});

test("tools of a toolset that the user names have their schemas in the request", async () => {
  model.script(say("done"));
  await agentWith(() => [], { ...EVERYTHING, enabledToolsets: ["file", "terminal", "cronjob", "skills"] }).chat("hi");
  expect(names(0)).toEqual(expect.arrayContaining(["cronjob", "skill_manage"]));
  expect(names(0)).not.toContain("tool_search");
});

test("a task of reading, searching, editing, running and answering fits a window of 8,192 tokens", async () => {
  const lines = Array.from({ length: 400 }, (_, index) => `export const value${index} = ${index};`);
  model.script(
    { parts: [call("search_files", { pattern: "value399" })] },
    { parts: [call("read_file", { path: "a.ts", offset: 380, limit: 30 })] },
    { parts: [call("patch", { path: "a.ts", old_string: "value399 = 399", new_string: "value399 = 400" })] },
    { parts: [call("terminal", { command: "grep -c = a.ts" })] },
    { parts: [call("tool_call", { name: "todo", arguments: {} })] },
    say("Changed value399."),
  );
  const cwd = mkdtempSync(join(tmpdir(), "hermes-small-"));
  writeFileSync(join(cwd, "a.ts"), lines.join("\n"));
  const agent = agentWith(() => [], { cwd, modelFacts: () => ({ contextWindow: 8_192 }), approvals: "off" });
  expect(await agent.chat("Make value399 400, and run the check.")).toBe("Changed value399.");
  const results = [1, 2, 3, 4, 5].map(result);
  expect(results).toEqual([
    expect.stringContaining("a.ts:400"),
    expect.stringContaining("400|export const value399 = 399;"),
    expect.stringContaining("+export const value399 = 400;"),
    expect.stringMatching(/^400\n/),
    "[]",
  ]);
  const tools = model.requests.map(({ body }) => JSON.stringify(body["tools"]));
  expect(new Set(tools).size).toBe(1);
});

test("a few tools stay in the request with their schemas", async () => {
  model.script(say("done"));
  await agentWith(() => MANY.slice(-2)).chat("hi");
  expect(names(0)).toEqual(expect.arrayContaining(["mcp__hub__create_issue", "mcp__hub__search_issues"]));
});

test("a search finds tools by name and purpose, the best first, with their parameters", async () => {
  const queries = ["create issue", "repository search", "mcp__server1__action_number_1"];
  model.script({ parts: [call("tool_search", { queries })] }, say("done"));
  await agentWith(() => MANY).chat("hi");
  const lines = result(1).split("\n");
  expect(lines[0]).toBe("- mcp__hub__create_issue(title, body?): Create an issue in a repository.");
  expect(lines).toContainEqual(expect.stringContaining("- mcp__hub__search_issues("));
  expect(lines).toContainEqual(expect.stringContaining("- mcp__server1__action_number_1("));
});

test("a description gives the schema, and names near a wrong one", async () => {
  const wanted = ["mcp__hub__create_issue", "mcp__hub__create_isue"];
  model.script({ parts: [call("tool_describe", { names: wanted })] }, say("done"));
  await agentWith(() => MANY).chat("hi");
  expect(result(1)).toContain('"required":["title"]');
  expect(result(1)).toContain("Did you mean mcp__hub__create_issue");
});

const CREATE = { name: "mcp__hub__create_issue", arguments: { title: "Broken build" } };

test("a call through tool_call is the tool's own: its card, its permission, its title", async () => {
  const events: ToolProgressEvent[] = [];
  const asked: unknown[] = [];
  model.script({ parts: [call("tool_call", CREATE)] }, say("done"));
  await agentWith(() => MANY, {
    callbacks: {
      toolProgress: (event) => events.push(event),
      approval: async ({ name, title, input }) => {
        asked.push({ name, title, input });
        return { kind: "once" };
      },
    },
    approvalMode: () => "ask",
  }).chat("hi");
  expect(asked).toEqual([{ name: CREATE.name, title: "Hub: Broken build", input: CREATE.arguments }]);
  expect(events.find(({ type }) => type === "started")).toMatchObject({
    name: CREATE.name,
    title: "Hub: Broken build",
    kind: "fetch",
    input: CREATE.arguments,
  });
  expect(events.find(({ type }) => type === "finished")).toMatchObject({ name: CREATE.name });
  expect(ran).toEqual([CREATE.arguments]);
  expect(result(1)).toBe("created Broken build");
});

test("a refused call through tool_call does not run", async () => {
  model.script({ parts: [call("tool_call", CREATE)] }, say("done"));
  await agentWith(() => MANY, { approvalMode: () => "plan" }).chat("hi");
  expect(result(1)).toContain("Plan mode");
  expect(ran).toEqual([]);
});

test.each([
  ["arguments as JSON text", { ...CREATE, arguments: JSON.stringify(CREATE.arguments) }, "created Broken build"],
  [
    "arguments that do not fit the schema",
    { ...CREATE, arguments: { body: "x" } },
    "mcp__hub__create_issue: the arguments do not fit",
  ],
  ["an unknown tool", { name: "mcp__hub__create_isue", arguments: {} }, "Did you mean mcp__hub__create_issue"],
  ["itself", { name: "tool_call", arguments: CREATE }, "There is no tool"],
  ["no name", { arguments: {} }, "give `name`"],
])("tool_call with %s", async (_case, input, expected) => {
  model.script({ parts: [call("tool_call", input)] }, say("done"));
  await agentWith(() => MANY, { approvals: "off" }).chat("hi");
  expect(result(1)).toContain(expected);
});

test("a deferred tool may be called by its own name too", async () => {
  model.script({ parts: [call(CREATE.name, CREATE.arguments)] }, say("done"));
  await agentWith(() => MANY, { approvals: "off" }).chat("hi");
  expect(result(1)).toBe("created Broken build");
});

test("the request's tools are the same bytes from turn to turn, until a tool changes", async () => {
  let tools: readonly Tool[] = MANY;
  model.script(say("one"), say("two"), say("three"));
  const agent = agentWith(() => tools);
  await agent.chat("hi");
  tools = [...MANY];
  await agent.chat("hi");
  tools = [...MANY, tool("mcp__hub__close_issue", "Close an issue.")];
  await agent.chat("hi");
  const texts = model.requests.map(({ body }) => JSON.stringify(body["tools"]));
  expect(texts[1]).toBe(texts[0]);
  expect(texts[2]).toContain("close_issue");
});

test("with hundreds of servers the directory stays short", async () => {
  const tools = Array.from({ length: 400 }, (_, index) => tool(`mcp__a_server_with_a_long_name_${index}__action`));
  model.script(say("done"));
  await agentWith(() => tools, { disabledToolsets: ["browser"] }).chat("hi");
  const search = request(0).tools.find(({ function: { name } }) => name === "tool_search");
  expect(search?.function.description).toMatch(/… \d+ more toolsets/);
});
