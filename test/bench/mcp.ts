/** MCP servers: time that a configured server adds to session/new, and time of a call beyond the server's own. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { editorServers } from "../../agent-core/mcp/server-config.ts";
import { ServerConnection } from "../../agent-core/mcp/server-connection.ts";
import { ToolNames, toolsOf } from "../../agent-core/mcp/server-tools.ts";
import type { ToolContext } from "../../agent-core/tools/tool.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { startModelServer } from "../support/model-server/model-server.ts";
import { byTurns, environmentOf, median, type Row, times } from "./measuring.ts";

const FIXTURE = join(import.meta.dirname, "../support/mcp-fixture.mjs");
const SERVER = { name: "fix", command: process.execPath, args: [FIXTURE], env: [] };
const SESSIONS = 15;
const CALLS = 300;

export async function measureMcp(): Promise<readonly Row[]> {
  const { ours, floor } = await byTurns(
    SESSIONS,
    () => newSession([SERVER]),
    () => newSession([]),
  );
  const raw = await rawCalls();
  const called = await calls();
  return [
    {
      what: "session/new with a stdio server of the editor, beyond one without",
      target: 5,
      unit: "ms",
      ours: median(ours) - median(floor),
    },
    { what: "call of an MCP tool, beyond the server's own time", target: 2, unit: "ms", ours: called - raw },
  ];
}

/** Milliseconds of session/new in a new process. */
async function newSession(mcpServers: readonly object[]): Promise<number> {
  const model = await startModelServer();
  const agent = new AcpProcess(environmentOf(model));
  await agent.initialize();
  const start = performance.now();
  await agent.request("session/new", { cwd: agent.cwd, mcpServers });
  const elapsed = performance.now() - start;
  await agent.stop();
  await model.stop();
  return elapsed;
}

/** Milliseconds of a call through the agent's tool. */
async function calls(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-mcp-"));
  const [config] = editorServers([SERVER]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder });
  await connection.start();
  const user = { sample: refuse, elicit: refuse };
  const tools = toolsOf({ config, connection, handlersFor: () => user }, new ToolNames(), new Set());
  const tool = tools.find(({ name }) => name === "mcp__fix__look");
  if (tool === undefined) throw new Error("no tool");
  const context = { callId: "c", spillFolder: folder, signal: new AbortController().signal } as ToolContext;
  const elapsed = await times(CALLS, async () => {
    const start = performance.now();
    const prepared = tool.prepare({}, folder);
    if (!prepared.ok) throw new Error(prepared.text);
    const staged = await prepared.call.stage(context);
    if (staged.ok) await staged.run();
    return performance.now() - start;
  });
  await connection.close();
  rmSync(folder, { recursive: true });
  return elapsed;
}

const refuse = () => Promise.reject(new Error("nobody is here"));

/** Milliseconds of the same call, written to the server by hand. */
async function rawCalls(): Promise<number> {
  const server = spawn(process.execPath, [FIXTURE], { stdio: ["pipe", "pipe", "ignore"] });
  let answered: () => void = () => undefined;
  createInterface({ input: server.stdout }).on("line", () => answered());
  const elapsed = await times(CALLS, async () => {
    const start = performance.now();
    const answer = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const params = { name: "look", arguments: {} };
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    await answer;
    return performance.now() - start;
  });
  server.kill("SIGKILL");
  return elapsed;
}
