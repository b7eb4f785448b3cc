// MCP servers: real ones from npm, configured by the editor and by config.yaml, and their ends.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import { type AcpClient, type Json, temporaryFolder } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { processesWith } from "../support/processes.ts";

const PACKAGES = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol");
const EVERYTHING = join(PACKAGES, "server-everything/dist/index.js");
const FILESYSTEM = join(PACKAGES, "server-filesystem/dist/index.js");
const FIXTURE = join(import.meta.dirname, "../support/mcp-fixture.mjs");

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

type Bench<Client> = { readonly agent: Client; readonly model: ModelServer; readonly asked: Json[] };

const settings = (model: ModelServer) => ({
  HERMES_BASE_URL: model.baseUrl,
  HERMES_MODEL: "test-model",
  HERMES_API_KEY: "sk-1",
});

/** An editor whose user answers each permission request with this option. */
async function begin<Client extends AcpClient>(
  make: (environment: Readonly<Record<string, string>>) => Client,
  optionId = "once",
): Promise<Bench<Client>> {
  const model = await startModelServer();
  const agent = make(settings(model));
  running.push(agent, model);
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId } };
  });
  const { agentCapabilities } = await agent.initialize();
  expect(agentCapabilities).toMatchObject({ mcpCapabilities: { http: true, sse: true } });
  return { agent, model, asked };
}

function node(name: string, ...args: readonly string[]): Json {
  return { name, command: process.execPath, args, env: [] };
}

/** A new session whose servers have started: a prompt waits only 1.5 s for them. */
async function open(agent: AcpClient, ...mcpServers: readonly Json[]): Promise<string> {
  const { result, error } = await agent.request("session/new", { cwd: agent.cwd, mcpServers });
  expect(error).toBeUndefined();
  return started(agent, result);
}

async function started(agent: AcpClient, session: Json | undefined): Promise<string> {
  const sessionId = String(session?.["sessionId"]);
  await agent.prompt(sessionId, "/mcp list --wait");
  return sessionId;
}

/** The model's last request as text. */
const sent = (model: ModelServer): string => JSON.stringify(model.requests.at(-1)?.body);

test("an editor's stdio server is used: its tools are offered, a call asks, the model gets its result, and people its pictures", async () => {
  const { agent, model, asked } = await begin((environment) => new AcpAgent(environment));
  const sessionId = await open(agent, node("everything", EVERYTHING, "stdio"));
  await agent.request("session/set_mode", { sessionId, modeId: "ask" });
  model.script(callTools(call("mcp__everything__get-sum", { a: 40, b: 2 })), say("42"));
  await agent.prompt(sessionId, "add");
  expect(JSON.stringify(model.requests[0]?.body)).toContain("mcp__everything__get-sum");
  expect(sent(model)).toContain("The sum of 40 and 2 is 42.");
  expect(agent.of("tool_call_update").at(-1)?.["content"]).toEqual([
    { type: "content", content: { type: "text", text: "```\nThe sum of 40 and 2 is 42.\n```" } },
  ]);
  const request = asked[0] as { readonly toolCall: { content: { content: { text: string } }[] } } | undefined;
  const lines = request?.toolCall.content[0]?.content.text.split("\n");
  expect(lines?.slice(0, 3)).toEqual([
    "- Calls get-sum of the MCP server everything",
    '- Arguments: {"a":40,"b":2}',
    "",
  ]);
  expect(lines?.slice(3)).toEqual([
    expect.stringMatching(
      /^A lasting answer covers: calling: get-sum of the MCP server everything as of [0-9a-f]{12}$/,
    ),
  ]);
  expect(JSON.stringify(agent.of("available_commands_update").at(-1))).toContain("everything:");
  model.script(callTools(call("mcp__everything__get-tiny-image", {})), say("nice"));
  await agent.prompt(sessionId, "draw");
  expect(JSON.stringify(agent.of("tool_call_update").at(-1))).toContain('"type":"image"');
  expect(sent(model)).toContain("Images of the result of call");
});

test("a server that writes null beside its results, and pictures as data URLs, works in a process that lives on", async () => {
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACklEQVR4XmMAAgAABAABHG0e4wAAAABJRU5ErkJggg==";
  const code = `require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const hello = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
    const image = { type: "image", data: "data:image/png;base64,${pixel}" };
    const calls = { draw: { content: [image] }, nothing: null };
    const result = { initialize: hello, "tools/list": { tools: [{ name: "draw" }, { name: "nothing" }] } }[method] ?? calls[params?.name];
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result, error: null }));
  })`;
  const { agent, model } = await begin((environment) => new AcpProcess(environment));
  const sessionId = await open(agent, node("odd", "-e", code));
  model.script(callTools(call("mcp__odd__nothing", {}), call("mcp__odd__draw", {})), say("nice"));
  await agent.prompt(sessionId, "draw");
  expect(sent(model)).toContain("The tool returned nothing.");
  expect(sent(model)).toContain(`data:image/png;base64,${pixel}`);
  expect(agent.text()).toContain("nice");
});

test("a server of config.yaml reads files inside the session's folder unasked, by its own hints", async () => {
  const home = temporaryFolder("hermes-acp-home-");
  mkdirSync(home, { recursive: true });
  const { agent, model, asked } = await begin((environment) => new AcpAgent(environment, home));
  const section = { files: { command: process.execPath, args: [FILESYSTEM, agent.cwd] } };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ mcp_servers: section }));
  const sessionId = await open(agent);
  model.script(callTools(call("mcp__files__read_text_file", { path: join(agent.cwd, "a.txt") })), say("read"));
  await agent.prompt(sessionId, "read");
  expect(sent(model)).toContain("one\\ntwo\\nthree");
  expect(asked).toEqual([]);
});

test.for([
  ["streamable HTTP", "http", "streamableHttp", "mcp"],
  ["SSE", "sse", "sse", "sse"],
  ["SSE, the fallback of HTTP", "http", "sse", "sse"],
] as const)("a server over %s is used", async ([, type, transport, path]) => {
  const port = await freePort();
  const server = spawn(process.execPath, [EVERYTHING, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.push({ stop: () => ended(server) });
  await new Promise((resolve) => server.stderr.once("data", resolve));
  const { agent, model } = await begin((environment) => new AcpAgent(environment));
  const url = `http://127.0.0.1:${port}/${path}`;
  const sessionId = await open(agent, { name: "everything", type, url, headers: [] });
  model.script(callTools(call("mcp__everything__echo", { message: "over the wire" })), say("ok"));
  await agent.prompt(sessionId, "echo");
  expect(sent(model)).toContain("Echo: over the wire");
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGKILL");
  await exit;
}

/** Servers with this mark in their command line, and their launchers. */
const marked = (mark: string): number => processesWith((words) => words.includes(mark)).length;

test.for(["closed stdin", "kill -9"] as const)("no process of a server outlives the agent: %s", async (how) => {
  const mark = `--mark=${how.replaceAll(" ", "-")}-${process.pid}`;
  const { agent, model } = await begin((environment) => new AcpProcess(environment));
  // A launcher such as npx starts the server as its child.
  const script = `"${process.execPath}" "${FIXTURE}" "$0" <&3 & wait`;
  const launcher = { name: "launched", command: "sh", args: ["-c", `exec 3<&0; ${script}`, mark], env: [] };
  const sessionId = await open(agent, launcher);
  model.script(callTools(call("mcp__launched__look", {})), say("ok"));
  await agent.prompt(sessionId, "look");
  expect(sent(model)).toContain("pid ");
  expect(marked(mark)).toBe(2);
  if (how === "kill -9") agent.child.kill("SIGKILL");
  await agent.stop();
  await expect.poll(() => marked(mark)).toBe(0);
});

test("a loaded and a forked session get the servers of their own request", async () => {
  const { agent, model } = await begin((environment) => new AcpAgent(environment));
  const sessionId = await open(agent);
  model.respondWith(() => say("hi"));
  await agent.prompt(sessionId, "hello");
  const place = { sessionId, cwd: agent.cwd, mcpServers: [node("fix", FIXTURE, "--mute")] };
  const forked = await started(agent, (await agent.request("session/fork", place)).result);
  await agent.prompt(forked, "again");
  expect(sent(model)).toContain("mcp__fix__echo");
  await agent.prompt(sessionId, "no servers here");
  expect(sent(model)).not.toContain("mcp__fix__echo");
  await agent.request("session/load", place);
  await started(agent, place);
  await agent.prompt(sessionId, "loaded");
  expect(sent(model)).toContain("mcp__fix__echo");
});

test("a prompt from the command line uses the servers of config.yaml, and ends them", async () => {
  const model = await startModelServer();
  running.push(model);
  const [home, cwd] = [temporaryFolder("hermes-acp-home-"), temporaryFolder("hermes-acp-")];
  const mark = `--mark=headless-${process.pid}`;
  // The only prompt of the command waits for a slow server.
  const servers = { fix: { command: process.execPath, args: [FIXTURE, mark, "--slow-start=1800"] } };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ mcp_servers: servers }));
  model.script(callTools(call("mcp__fix__look", {})), say("seen"));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    HERMES_HOME: home,
    HERMES_LOCAL_SERVERS: "off",
    ...settings(model),
  };
  const cli = spawn("node", ["dist/cli.js", "--cwd", cwd, "look"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [output] = await Promise.all([text(cli.stdout), text(cli.stderr)]);
  expect(output).toBe("seen\n");
  expect(sent(model)).toContain("pid ");
  expect(marked(mark)).toBe(0);
});

test("a server that the user adds is in config.yaml with its values in .env, and the next session starts it", async () => {
  const { agent } = await begin((environment) => new AcpAgent(environment));
  writeFileSync(join(agent.home, "config.yaml"), "# mine\nagent: { max_turns: 7 }\n");
  const server = {
    name: "every-thing",
    section: { command: process.execPath, args: [EVERYTHING, "stdio"], env: { PLAIN: "1" } },
    variables: { API_TOKEN: "s3cret value" },
  };
  expect((await agent.request("_hermes/extensions/add_server", server)).error).toBeUndefined();
  const config = readFileSync(join(agent.home, "config.yaml"), "utf8");
  expect(config).toMatch(/^# mine\nagent: \{ max_turns: 7 \}\nmcp_servers:/);
  expect(config).toContain("${MCP_EVERY_THING_API_TOKEN}");
  expect(config).not.toContain("s3cret");
  expect(readFileSync(join(agent.home, ".env"), "utf8")).toContain("MCP_EVERY_THING_API_TOKEN='s3cret value'");
  const { error } = await agent.request("_hermes/extensions/add_server", server);
  expect(error?.message).toContain("there is a server every-thing already");
  const id = await open(agent);
  await agent.prompt(id, "/mcp list --wait");
  expect(agent.text()).toMatch(/\*\*every-thing\*\* \(config\.yaml\): on, \d+ tools/);
});
