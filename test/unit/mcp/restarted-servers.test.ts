// Servers over HTTP that restart, go down or change their tools, and say so in words of their own or not at all.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { editorServers } from "../../../agent-core/mcp/server-config.ts";
import { ServerConnection } from "../../../agent-core/mcp/server-connection.ts";

type Refusal = (response: ServerResponse) => void;
type Asked = { readonly id?: number; readonly method: string; readonly params: { readonly protocolVersion: string } };

const nobody = () => Promise.reject(new Error("no"));
const options = () => ({ signal: AbortSignal.timeout(30_000), handlers: { sample: nobody, elicit: nobody } });
const plain =
  (status: number, body: string): Refusal =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(body);

/** A server that `refuses` requests of its former sessions, and each request while it is down. */
async function startServer(refuses: Refusal) {
  const state: { boots: number; isDown: boolean; tools: string[] } = { boots: 1, isDown: false, tools: ["a"] };
  const server = createServer(async (request, response) => {
    if (state.isDown) return refuses(response);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = (await json(request)) as Asked;
    const session = `s${state.boots}`;
    if (method !== "initialize" && request.headers["mcp-session-id"] !== session) return refuses(response);
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x" } },
      "tools/list": { tools: state.tools.map((name) => ({ name })) },
    };
    const result = results[method] ?? { content: [{ type: "text", text: "ran" }] };
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": session });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
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
  return { connection, state, names: () => connection.listing.tools.map(({ name }) => name).join() };
}

describe("a server that restarted", () => {
  test.each<[string, Refusal]>([
    ["Spring AI", plain(400, '{"error":"Session ID required in mcp-session-id header"}')],
    ["a gateway with 410", plain(410, "gone")],
    ["a replica", plain(421, "wrong replica")],
    ["a proxy", plain(502, "<html>Bad Gateway</html>")],
  ])("and refuses its former session as %s does runs the call in a new one", async (_, refuses) => {
    const { connection, state } = await startServer(refuses);
    await connection.start();
    state.boots += 1;
    expect(await connection.call("a", {}, options())).toMatchObject({ content: [{ text: "ran" }] });
  });

  test.each<[string, Refusal]>([
    [
      "an error of its own",
      plain(500, '{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Transport not found"}}'),
    ],
    ["a timeout of its gateway", plain(504, "upstream")],
    ["the end of the connection", (response) => response.destroy()],
  ])("and answers its former session with %s runs the next call", async (_, refuses) => {
    const { connection, state } = await startServer(refuses);
    await connection.start();
    state.boots += 1;
    await expect(connection.call("a", {}, options())).rejects.toThrow();
    expect(await connection.call("a", {}, options())).toMatchObject({ content: [{ text: "ran" }] });
  });

  test("and was down meanwhile runs the next call, and is asked for at the next turn", async () => {
    const { connection, state, names } = await startServer(plain(503, "starting"));
    state.isDown = true;
    await connection.start();
    expect(connection.state.kind).toBe("failed");
    state.isDown = false;
    connection.refresh();
    await expect.poll(names).toBe("a");
    state.isDown = true;
    await expect(connection.call("a", {}, options())).rejects.toThrow();
    state.isDown = false;
    expect(await connection.call("a", {}, options())).toMatchObject({ content: [{ text: "ran" }] });
  });
});

test("a tool that a call adds, and that nobody announces, is there at the next turn", async () => {
  const { connection, state, names } = await startServer(plain(404, "Session not found"));
  await connection.start();
  state.tools.push("b");
  connection.refresh();
  expect(names()).toBe("a");
  await connection.call("a", {}, options());
  connection.refresh();
  await expect.poll(names).toBe("a,b");
});
