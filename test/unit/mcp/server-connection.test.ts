import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { editorServers } from "../../../agent-core/mcp/server-config.ts";
import { ServerConnection } from "../../../agent-core/mcp/server-connection.ts";
import { callResult, promptText } from "../../../agent-core/mcp/tool-result.ts";
import { type Clock, systemClock } from "../../../agent-core/platform/clock.ts";
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

test.each([
  ...[400, 401, 403, 404, 410, 422, 502, 503].map((status) => [status, "refused"] as const),
  [500, "Internal error: unknown session"] as const,
  [200, { code: -32_001, message: "Session not found" }] as const,
  [200, { code: -32_602, message: "Received request before initialization was complete" }] as const,
])(
  "a server over HTTP that was restarted, and answers %i %j, is connected again within the call",
  async (status, words) => {
    let session = 1;
    const server = createServer(async (request, response) => {
      const { id, method, params } = await messageIn(request);
      const isKnown = method === "initialize" || request.headers["mcp-session-id"] === String(session);
      if (request.method !== "POST") return void response.writeHead(405).end();
      const refused = typeof words === "string" ? words : JSON.stringify({ jsonrpc: "2.0", id, error: words });
      if (!isKnown) return void response.writeHead(status, { "content-type": "application/json" }).end(refused);
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

/** A server over stdio that greets with `greeting` and gives `answers`, by method. */
function bareServer(greeting: object, answers: Readonly<Record<string, unknown>>) {
  const code = `const [greeting, answers] = ${JSON.stringify([greeting, answers])};
  require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const known = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
    const found = { initialize: { ...known, ...greeting }, "tools/list": { tools: [{ name: "t", inputSchema: null }] }, ...answers }[method];
    const answer = found?.code ? { error: found } : found ? { result: found } : { error: { code: -32601, message: "none" } };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  })`;
  const [config] = editorServers([{ name: "bare", command: process.execPath, args: ["-e", code], env: [] }]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: temporaryFolder("hermes-mcp-"), clock: new ManualClock() });
  onTestFinished(() => connection.close());
  return connection;
}

test.each([
  ["null in its capabilities", { capabilities: { tools: { listChanged: null }, prompts: null }, instructions: null }],
  ["no word about itself", { serverInfo: null }],
  ["no announcement of its tools", { capabilities: {} }],
  ["a version that nobody knows", { protocolVersion: "1.0" }],
  ["prompts that it does not have", { capabilities: { tools: {}, prompts: {} } }],
  ["a number as its advice", { instructions: 5 }],
])("a server whose greeting has %s is used", async (_, greeting) => {
  const connection = bareServer(greeting, { "tools/list": { tools: [{ name: "t" }], _meta: null, nextCursor: null } });
  await connection.start();
  expect(connection.state).toEqual({ kind: "on" });
  expect(connection.listing.tools).toHaveLength(1);
});

/** A program with the tool `a`, and what it does at each message. */
async function tellingServer(body: string, clock: Clock = systemClock): Promise<ServerConnection> {
  const code = `const out = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const state = { names: ["a"], lists: 0 };
  require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const greet = () => out({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } } });
    const list = () => out({ id, result: { tools: state.names.map((name) => ({ name })) } });
    const fail = (code, message) => out({ id, error: { code, message } });
    const add = () => { state.names.push("b"); out({ method: "notifications/tools/list_changed" }); };
    ${body}
  });`;
  const [config] = editorServers([{ name: "x", command: process.execPath, args: ["-e", code], env: [] }]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: temporaryFolder("hermes-mcp-"), clock });
  onTestFinished(() => connection.close());
  await connection.start();
  return connection;
}

test("a server that leaves one list unanswered is asked again after its next notice", async () => {
  const clock = new ManualClock();
  const waits = vi.spyOn(clock, "wait");
  const body = `if (method === "initialize") greet(); else if (method === "tools/list") {
    if (++state.lists === 1) setTimeout(() => out({ method: "notifications/tools/list_changed" }), 20);
    if (state.lists === 2) add(); else list(); }`;
  const connection = await tellingServer(body, clock);
  const limits = (): number => waits.mock.calls.filter(([ms]) => ms === 60_000).length;
  await expect.poll(limits).toBe(1); // the second list, which gets no answer
  await clock.advance(60_000);
  await expect.poll(() => connection.listing.tools.map(({ name }) => name).join()).toBe("a,b");
});

test.each([
  [
    "adds a tool with its greeting",
    `if (method === "initialize") greet(); else if (method === "tools/list") list(); else add();`,
    "a,b",
  ],
  [
    "adds a tool right after its first list",
    `if (method === "initialize") greet(); else if (method === "tools/list") { list(); if (state.lists++ === 0) add(); }`,
    "a,b",
  ],
  [
    "is busy when it is asked for its new list",
    `if (method === "initialize") greet(); else if (method === "tools/list") {
      if (state.lists++ === 1) fail(-32603, "busy"); else list(); if (state.lists === 1) setTimeout(add, 20); }`,
    "a,b",
  ],
  [
    "is not ready for its first list",
    `if (method === "initialize") greet(); else if (method === "tools/list") { if (state.lists++ === 0) fail(-32002, "Server not initialized"); else list(); }`,
    "a",
  ],
  [
    "prints a banner without a line end before its greeting",
    `if (method === "initialize") { process.stdout.write("starting … "); greet(); } else if (method === "tools/list") list();`,
    "a",
  ],
  [
    "writes a byte order mark first",
    `if (method === "initialize") { process.stdout.write("\\ufeff"); greet(); } else if (method === "tools/list") list();`,
    "a",
  ],
])("a server that %s has all its tools", async (_, body, names) => {
  const connection = await tellingServer(body);
  await expect.poll(() => connection.listing.tools.map(({ name }) => name).join()).toBe(names);
  expect(connection.state).toEqual({ kind: "on" });
});

test.each([
  ["an error without a number", { code: "E1", message: "boom" }, "boom"],
  ["an error without words", { code: -32_000 }, "the server gave no reason"],
  ["an error with details", { code: -32_602, message: "Invalid", data: { detail: "field q" } }, "field q"],
])("%s fails its call at once", async (_, error, words) => {
  const connection = bareServer({}, { "tools/call": error });
  await connection.start();
  const options = { signal: AbortSignal.timeout(5_000), handlers: HANDLERS };
  await expect(connection.call("t", {}, options)).rejects.toThrow(words);
});

test.each([
  ["one part alone", { content: { type: "text", text: "solo" } }, "solo"],
  ["words alone", { content: "plain words" }, "plain words"],
  ["null among its parts", { content: [null, { type: "text", text: "rest" }] }, "rest"],
  ["a field of an older version", { toolResult: "legacy" }, "legacy"],
  ["nothing", { content: null }, "returned nothing"],
])("the text of an answer with %s is shown", async (_, answer, words) => {
  const connection = bareServer({}, { "tools/call": answer });
  await connection.start();
  const signal = AbortSignal.timeout(5_000);
  const found = await connection.call("t", {}, { signal, handlers: HANDLERS });
  const place = { callId: "c", spillFolder: temporaryFolder("hermes-mcp-"), signal };
  expect((await callResult(found, "bare/t", place)).text).toContain(words);
});

test.each([
  ["null for the error that there is not", "{ result, error: null }", "fine"],
  ["a list of one response", "[{ result }]", "fine"],
  ["its id as a text", "{ id: String(id), result }", "fine"],
  ["null for a result of nothing", 'method === "tools/call" ? { result: null } : { result }', "returned nothing"],
  ["neither a result nor an error", 'method === "tools/call" ? {} : { result }', "returned nothing"],
  ["a text as its result", 'method === "tools/call" ? { result: "plain" } : { result }', "plain"],
  [
    "null beside its error",
    'method === "tools/call" ? { result: null, error: { code: 1, message: "boom" } } : { result }',
    "boom",
  ],
  ["a text as its error", 'method === "tools/call" ? { error: "boom" } : { result }', "boom"],
])("a server that answers with %s is used, and does not end the agent", async (_, written, words) => {
  const connection = await tellingServer(`
    const call = { content: [{ type: "text", text: "fine" }] };
    const hello = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
    const result = { initialize: hello, "tools/list": { tools: [{ name: "a" }] }, "tools/call": call }[method];
    const answers = [${written}].map((one) => Array.isArray(one) ? one.map((each) => ({ jsonrpc: "2.0", id, ...each })) : { jsonrpc: "2.0", id, ...one });
    if (id !== undefined) console.log(JSON.stringify(answers[0]));`);
  expect(connection.state).toEqual({ kind: "on" });
  const signal = AbortSignal.timeout(5_000);
  const place = { callId: "c", spillFolder: "", signal };
  const called = connection
    .call("a", {}, { signal, handlers: HANDLERS })
    .then((found) => callResult(found, "x/a", place));
  expect(await called.then(({ text }) => text, String)).toContain(words);
});

test.each([
  [
    "whose proxy closes the connection",
    { "content-type": "text/event-stream" },
    () => ": wait\n\n",
    "ended before the answer",
  ],
  ["that writes null beside its results", { "content-type": "application/json" }, JSON.stringify, "fine"],
  [
    "that writes a stream which is no protocol",
    { "content-type": "text/event-stream" },
    () => 'data: {"oops":1}\n\n',
    "ended before the answer",
  ],
])("a call of a server over HTTP %s ends at once", async (_, headers, body, words) => {
  const server = createServer(async (request, response) => {
    const { id, method, params } = await messageIn(request);
    if (id === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end();
    const results: Record<string, object> = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: NAMED },
      "tools/list": { tools: [{ name: "a" }] },
      "tools/call": { content: [{ type: "text", text: "fine" }] },
    };
    const answer = { jsonrpc: "2.0", id, result: results[method ?? ""], error: null };
    if (method === "tools/call") return void response.writeHead(200, headers).end(body(answer));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify([answer]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const editor = { type: "http" as const, name: "far", url: `http://127.0.0.1:${port}/mcp`, headers: [] };
  const [config] = editorServers([editor]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: "/", clock: new ManualClock() });
  onTestFinished(() => connection.close());
  await connection.start();
  expect(connection.state).toEqual({ kind: "on" });
  const called = connection.call("a", {}, { signal: AbortSignal.timeout(5_000), handlers: HANDLERS });
  expect(await called.then(JSON.stringify, String)).toContain(words);
});

test.each([
  ["a text", "Say hi", "Say hi"],
  [
    "a list",
    [
      { type: "text", text: "Say hi" },
      { type: "text", text: "twice" },
    ],
    "Say hi\n\ntwice",
  ],
  ["an unknown part", { type: "hologram" }, '{"type":"hologram"}'],
  ["nothing", null, ""],
])("a prompt whose message is %s is read", async (_, content, words) => {
  const messages = [
    { role: "user", content },
    { role: null, content: null },
  ];
  const connection = bareServer({}, { "prompts/get": { messages } });
  await connection.start();
  const options = { signal: AbortSignal.timeout(5_000), handlers: HANDLERS };
  expect(promptText(await connection.run(options, (client, each) => client.prompt("p", {}, each))).trim()).toBe(words);
});

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
