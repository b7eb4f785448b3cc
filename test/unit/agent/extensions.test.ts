import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import type { CommandSession } from "../../../agent-core/acp/commands/command.ts";
import { runCommand } from "../../../agent-core/acp/commands/slash-commands.ts";
import type { Extension } from "../../../agent-core/agent/extensions.ts";
import { AIAgent } from "../../../agent-core/index.ts";
import { defineTool, type Tool } from "../../../agent-core/tools/tool.ts";
import { call, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let model: ModelServer;
let log: string[];

beforeEach(async () => {
  model = await startModelServer();
  log = [];
});
afterEach(() => model.stop());

function agentWith(...extensions: Extension[]): AIAgent {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-extensions-"));
  const endpoint = { baseUrl: model.baseUrl, model: "test-model", apiKey: "sk-test-123456", environment: {} };
  return new AIAgent({ ...endpoint, cwd, home: join(cwd, ".home"), extensions, onDefect: (line) => log.push(line) });
}

function greeter(name: string): Tool {
  return defineTool({
    name,
    toolset: "mcp-greeter",
    need: "foreign",
    kind: "other",
    readOnly: true,
    description: "Greets.",
    input: z.object({ who: z.string() }),
    title: ({ who }) => `Greet ${who}`,
    effect: () => ({ kind: "none" }),
    run: async ({ who }) => ({ ok: true, text: `hello, ${who}` }),
  });
}

const requestTools = z.object({ tools: z.array(z.object({ function: z.object({ name: z.string() }) })) });

function toolNames(request: number): readonly string[] {
  const { tools } = requestTools.parse(model.requests[request]?.body);
  return tools.map((tool) => tool.function.name);
}

test("a new tool of an extension is offered from the next request on, behind the others", async () => {
  const [first, second] = [greeter("greet"), greeter("greet_again")];
  model.script({ parts: [call("greet", { who: "you" })] }, say("done"), say("more"));
  const agent = agentWith({ name: "mcp", tools: () => (model.requests.length === 0 ? [first] : [first, second]) });
  await agent.chat("go");
  expect(JSON.stringify(model.requests[1]?.body.messages)).toContain("hello, you");
  expect(toolNames(1)).toEqual([...toolNames(0), "greet_again"]);
  await agent.chat("again");
  expect(toolNames(2)).toEqual(toolNames(1));
});

test("a tool with the name of a built-in one is left out", async () => {
  model.script(say("done"));
  await agentWith({ name: "plugins", tools: () => [greeter("read_file")] }).chat("go");
  expect(toolNames(0).filter((name) => name === "read_file")).toHaveLength(1);
});

test("the system prompt holds the text of an extension, and a message its data", async () => {
  model.script(say("done"));
  const agent = agentWith({
    name: "skills",
    promptText: async () => "Skills: debug",
    attach: async (message) => `[data for ${message}]`,
  });
  await agent.chat("go");
  const messages = JSON.stringify(model.requests[0]?.body.messages);
  expect(messages).toContain("Skills: debug");
  expect(messages).toContain("[data for go]");
  expect(agent.transcript.map(({ message }) => message)).toContainEqual(
    expect.objectContaining({ role: "user", synthetic: true }),
  );
});

test("an extension that fails costs its part alone, and the log names it", async () => {
  model.script(say("done"));
  const broken: Extension = {
    name: "skills",
    promptText: () => Promise.reject(new Error("no index")),
    attach: () => Promise.reject(new Error("no router")),
  };
  expect(await agentWith(broken).chat("go")).toBe("done");
  expect(log.sort()).toEqual(["The extension skills failed: no index", "The extension skills failed: no router"]);
});

test("/tools as the first prompt waits for the tools of a slow extension", async () => {
  const ready = Promise.withResolvers<void>();
  let tools: readonly Tool[] = [];
  const agent = agentWith({ name: "mcp", ready: ready.promise, tools: () => tools });
  const answer = runCommand("/tools", { agent, signal: new AbortController().signal } as CommandSession);
  tools = [greeter("greet")];
  ready.resolve();
  expect(await answer).toContain("- `greet`");
});

test("a cancelled turn does not wait for a slow extension", async () => {
  const agent = agentWith({ name: "mcp", ready: new Promise(() => undefined) });
  const turn = agent.runConversation({ userMessage: "go" });
  agent.turns.interrupt();
  await expect(turn).resolves.toMatchObject({ stopReason: "cancelled" });
  expect(model.requests).toEqual([]);
});

test("items are listed by kind, and an action reaches the extension whose item offers it", async () => {
  const acts: string[] = [];
  const tools = [{ name: "query", on: true }];
  const server = {
    id: "mcp db",
    kind: "mcp",
    name: "db",
    source: "config.yaml",
    state: "on",
    detail: "npx",
    tools,
  } as const;
  const skill = { id: "skill review", kind: "skill", name: "review", source: "home", state: "on", detail: "" } as const;
  const act =
    (extension: string) =>
    async (...asked: readonly (string | undefined)[]) => {
      acts.push([extension, ...asked].join(" ").trim());
      return "Done.";
    };
  const { setup } = agentWith(
    { name: "skills", items: () => [{ ...skill, actions: ["disable"] }], act: act("skills") },
    { name: "mcp", items: () => [{ ...server, actions: ["restart"] }], act: act("mcp") },
  );
  expect(setup.extensions.items().map(({ id }) => id)).toEqual(["mcp db", "skill review"]);
  expect(await setup.extensions.act({ id: "mcp db", action: "restart" })).toBe("Done.");
  expect(await setup.extensions.act({ id: "mcp db", action: "disable", argument: "query" })).toBe("Done.");
  expect(acts).toEqual(["mcp mcp db restart", "mcp mcp db disable query"]);
  expect(setup.extensions.act({ id: "mcp db", action: "disable" })).toBeUndefined();
  expect(setup.extensions.act({ id: "mcp db", action: "disable", argument: "other" })).toBeUndefined();
  expect(setup.extensions.act({ id: "no such item", action: "restart" })).toBeUndefined();
});
