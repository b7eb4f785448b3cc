// Servers whose messages differ from the protocol: forgotten fields, other ids, several lines, and answers that do not come.
import { existsSync, watch, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { reconnections } from "../../../agent-core/mcp/open-client.ts";
import { editorServers } from "../../../agent-core/mcp/server-config.ts";
import { ServerConnection } from "../../../agent-core/mcp/server-connection.ts";
import { temporaryFolder } from "../../support/acp-client.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const HANDLERS = { sample: () => Promise.reject(new Error("no")), elicit: () => Promise.reject(new Error("no")) };

/** Message of our own client. */
type Asked = { readonly id?: number; readonly method: string; readonly params?: { readonly protocolVersion?: string } };

/** A server whose `print(answer, method)` writes each answer; `answer` has its id, and a result or an error. */
function serverThat(print: string) {
  const code = `const print = ${print};
  require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return print({ error: { code: -32601, message: "Method not found: " + method } }, method);
    const results = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } },
      "tools/list": { tools: [{ name: "t", inputSchema: { type: "object" } }] },
    };
    const found = results[method];
    print(found ? { id, result: found } : { id, error: { code: -32000, message: "out of paper" } }, method);
  })`;
  const [config] = editorServers([{ name: "odd", command: process.execPath, args: ["-e", code], env: [] }]).servers;
  if (config === undefined) throw new Error("no server");
  const clock = new ManualClock();
  const folder = temporaryFolder("hermes-mcp-");
  const connection = new ServerConnection({ config, folder, clock });
  onTestFinished(() => connection.close());
  return { connection, clock, folder };
}

test.each([
  ["without the version", "(answer) => console.log(JSON.stringify(answer))"],
  [
    "with null as the id of errors",
    "({ id, ...answer }) => console.log(JSON.stringify({ jsonrpc: '2.0', id: answer.error ? null : id, ...answer }))",
  ],
  [
    "with ids as text",
    "({ id, ...answer }) => console.log(JSON.stringify({ jsonrpc: '2.0', id: String(id), ...answer }))",
  ],
  ["over several lines", "(answer) => console.log(JSON.stringify({ jsonrpc: '2.0', ...answer }, null, 2))"],
  [
    "with tabs and CRLF",
    "(answer) => console.log(JSON.stringify({ jsonrpc: '2.0', ...answer }, null, '\\t').replaceAll('\\n', '\\r\\n'))",
  ],
  ["in a list over several lines", "(answer) => console.log(JSON.stringify([{ jsonrpc: '2.0', ...answer }], null, 2))"],
  [
    "among blank lines and logs",
    '(answer) => console.log(\'\\n\\nINFO: got { it\\n{\\n{"level":30,"id":1,"method":"GET"}\\n\' + JSON.stringify({ jsonrpc: \'2.0\', ...answer }) + \'\\n\\n\')',
  ],
])("a server that answers %s is used, and its error is the call's at once", async (_, print) => {
  const { connection } = serverThat(print);
  await connection.start();
  expect(connection.state).toEqual({ kind: "on" });
  expect(connection.listing.tools.map(({ name }) => name)).toEqual(["t"]);
  const options = { signal: new AbortController().signal, handlers: HANDLERS };
  await expect(connection.call("t", {}, options)).rejects.toThrow("out of paper");
});

test("a server over HTTP that answers an error with null as its id fails the call at once", async () => {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = (await json(request)) as Asked; // of our own client
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      },
      "tools/list": { tools: [{ name: "t" }] },
    };
    const result = results[method];
    const answer = result
      ? { id, result }
      : { jsonrpc: "2.0", id: null, error: { code: -32_700, message: "no paper" } };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const [config] = editorServers([{ type: "http", name: "far", url, headers: [] }]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: "/", clock: new ManualClock() });
  onTestFinished(() => connection.close());
  await connection.start();
  const options = { signal: new AbortController().signal, handlers: HANDLERS };
  await expect(connection.call("t", {}, options)).rejects.toThrow("no paper");
});

test("a server that does not list its tools is named after ten seconds, and its tools come when it lists them", async () => {
  const late = `(answer, method) => {
    const print = () => console.log(JSON.stringify({ jsonrpc: "2.0", ...answer }));
    if (method !== "tools/list") return print();
    require("node:fs").watch(".", () => require("node:fs").existsSync("go") && print());
    require("node:fs").writeFileSync("asked", "");
  }`;
  const { connection, clock, folder } = serverThat(late);
  const asked = new Promise<void>((resolve) => {
    const watcher = watch(folder, () => existsSync(join(folder, "asked")) && resolve());
    onTestFinished(() => watcher.close());
  });
  const states: unknown[] = [];
  connection.onChange(() => states.push(connection.state));
  const started = connection.start();
  await asked;
  await clock.advance(10_000);
  const error = "it does not answer tools/list. Its tools come when it does";
  expect(states).toEqual([{ kind: "starting" }, { kind: "starting", error }]);
  writeFileSync(join(folder, "go"), "");
  await started;
  expect(connection.state).toEqual({ kind: "on" });
  expect(connection.listing.tools.map(({ name }) => name)).toEqual(["t"]);
});

test("each closing of a server's stream doubles the wait, up to a minute", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const schedule = reconnections();
  const waits: number[] = [];
  for (let count = 0; count < 8; count += 1) {
    const start = Date.now();
    schedule(() => waits.push(Date.now() - start), 1_000);
    vi.runAllTimers();
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000));
  const cancel = schedule(() => waits.push(0), 1_000);
  cancel();
  vi.runAllTimers();
  expect(waits).toHaveLength(8);
});
