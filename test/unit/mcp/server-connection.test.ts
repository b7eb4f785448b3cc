import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { editorServers } from "../../../agent-core/mcp/server-config.ts";
import { ServerConnection } from "../../../agent-core/mcp/server-connection.ts";
import { temporaryFolder } from "../../support/acp-client.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const FIXTURE = join(import.meta.dirname, "../../support/mcp-fixture.mjs");

test("a server that crashes restarts after 1, 5 and 30 seconds, in which calls fail at once; then the user restarts it", async () => {
  const server = { name: "fix", command: process.execPath, args: [FIXTURE, "--mute", "--crash-at=1"], env: [] };
  const [config] = editorServers([server]).servers;
  if (config === undefined) throw new Error("no server");
  const clock = new ManualClock();
  const connection = new ServerConnection({ config, folder: temporaryFolder("hermes-mcp-"), clock });
  onTestFinished(() => connection.close());
  await connection.start();
  const call = (): Promise<unknown> =>
    connection.call("echo", { message: "" }, { signal: AbortSignal.timeout(5_000), handlers: HANDLERS });
  const crash = (): Promise<unknown> => call().catch(() => undefined);
  for (const delayMs of [1_000, 5_000, 30_000]) {
    expect(connection.state).toEqual({ kind: "on" });
    await crash();
    expect(connection.state).toMatchObject({ kind: "failed", willRestart: true });
    if (delayMs > 1_000)
      await expect(call()).rejects.toThrow(`It restarts by itself; try again in ${delayMs / 1_000} s`);
    await clock.advance(delayMs - 1);
    expect(connection.state).toMatchObject({ kind: "failed" });
    await clock.advance(1);
    await connection.started;
  }
  await crash();
  const error =
    "it ended (exit code 3: out of luck). It ended 4 times within a minute. Type `/mcp restart fix` to start it again.";
  expect(connection.state).toEqual({ kind: "failed", error, willRestart: false });
  await expect(connection.call("echo", {}, { signal: AbortSignal.timeout(5_000), handlers: HANDLERS })).rejects.toThrow(
    error,
  );
  await connection.start();
  expect(connection.state).toEqual({ kind: "on" });
});

test.each([
  [`process.stderr.write("boom: no key\\n"); process.exit(3)`, "it ended at its start (exit code 3: boom: no key)"],
  [`process.stdin.destroy(); setTimeout(() => { console.error("later"); process.exit(4); }, 50)`, "exit code 4: later"],
  ["throw new TypeError('bad settings')", "it ended at its start (exit code 1: TypeError: bad settings)"],
  [
    "process.stdin.on('data', () => { console.error('npm error code E404\\nnpm error 404 Not Found'); process.exit(1) })",
    "it ended at its start (exit code 1: npm error code E404 | npm error 404 Not Found)",
  ],
  ["process.kill(process.pid, 'SIGKILL')", "it ended at its start (signal SIGKILL)"],
])("a server that ends at its start is named with its exit code and its last lines: %s", async (code, error) => {
  const server = { name: "dies", command: process.execPath, args: ["-e", code], env: [] };
  const [config] = editorServers([server]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: temporaryFolder("hermes-mcp-") });
  onTestFinished(() => connection.close());
  await connection.start();
  expect(connection.state).toMatchObject({ kind: "failed", error: expect.stringContaining(error) });
});

test("a closed server starts no more, as after a sign-in or a sign-out that ended later", async () => {
  const server = { name: "fix", command: process.execPath, args: [FIXTURE], env: [] };
  const [config] = editorServers([server]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: temporaryFolder("hermes-mcp-") });
  await connection.start();
  await connection.close();
  const states: unknown[] = [];
  connection.onChange(() => states.push(connection.state));
  await connection.start();
  expect(states).toEqual([]);
});

test("a program that ends while its tools are listed has ended once", async () => {
  const server = { name: "fix", command: process.execPath, args: [FIXTURE, "--end-at=tools/list"], env: [] };
  const [config] = editorServers([server]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: temporaryFolder("hermes-mcp-"), clock: new ManualClock() });
  const states: unknown[] = [];
  connection.onChange(() => states.push(connection.state));
  await connection.start();
  await connection.close();
  expect(states).toEqual([
    { kind: "starting" },
    { kind: "failed", error: "it ended (exit code 7: no list)", willRestart: true },
  ]);
});

test("a server whose tools cannot be listed has failed, and its program ends", async () => {
  const code = `require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const found = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
    const answer = method === "initialize" ? { result: found } : { error: { code: -32603, message: "no list: " + process.pid } };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  })`;
  const server = { name: "bare", command: process.execPath, args: ["-e", code], env: [] };
  const [config] = editorServers([server]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: temporaryFolder("hermes-mcp-"), clock: new ManualClock() });
  onTestFinished(() => connection.close());
  await connection.start();
  const { state } = connection;
  expect(state).toEqual({ kind: "failed", error: expect.stringMatching(/no list: \d+$/), willRestart: false });
  const pid = Number(/\d+$/.exec("error" in state ? state.error : "")?.[0]);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test.each([400, 401, 404, 502, 503])(
  "a server over HTTP that was restarted, and answers %i, is connected again within the call",
  async (status) => {
    let session = 1;
    const server = createServer(async (request, response) => {
      const { id, method, params } = await messageIn(request);
      const isKnown = method === "initialize" || request.headers["mcp-session-id"] === String(session);
      if (request.method !== "POST") return void response.writeHead(405).end();
      if (!isKnown) return void response.writeHead(status).end("no such session");
      if (id === undefined) return void response.writeHead(202).end();
      const results: Record<string, object> = {
        initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: NAMED },
        "tools/list": { tools: [{ name: "hello", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: `session ${session}` }] },
      };
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": String(session) });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method ?? ""] }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const editor = { type: "http" as const, name: "far", url: `http://127.0.0.1:${port}/mcp`, headers: [] };
    const [config] = editorServers([editor]).servers;
    if (config === undefined) throw new Error("no server");
    const clock = new ManualClock();
    const connection = new ServerConnection({ config, folder: "/", clock });
    onTestFinished(() => connection.close());
    await connection.start();
    const call = async (): Promise<string> =>
      JSON.stringify(await connection.call("hello", {}, { signal: AbortSignal.timeout(5_000), handlers: HANDLERS }));
    expect(await call()).toContain("session 1");
    session = 2;
    expect(await call()).toContain("session 2");
    expect(connection.state).toMatchObject({ kind: "on" });
  },
);

const NAMED = { name: "far", version: "1" };

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
};

async function messageIn(request: IncomingMessage): Promise<Message> {
  return request.method === "POST" ? ((await json(request)) as Message) : {};
}

const HANDLERS = { sample: nobody, elicit: nobody };

function nobody(): Promise<never> {
  return Promise.reject(new Error("nobody is here"));
}
