// Requests that a server refuses before they reach the protocol.
import { once } from "node:events";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { remoteUrl } from "../../../agent-core/protocol/remote-stream.ts";
import { serverToken, tokenFile } from "../../../agent-core/serve/server-token.ts";
import { parseCommandLine } from "../../../cli/command-line.ts";
import { serveOptions } from "../../../cli/commands/serve.ts";
import { temporaryFolder } from "../../support/acp-client.ts";
import { type ServedAgent, ServedClient, serveAgent, TOKEN } from "../../support/served-agent.ts";

async function served(options: Parameters<typeof serveAgent>[0] = {}): Promise<ServedAgent> {
  const agent = await serveAgent(options);
  onTestFinished(() => agent.stop());
  return agent;
}

type Answer = { readonly status: number; readonly text: string };

/** A request with any headers, Host and Origin too. */
async function get(port: number, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const sent = request({ port, path, headers: { Authorization: `Bearer ${TOKEN}`, ...headers } }).end();
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, text };
}

/** Status of a WebSocket's upgrade, with what follows. */
async function upgrade(port: number, headers: Record<string, string>, path = "/acp"): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
  socket.on("error", () => undefined);
  const opened = once(socket, "open").then(() => 101);
  const refused = once(socket, "unexpected-response").then(([, response]) => response.statusCode as number);
  const status = await Promise.race([opened, refused]);
  socket.terminate();
  return status;
}

test("A request without the token, or with a wrong one, gets 401 on every path but those of its health", async () => {
  const { port } = await served();
  for (const path of ["/acp", "/metrics", "/elsewhere"]) {
    expect(await get(port, path, { Authorization: "" })).toMatchObject({ status: 401 });
    expect(await get(port, path, { Authorization: `Bearer ${TOKEN}x` })).toMatchObject({ status: 401 });
  }
  expect(await upgrade(port, {})).toBe(401);
  expect(await upgrade(port, { Authorization: `Bearer ${TOKEN}` })).toBe(101);
  expect(await get(port, "/healthz", { Authorization: "" })).toEqual({ status: 200, text: "ok\n" });
  expect(await get(port, "/readyz", { Authorization: "" })).toEqual({ status: 200, text: "ready\n" });
  expect((await get(port, "/metrics")).text).toContain("hermes_serve_connections 0");
});

test("A foreign Host or Origin gets 403, and an allowed one does not", async () => {
  const { port } = await served({ origins: ["https://app.example"] });
  expect(await get(port, "/healthz", { Host: "attacker.example" })).toMatchObject({ status: 403 });
  expect(await get(port, "/metrics", { Origin: "https://attacker.example" })).toMatchObject({ status: 403 });
  expect(await upgrade(port, { Authorization: `Bearer ${TOKEN}`, Origin: "null" })).toBe(403);
  expect(await get(port, "/metrics", { Host: "app.example", Origin: "https://app.example" })).toMatchObject({
    status: 200,
  });
});

test("A token in an address is refused, and stands in no log", async () => {
  const { port, log } = await served();
  expect(await get(port, `/acp?token=${TOKEN}`)).toMatchObject({ status: 400 });
  expect(await upgrade(port, { Authorization: `Bearer ${TOKEN}` }, `/acp?token=${TOKEN}`)).toBe(400);
  expect(log.join()).not.toContain(TOKEN);
  expect(() => remoteUrl(`wss://host/acp?token=${TOKEN}`)).toThrow("never stands in an address");
});

test("After ten wrong tokens an address gets 429, even with the right one", async () => {
  const { port } = await served();
  for (let count = 0; count < 10; count += 1) await get(port, "/acp", { Authorization: `Bearer guess-${count}` });
  expect(await get(port, "/metrics")).toMatchObject({ status: 429 });
});

test("A client learns why a server refuses it", async () => {
  const { port } = await served();
  const client = new ServedClient(port, { token: "another-token-altogether" });
  void client.initialize();
  expect((await client.ended)?.message).toContain("refused the connection: The token is wrong");
});

test("A token file must belong to its owner alone, and a changed one revokes the old token", async () => {
  const home = temporaryFolder("hermes-token-");
  const made = await serverToken({ variable: undefined, file: undefined, home });
  expect(made.place).toBe(join(home, "serve-token"));
  expect(made.read()).toHaveLength(43);
  const file = join(home, "token");
  writeFileSync(file, "first-token-of-this-file\n", { mode: 0o600 });
  const read = tokenFile(file);
  expect(read()).toBe("first-token-of-this-file");
  writeFileSync(file, "second-token-of-this-file\n");
  expect(read()).toBe("second-token-of-this-file");
  chmodSync(file, 0o644);
  expect(read).toThrow("chmod 600");
});

test("An address that other machines reach needs TLS or a proxy, and roots", async () => {
  const checked = async (...words: readonly string[]) => {
    const line = await parseCommandLine(["serve", ...words]);
    if (line.kind !== "run") throw new Error(line.kind);
    return serveOptions(line.invocation.values as Parameters<typeof serveOptions>[0]);
  };
  const open = ["--listen", "0.0.0.0:9120"];
  await expect(checked(...open)).rejects.toThrow("use --tls-cert and --tls-key, or --trust-proxy");
  await expect(checked(...open, "--trust-proxy")).rejects.toThrow("--root");
  expect(await checked(...open, "--trust-proxy", "--root", "/srv", "--grace", "90s")).toMatchObject({
    graceMs: 90_000,
  });
  expect(await checked("--listen", "[::1]:0")).toMatchObject({ host: "::1", port: 0 });
  await expect(checked("--listen", "9120", "--grace", "soon")).rejects.toThrow("--grace is");
});

test("A folder outside the roots is refused through `..`, links and folders that do not exist yet", async () => {
  const place = temporaryFolder("hermes-roots-");
  const [root, other] = [join(place, "root"), join(place, "root-two")];
  for (const folder of [root, other, join(root, "project")]) mkdirSync(folder);
  symlinkSync(other, join(root, "link"));
  symlinkSync(join(other, "later"), join(root, "nowhere"));
  const { port } = await served({ roots: [root] });
  const client = new ServedClient(port);
  onTestFinished(() => client.stop());
  await client.initialize();
  const outside = [
    "/",
    other,
    `${root}/../root-two`,
    join(root, "link"),
    `${root}/missing/../../root-two`,
    join(root, "nowhere"),
  ];
  for (const cwd of outside) {
    const { error } = await client.request("session/new", { cwd, mcpServers: [] });
    expect(error?.message, cwd).toContain(`outside the folders of this server: ${root}`);
  }
  const more = { cwd: root, mcpServers: [], additionalDirectories: [other] };
  expect((await client.request("session/new", more)).error?.message).toContain("outside the folders");
  expect((await client.request("session/new", { cwd: join(root, "project"), mcpServers: [] })).error).toBeUndefined();
});

test("A server without room refuses a connection, and a client that sends its head byte by byte blocks nobody", async () => {
  const { port } = await served({ maxConnections: 1 });
  const slow = connect(port, "127.0.0.1", () => slow.write("GET /acp HTTP/1.1\r\n"));
  const client = new ServedClient(port);
  onTestFinished(() => client.stop());
  await client.initialize();
  expect(await upgrade(port, { Authorization: `Bearer ${TOKEN}` })).toBe(503);
  slow.destroy();
});

test("Frames that are binary, too large, no JSON or a batch end nothing else", async () => {
  const { port } = await served();
  const client = new ServedClient(port);
  onTestFinished(() => client.stop());
  await client.initialize();
  const socket = new WebSocket(`ws://127.0.0.1:${port}/acp`, { headers: { Authorization: `Bearer ${TOKEN}` } });
  await once(socket, "open");
  const initialize = { id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } };
  socket.send(JSON.stringify({ jsonrpc: "2.0", ...initialize }));
  await once(socket, "message");
  socket.send(Buffer.from('{"jsonrpc":"2.0","id":2,"method":"session/list"}'), { binary: true });
  for (const [text, code] of [
    ["{", -32700],
    ["[]", -32600],
    ["7", -32600],
    ['{"jsonrpc":"2.0","id":3}', undefined],
    ['{"jsonrpc":"2.0","id":4,"method":"session/lost"}', -32601],
  ] as const) {
    socket.send(text);
    if (code === undefined) continue;
    const [data] = await once(socket, "message");
    expect(JSON.parse(String(data)).error.code, text).toBe(code);
  }
  socket.send(`"${"x".repeat(33_000_000)}"`);
  expect((await once(socket, "close"))[0]).toBe(1009);
  expect((await client.request("session/list", {})).error).toBeUndefined();
});

test("A client that never reads delays no other one", async () => {
  const { port } = await served();
  const client = new ServedClient(port);
  onTestFinished(() => client.stop());
  await client.initialize();
  const socket = new WebSocket(`ws://127.0.0.1:${port}/acp`, { headers: { Authorization: `Bearer ${TOKEN}` } });
  await once(socket, "open");
  const send = (id: number, method: string, params: object): void =>
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  send(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });
  await once(socket, "message");
  send(2, "session/new", { cwd: client.cwd, mcpServers: [] });
  const [opened] = await once(socket, "message");
  const { sessionId } = JSON.parse(String(opened)).result;
  socket.pause();
  for (let id = 3; id < 500; id += 1)
    send(id, "session/set_mode", { sessionId, modeId: id % 2 === 0 ? "ask" : "code" });
  expect((await client.request("session/list", {})).error).toBeUndefined();
  socket.terminate();
});
