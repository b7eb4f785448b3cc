// Servers over HTTP that restart, go down, refuse single calls, or list their tools in another order each time.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { editorServers } from "../../../agent-core/mcp/server-config.ts";
import { ServerConnection } from "../../../agent-core/mcp/server-connection.ts";
import { open } from "./support/open-servers.ts";

type Refusal = (response: ServerResponse) => void;
type Asked = {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string };
};

const nobody = () => Promise.reject(new Error("no"));
const options = () => ({ signal: AbortSignal.timeout(30_000), handlers: { sample: nobody, elicit: nobody } });
const plain =
  (status: number, body: string): Refusal =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(body);

/** Switches of a server, and what it was asked. */
class State {
  boots = 1;
  isDown: boolean = false;
  hasPrompts: boolean = true;
  readonly tools = ["slow", "refused", "a"];
  /** Methods of HTTP and of the protocol. */
  readonly asked: string[] = [];
  readonly #release = Promise.withResolvers<void>();
  /** Settles when a call of `slow` may be answered. */
  readonly slow = this.#release.promise;
  release = this.#release.resolve;
}

/** The list turns round with each request. */
function resultOf(method: string, { hasPrompts, tools }: State): object | undefined {
  if (method === "initialize") {
    const capabilities = { tools: {}, prompts: {} };
    return { protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "x" } };
  }
  if (method === "prompts/list") return hasPrompts ? { prompts: [{ name: "greet" }] } : undefined;
  if (method === "tools/list") {
    tools.push(...tools.splice(0, 1));
    return { tools: tools.map((name) => ({ name })) };
  }
  return { content: [{ type: "text", text: "ran" }] };
}

/** A server that `refuses` requests of its former sessions, calls of `refused`, and each request while it is down. */
async function startServer(refuses: Refusal) {
  const state = new State();
  const server = createServer(async (request, response) => {
    state.asked.push(request.method ?? "");
    if (state.isDown) return refuses(response);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = (await json(request)) as Asked;
    state.asked.push(method);
    const session = `s${state.boots}`;
    const isForeign = method !== "initialize" && request.headers["mcp-session-id"] !== session;
    if (isForeign || params?.name === "refused") return refuses(response);
    if (id === undefined) return void response.writeHead(202).end();
    if (params?.name === "slow") await state.slow;
    const result = resultOf(method, state);
    const outcome = result === undefined ? { error: { code: -32_603, message: "busy" } } : { result };
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": session });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const [config] = editorServers([
    { type: "http", name: "far", url: `http://127.0.0.1:${port}/mcp`, headers: [] },
  ]).servers;
  if (config === undefined) throw new Error("no server");
  const connection = new ServerConnection({ config, folder: "/" });
  onTestFinished(async () => {
    await connection.close();
    server.closeAllConnections();
    server.close();
  });
  return { connection, config, state };
}

test.each<[string, Refusal]>([
  ["Spring AI", plain(400, '{"error":"Session ID required in mcp-session-id header"}')],
  ["a gateway with 410", plain(410, "gone")],
  ["a replica", plain(421, "wrong replica")],
  ["a proxy", plain(502, "<html>Bad Gateway</html>")],
])(
  "a server that restarted and refuses its former session as %s does runs the call in a new one",
  async (_, refuses) => {
    const { connection, state } = await startServer(refuses);
    await connection.start();
    state.boots += 1;
    expect(await connection.call("a", {}, options())).toMatchObject({ content: [{ text: "ran" }] });
  },
);

test("a server that is down offers no tools, and is not asked at each turn", async () => {
  const { config, state } = await startServer(plain(503, "starting"));
  state.isDown = true;
  const { servers } = await open([config]);
  await servers.settled();
  const asked = state.asked.length;
  for (const _turn of [1, 2, 3]) expect(servers.tools()).toEqual([]);
  await servers.settled();
  expect(state.asked).toHaveLength(asked);
});

test("a server that failed is asked for by no call", async () => {
  const { connection, state } = await startServer(plain(503, "starting"));
  state.isDown = true;
  await connection.start();
  const asked = state.asked.length;
  await expect(connection.call("a", {}, options())).rejects.toThrow("not available");
  expect([connection.state.kind, state.asked.length]).toEqual(["failed", asked]);
});

test.each([429, 500, 504])("a call that is refused with %i does not end another that runs", async (status) => {
  const { connection, state } = await startServer(plain(status, "refused"));
  await connection.start();
  const slow = connection.call("slow", {}, options());
  await expect.poll(() => state.asked).toContain("tools/call");
  await expect(connection.call("refused", {}, options())).rejects.toThrow();
  expect(await connection.call("a", {}, options())).toMatchObject({ content: [{ text: "ran" }] });
  state.release();
  expect(await slow).toMatchObject({ content: [{ text: "ran" }] });
});

test("a server that lists its tools in another order each time keeps the first over all calls and turns", async () => {
  const { config, state } = await startServer(plain(404, "Session not found"));
  const { servers, call } = await open([config]);
  await servers.settled();
  const tools = servers.tools();
  for (const _turn of [1, 2, 3]) {
    await call("a");
    expect(servers.tools()).toBe(tools);
  }
  expect(state.asked.filter((method) => method === "tools/list")).toHaveLength(1);
});

test("a server that fails to list its prompts once keeps those that it had", async () => {
  const { connection, state } = await startServer(plain(404, "Session not found"));
  await connection.start();
  state.hasPrompts = false;
  await connection.start();
  expect(connection.state).toEqual({ kind: "on" });
  expect(connection.listing.prompts.map(({ name }) => name)).toEqual(["greet"]);
});
