// Servers whose messages differ from the protocol: forgotten fields, other ids, several lines, and answers that do not come.
import { existsSync, watch, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { reconnections, streamOf } from "../../../agent-core/mcp/open-client.ts";
import { editorServers } from "../../../agent-core/mcp/server-config.ts";
import { ServerConnection } from "../../../agent-core/mcp/server-connection.ts";
import { ourFetch } from "../../../agent-core/mcp/valid-messages.ts";
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
  [
    "after logs over several lines",
    "(answer) => console.log('{\\n  \"level\": \"info\"\\n}\\n' + JSON.stringify({ jsonrpc: '2.0', ...answer }, null, 2))",
  ],
  [
    "with a leading blank after a bracket alone",
    "(answer) => console.log('{\\n ' + JSON.stringify({ jsonrpc: '2.0', ...answer }))",
  ],
  [
    "with logs among its lines",
    "(answer) => console.log(JSON.stringify({ jsonrpc: '2.0', ...answer }, null, 2).replace('\\n', '\\nINFO: busy\\n'))",
  ],
  [
    "after a log that is cut off",
    "(answer) => console.log('{\\n  \"level\": \"info\",\\n' + JSON.stringify({ jsonrpc: '2.0', ...answer }, null, 2))",
  ],
  [
    "in a list with a line for each",
    "(answer) => console.log('[\\n  ' + JSON.stringify({ jsonrpc: '2.0', ...answer }) + '\\n]')",
  ],
])("a server that answers %s is used, and its error is the call's at once", async (_, print) => {
  const { connection } = serverThat(print);
  await connection.start();
  expect(connection.state).toEqual({ kind: "on" });
  expect(connection.listing.tools.map(({ name }) => name)).toEqual(["t"]);
  const options = { signal: new AbortController().signal, handlers: HANDLERS };
  await expect(connection.call("t", {}, options)).rejects.toThrow("out of paper");
});

test.each([
  ["a list alone", '[{ "name": "t" }]'],
  ["an object of tools by their names", '{ "tools": { "t": { "inputSchema": { "type": "object" } } } }'],
])("a server that lists its tools as %s is used", async (_, list) => {
  const print = `(answer, method) => console.log(JSON.stringify({ ...answer, ...(method === "tools/list" && { result: ${list} }) }))`;
  const { connection } = serverThat(print);
  await connection.start();
  expect(connection.listing.tools.map(({ name }) => name)).toEqual(["t"]);
});

test("a server whose name is a text, and whose version a number, is used", async () => {
  const greeting = '{ protocolVersion: 1, capabilities: [], serverInfo: "x" }';
  const print = `(answer, method) => console.log(JSON.stringify({ ...answer, ...(method === "initialize" && { result: ${greeting} }) }))`;
  const { connection } = serverThat(print);
  await connection.start();
  expect(connection.state).toEqual({ kind: "on" });
});

/** A server over HTTP that lists the tool `t`; `answer` answers its calls. */
async function serverOverHttp(
  answer: (asked: Asked, response: ServerResponse) => void,
  notified: (response: ServerResponse) => unknown = (response) => response.writeHead(202).end(),
): Promise<ServerConnection> {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const asked = (await json(request)) as Asked; // of our own client
    const { id, method, params } = asked;
    if (id === undefined) return void notified(response);
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      },
      "tools/list": { tools: [{ name: "t" }] },
    };
    const result = results[method];
    if (result === undefined) return answer(asked, response);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const [config] = editorServers([{ type: "http", name: "far", url, headers: [] }]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: "/", clock: new ManualClock() });
  onTestFinished(() => connection.close());
  await connection.start();
  return connection;
}

const OPTIONS = { signal: new AbortController().signal, handlers: HANDLERS };

test.each<[string, string, (message: object) => string]>([
  ["without the version", "text/event-stream", (message) => `data: ${JSON.stringify(message)}\n\n`],
  ["with null as the id", "text/event-stream", (message) => `data: ${JSON.stringify({ ...message, id: null })}\n\n`],
  ["under another name", "text/event-stream", (message) => `event: result\ndata: ${JSON.stringify(message)}\n\n`],
  ["in a list", "text/event-stream; charset=utf-8", (message) => `data: [${JSON.stringify(message)}]\n\n`],
  [
    "over lines with CRLF",
    "text/event-stream",
    (message) => `${JSON.stringify(message, null, 1).replace(/^/gm, "data: ")}\n\n`.replaceAll("\n", "\r\n"),
  ],
  [
    "without a blank line",
    "text/event-stream",
    (message) => `: hello\n\nid: 1\ndata:\n\nid: 2\ndata: ${JSON.stringify(message)}`,
  ],
  ["as text", "text/plain", (message) => JSON.stringify(message)],
  ["without a type", "", (message) => JSON.stringify(message)],
])("an error that comes over HTTP %s fails the call at once", async (_, type, written) => {
  const connection = await serverOverHttp(({ id }, response) => {
    response.writeHead(200, type === "" ? {} : { "content-type": type });
    for (const byte of written({ id, result: null, error: { code: -32_603, message: "no päper" } }).match(
      /.{1,9}/gsu,
    ) ?? [])
      response.write(byte);
    response.end();
  });
  await expect(connection.call("t", {}, OPTIONS)).rejects.toThrow("no päper");
});

test("an event that is cut off is not the one after which the stream resumes", async () => {
  const body = 'id: 1\ndata: {"result":{}}\n\nid: 2\ndata: {"jsonrpc":"2.0","id":1,"res';
  const server = createServer((_, response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(body),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const response = await ourFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(await new Response(response.body).text()).not.toContain("id: 2");
});

test.each(["never answers", "refuses with 500"])("a server that %s a notification is used", async (how) => {
  const connection = await serverOverHttp(
    ({ id }, response) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ id, result: { content: [] } })),
    (response) => (how === "never answers" ? undefined : response.writeHead(500).end()),
  );
  await connection.call("t", {}, OPTIONS);
});

test("a server over HTTP that answers an error with null as its id fails the call at once", async () => {
  const connection = await serverOverHttp((_, response) => {
    const error = { code: -32_700, message: "no paper" };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
  });
  await expect(connection.call("t", {}, OPTIONS)).rejects.toThrow("no paper");
});

test("an error without an id fails the call on whose stream it comes, and no other", async () => {
  const open: { readonly asked: Asked; readonly response: ServerResponse }[] = [];
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const connection = await serverOverHttp((asked, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    arrived[open.push({ asked, response }) - 1]?.resolve();
  });
  const first = connection.call("t", {}, OPTIONS);
  await arrived[0]?.promise;
  const second = connection.call("t", {}, OPTIONS);
  await arrived[1]?.promise;
  const [one, other] = open;
  const send = (to: typeof one, message: object): unknown =>
    to?.response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  send(other, { error: { code: -32_600, message: "no paper" } });
  await expect(second).rejects.toThrow("no paper");
  send(one, { id: one?.asked.id, result: { content: [{ type: "text", text: "printed" }] } });
  expect(JSON.stringify(await first)).toContain("printed");
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

/** Waits of `schedule` in milliseconds, one for each stream that lives for so long after the wait before. */
function waitsAfter(lives: readonly number[], schedule: ReturnType<typeof reconnections>, serverMs = 0): number[] {
  return lives.map((lifeMs) => {
    vi.advanceTimersByTime(lifeMs);
    const start = Date.now();
    let wait = -1;
    schedule(() => {
      wait = Date.now() - start;
    }, serverMs);
    vi.runAllTimers();
    return wait;
  });
}

function schedules(): ReturnType<typeof reconnections> {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  return reconnections({ monotonicNow: Date.now });
}

const AT_ONCE = Array.from({ length: 8 }, () => 100);

test("each closing of a server's stream doubles the wait, up to a minute", () => {
  const schedule = schedules();
  expect(waitsAfter(AT_ONCE, schedule)).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000));
  let isAsked = false;
  schedule(() => {
    isAsked = true;
  }, 0)();
  vi.runAllTimers();
  expect(isAsked).toBe(false);
});

test("a stream that lived for more than a minute is asked for again after a second", () => {
  expect(waitsAfter([100, 100, 100, 61_000, 100], schedules())).toEqual([1_000, 2_000, 4_000, 1_000, 2_000]);
});

test("the stream of a call does not wait for that of the server's messages", () => {
  const schedule = schedules();
  waitsAfter(AT_ONCE, schedule);
  const ofCall = (): number[] => streamOf.run({ id: 7, waitMs: 0, endsAt: 0 }, () => waitsAfter([100, 100], schedule));
  expect([ofCall(), ofCall()]).toEqual([
    [1_000, 2_000],
    [1_000, 2_000],
  ]);
});

test("the delay that a server names is kept as it is", () => {
  expect(waitsAfter([0, 0, 0, 0], schedules(), 3_000)).toEqual([3_000, 3_000, 3_000, 3_000]);
  expect(waitsAfter([0], schedules(), 120_000)).toEqual([120_000]);
});
