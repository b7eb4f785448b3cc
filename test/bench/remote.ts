/** The agent behind a socket beside the same agent over stdio: requests, turns, the way back after a loss, many connections. */
import { spawn } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { type AcpClient, temporaryFolder } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { rawStream, ServedClient, TOKEN } from "../support/served-agent.ts";
import { byTurns, environmentOf, median, type Row, times } from "./measuring.ts";

const ROUNDS = 15;
/** Requests of one round, one after the other. */
const REQUESTS = 200;
/** Words of an answer. */
const WORDS = 500;
const MISSED = 1_000;
const CONNECTIONS = 1_000;

type Server = { readonly port: number; stop(): Promise<void> };

export async function measureRemote(): Promise<readonly Row[]> {
  const model = await startModelServer();
  model.respondWith(({ tools }) => say(tools === undefined ? "Title" : words(WORDS)));
  const server = await startServer(model);
  const stdio = new AcpProcess(environmentOf(model));
  const [socket, http] = [new ServedClient(server.port), new ServedClient(server.port, { scheme: "http" })];
  const clients = [stdio, socket, http] as const;
  try {
    const ids = new Map<AcpClient, string>();
    for (const client of clients) {
      await client.initialize();
      ids.set(client, await client.newSession());
    }
    const request = (client: AcpClient) => async (): Promise<number> => {
      const begin = performance.now();
      const params = { sessionId: ids.get(client) };
      for (let count = 0; count < REQUESTS; count += 1) await client.request("_hermes/process/list", params);
      return (performance.now() - begin) / REQUESTS;
    };
    const turn = (client: AcpClient) => async (): Promise<number> => {
      const begin = performance.now();
      await client.prompt(String(ids.get(client)), "go");
      return performance.now() - begin;
    };
    const requests = await byTurns(ROUNDS, request(socket), request(stdio));
    const turns = await byTurns(ROUNDS, turn(socket), turn(stdio));
    const slower = await byTurns(ROUNDS, request(http), request(stdio));
    const lines = `turn of ${WORDS} words`;
    return [
      { what: "WebSocket: request to response", ...medians(requests), ratio: 1.3, unit: "ms" },
      { what: `WebSocket: ${lines}`, ...medians(turns), ratio: 1.3, unit: "ms" },
      {
        what: "streamable HTTP: request to response, above stdio",
        ours: median(slower.ours) - median(slower.floor),
        target: 5,
        unit: "ms",
      },
      await echoRow(),
      await catchUpRow(server),
      await idleRow(server),
    ];
  } finally {
    for (const client of clients) await client.stop();
    await server.stop();
    await model.stop();
  }
}

/** The lower bound of the first row: nothing but the transports. */
async function echoRow(): Promise<Row> {
  const text = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "_hermes/process/list",
    params: { sessionId: "x".repeat(36) },
  });
  const pipe = spawn(process.execPath, ["-e", "process.stdin.pipe(process.stdout)"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const serve = `const { WebSocketServer } = require("ws");
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" }, () => console.log(server.address().port));
    server.on("connection", (socket) => socket.on("message", (data) => socket.send(data, { binary: false })));`;
  const server = spawn(process.execPath, ["-e", serve], { stdio: ["ignore", "pipe", "ignore"] });
  const [port] = await once(createInterface({ input: server.stdout }), "line");
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(socket, "open");
  const round = (send: () => unknown, from: EventEmitter, event: string) => async (): Promise<number> => {
    const begin = performance.now();
    for (let count = 0; count < REQUESTS; count += 1) {
      const back = once(from, event);
      send();
      await back;
    }
    return (performance.now() - begin) / REQUESTS;
  };
  const lines = createInterface({ input: pipe.stdout });
  const overPipe = round(() => pipe.stdin.write(`${text}\n`), lines, "line");
  const echoes = await byTurns(
    ROUNDS,
    round(() => socket.send(text), socket, "message"),
    overPipe,
  );
  socket.terminate();
  for (const child of [pipe, server]) {
    child.kill();
    await once(child, "exit");
  }
  return { what: "WebSocket: an echo without an agent", ...medians(echoes), ratio: 1.5, unit: "ms" };
}

const words = (count: number): string => Array.from({ length: count }, (_, index) => `word${index} `).join("");

const medians = (runs: { readonly ours: readonly number[]; readonly floor: readonly number[] }) => ({
  ours: median(runs.ours),
  floor: median(runs.floor),
});

async function startServer(model: ModelServer): Promise<Server> {
  const home = temporaryFolder("hermes-bench-");
  const child = spawn("node", ["dist/cli.js", "serve", "--listen", "0", "--max-connections", String(2 * CONNECTIONS)], {
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      HERMES_HOME: home,
      HERMES_LOCAL_SERVERS: "off",
      HERMES_SERVE_TOKEN: TOKEN,
      ...environmentOf(model),
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  return { port: Number(/port=(\d+)/.exec(String(line))?.[1]), stop };
}

/** Time from a resume to its response, after which everything that was missed has arrived. */
async function catchUpRow({ port }: Server): Promise<Row> {
  const client = new ServedClient(port, { stream: rawStream(port) });
  await client.initialize();
  const sessionId = await client.newSession();
  const cwd = client.cwd;
  // A change of the mode is two updates.
  for (let change = 0; change <= MISSED / 2; change += 1) {
    await client.request("session/set_mode", { sessionId, modeId: change % 2 === 0 ? "ask" : "code" });
  }
  const numbers = client
    .notified("session/update")
    .map(({ _meta }) => (_meta as { hermes: { seq: number } }).hermes.seq);
  const after = numbers.at(-1 - MISSED);
  if (after === undefined) throw new Error(`the turn has only ${numbers.length} updates`);
  await client.stop();
  const ours = await times(ROUNDS, async () => {
    const back = new ServedClient(port, { stream: rawStream(port) });
    await back.initialize();
    const begin = performance.now();
    await back.request("session/resume", { sessionId, cwd, mcpServers: [], _meta: { hermes: { after } } });
    const ms = performance.now() - begin;
    if (back.updates.length !== MISSED) throw new Error(`${back.updates.length} of ${MISSED} updates arrived`);
    await back.stop();
    return ms;
  });
  return { what: `catch up with ${MISSED} updates`, ours, target: 300, unit: "ms" };
}

async function idleRow({ port }: Server): Promise<Row> {
  const before = await residentBytes(port);
  const sockets: WebSocket[] = [];
  const initialize = { id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } };
  while (sockets.length < CONNECTIONS) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/acp`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    sockets.push(socket);
    await once(socket, "open");
    socket.send(JSON.stringify({ jsonrpc: "2.0", ...initialize }));
    await once(socket, "message");
  }
  const after = await residentBytes(port);
  for (const socket of sockets) socket.terminate();
  return { what: `${CONNECTIONS} idle connections`, ours: (after - before) / 1e6, target: 200, unit: "MB" };
}

async function residentBytes(port: number): Promise<number> {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
  return Number(/hermes_serve_resident_bytes (\d+)/.exec(text)?.[1]);
}
