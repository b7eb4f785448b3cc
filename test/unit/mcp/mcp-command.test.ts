import { expect, test } from "vitest";
import { mcpCommand } from "../../../agent-core/mcp/mcp-command.ts";
import type { HermesExtensionItem } from "../../../agent-core/protocol/extensions.ts";

const never = new AbortController().signal;

function item(name: string, fields: Partial<HermesExtensionItem> = {}): HermesExtensionItem {
  const base = {
    id: `mcp:${name}`,
    kind: "mcp",
    name,
    source: "config.yaml",
    state: "on",
    detail: `npx ${name}`,
  } as const;
  return { ...base, actions: ["restart", "disable"], ...fields };
}

const ITEMS = [
  item("My Server"),
  item("files", {
    tools: [
      { name: "read", on: true },
      { name: "write", on: false },
    ],
  }),
  item("db", { source: ".mcp.json", state: "needs-consent", detail: "KEY=${KEY} db-server", actions: ["allow"] }),
  item("web", { state: "failed", error: "connection refused" }),
  item("Mail", { state: "needs-sign-in", actions: ["sign-in", "disable"] }),
];

async function run(argument: string, items: readonly HermesExtensionItem[] = ITEMS) {
  const acted: unknown[] = [];
  const command = mcpCommand({
    items: () => items,
    refresh: async () => undefined,
    settled: async () => void acted.push("settled"),
    act: async (...parameters) => {
      acted.push(parameters);
      return "done";
    },
    signIn: async (id) => {
      acted.push(["wait for sign-in", id]);
      return "signed in";
    },
    paste: async (...parameters) => {
      acted.push(["paste", ...parameters]);
      return "pasted";
    },
  });
  return { answer: await command.run(argument, never), acted };
}

test("/mcp lists servers with state, tools and last error, and the command that waits for consent", async () => {
  const { answer } = await run("");
  expect(String(answer).split("\n").slice(0, 5)).toEqual([
    "- **My Server** (config.yaml): on, 0 tools",
    "- **files** (config.yaml): on, 2 tools (1 off)",
    "- **db** (.mcp.json): waiting for your consent: `KEY=${KEY} db-server`. Type `/mcp allow db` to start it",
    "- **web** (config.yaml): failed: connection refused",
    "- **Mail** (config.yaml): waiting for your sign-in",
  ]);
});

test("with `--wait` the list waits for servers, and a sign-in waits for its end", async () => {
  expect((await run("list --wait")).acted).toEqual(["settled"]);
  expect((await run("list")).acted).toEqual([]);
  expect((await run("signin Mail --wait")).acted).toEqual(["settled", ["wait for sign-in", "mcp:Mail"]]);
});

test("with `--wait` a server that fails after the command is an error", async () => {
  await expect(run("restart web --wait")).rejects.toThrow("done");
  expect((await run("restart web")).answer).toBe("done");
});

test("/mcp shows one server with its command and tools", async () => {
  const { answer } = await run("files");
  expect(answer).toContain("`npx files`");
  expect(answer).toContain("- `write` (off)");
});

test.each([
  ["allow db", ["mcp:db", "allow", undefined]],
  ["restart web", ["mcp:web", "restart", undefined]],
  ["disable files", ["mcp:files", "disable", undefined]],
  ["restart My Server", ["mcp:My Server", "restart", undefined]],
  ["disable my server a tool", ["mcp:My Server", "disable", "a tool"]],
  ["off files read", ["mcp:files", "disable", "read"]],
  ["enable files write", ["mcp:files", "enable", "write"]],
  ["signin mail", ["mcp:Mail", "sign-in"]],
  ["signin Mail http://127.0.0.1:1/callback?code=x", ["paste", "mcp:Mail", "http://127.0.0.1:1/callback?code=x"]],
])("/mcp %s acts as the page does", async (argument, expected) => {
  expect((await run(argument)).acted).toEqual([expected]);
});

test.each([
  ["allow", "Name a server. There are `My Server`, `files`, `db`, `web`, `Mail`."],
  ["restart nothing", "There is no MCP server `nothing`."],
  ["nonsense", "There is no MCP server `nonsense`."],
  ["switch files", "Type `/mcp [list | NAME | allow|"],
])("/mcp %s is an error at once, also where servers still start", async (argument, expected) => {
  await expect(run(argument)).rejects.toThrow(expected);
  await expect(run(`${argument} --wait`)).rejects.toThrow(expected);
});

test("an action that has no effect on a server says so", async () => {
  expect(await run("allow files")).toEqual({ answer: "files is on: `allow` has no effect.", acted: [] });
});

test("a cancel ends the command while a server starts", async () => {
  const cancelled = new AbortController();
  const command = mcpCommand({
    items: () => [],
    refresh: async () => undefined,
    settled: () => new Promise(() => undefined),
    act: async () => "",
    signIn: async () => "",
    paste: async () => "",
  });
  const answer = Promise.resolve(command.run("list --wait", cancelled.signal));
  cancelled.abort(new Error("cancelled"));
  await expect(answer).rejects.toThrow("cancelled");
});

test("without servers the answer says where to add them", async () => {
  const { answer } = await run("", []);
  expect(answer).toContain("There are no MCP servers. A server gives the agent further tools.");
  expect(answer).toContain("Add them to `mcp_servers` in config.yaml");
});
