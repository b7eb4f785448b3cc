// `hermes serve` and `hermes connect` as programs: the agent of a server, over stdio.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import * as http2 from "node:http2";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/acp-client.ts";
import { AcpProcess } from "../../support/acp-process.ts";
import type { Part } from "../../support/model-server/answer.ts";
import { call, hold, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";
import { AUTHORITY, TLS_FILES } from "../../support/network/servers.ts";
import { TOKEN, wireTo } from "../../support/served-agent.ts";
import { startSshServer } from "../../support/ssh-server.ts";

const run = promisify(execFile);

type Served = { readonly child: ChildProcess; readonly port: number; readonly lines: readonly string[] };

function environment(home: string, model: ModelServer): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  const models = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" };
  return { PATH, HOME: home, HERMES_HOME: home, HERMES_LOCAL_SERVERS: "off", HERMES_SERVE_TOKEN: TOKEN, ...models };
}

async function serve(home: string, model: ModelServer, port = 0, more: readonly string[] = []): Promise<Served> {
  const child = spawn("node", ["dist/cli.js", "serve", "--listen", `127.0.0.1:${port}`, ...more], {
    env: environment(home, model),
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith("Token:")) break;
  }
  return { child, port: Number(/port=(\d+)/.exec(lines[0] ?? "")?.[1]), lines };
}

async function startModel(): Promise<ModelServer> {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  return model;
}

async function bridged(port: number): Promise<AcpProcess> {
  const program = ["dist/cli.js", "connect", `ws://127.0.0.1:${port}`];
  const bridge = new AcpProcess({ HERMES_SERVE_TOKEN: TOKEN }, undefined, undefined, program);
  onTestFinished(() => bridge.stop());
  await bridge.initialize();
  return bridge;
}

const text = (words: string): Part => ({ type: "text", text: words });

test("A server prints its port and the line for an editor, and ends its turns before it ends", async () => {
  const model = await startModel();
  const { child, port, lines } = await serve(temporaryFolder("hermes-served-"), model);
  expect(lines).toEqual([
    `HERMES_BACKEND_READY port=${port}`,
    expect.stringContaining(`{ "url": "ws://127.0.0.1:${port}/acp" }`),
    "Token: HERMES_SERVE_TOKEN",
  ]);
  const second = spawn("node", ["dist/cli.js", "serve", "--listen", `127.0.0.1:${port}`], {
    env: environment(temporaryFolder("hermes-served-"), model),
    stdio: "ignore",
  });
  expect(await once(second, "exit")).toEqual([75, null]);
  const bridge = await bridged(port);
  const id = await bridge.newSession();
  const gate = hold();
  model.script({ parts: [text("one "), gate.part, text("two")] });
  const turn = bridge.prompt(id, "count");
  await gate.reached;
  child.kill("SIGTERM");
  while ((await fetch(`http://127.0.0.1:${port}/readyz`)).ok);
  gate.release();
  expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("An editor over stdio does not notice that the bridge lost its connection", async () => {
  const model = await startModel();
  const { port } = await serve(temporaryFolder("hermes-served-"), model);
  const wire = await wireTo(port);
  onTestFinished(() => wire.stop());
  const bridge = await bridged(wire.port);
  const id = await bridge.newSession();
  const gate = hold();
  model.script(
    { parts: [call("terminal", { command: "touch made" }), text("")] },
    { parts: [text("one "), gate.part, text("two")] },
  );
  const asked: unknown[] = [];
  bridge.on("session/request_permission", ({ toolCall }) => {
    asked.push(toolCall);
    wire.cut();
    return { outcome: { outcome: "selected", optionId: "once" } };
  });
  await bridge.request("session/set_mode", { sessionId: id, modeId: "ask" });
  const turn = bridge.prompt(id, "make it");
  await gate.reached;
  wire.cut();
  gate.release();
  expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
  expect(asked).toHaveLength(1);
  expect(bridge.text()).toBe("one two");
});

test("A server that was killed in a turn goes on with the session, and the turn fails in words", async () => {
  const model = await startModel();
  const home = temporaryFolder("hermes-served-");
  const first = await serve(home, model);
  const bridge = await bridged(first.port);
  const id = await bridge.newSession();
  const gate = hold();
  model.script(say("stored"), { parts: [text("lost "), gate.part] }, say("again"));
  await bridge.prompt(id, "first");
  const turn = bridge.prompt(id, "second");
  await gate.reached;
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  gate.release();
  await serve(home, model, first.port);
  expect((await turn).error?.message).toContain("The server has restarted");
  expect((await bridge.prompt(id, "third")).result).toMatchObject({ stopReason: "end_turn" });
  expect(bridge.text()).toContain("again");
});

test("A server with TLS speaks WebSocket and HTTP/2, and a client that does not trust its certificate says so", async () => {
  const model = await startModel();
  const files = ["--tls-cert", TLS_FILES.cert, "--tls-key", TLS_FILES.key];
  const { port } = await serve(temporaryFolder("hermes-served-"), model, 0, files);
  const program = ["dist/cli.js", "connect", `wss://localhost:${port}`];
  const variables = { HERMES_SERVE_TOKEN: TOKEN, NODE_EXTRA_CA_CERTS: AUTHORITY };
  const trusting = new AcpProcess(variables, undefined, undefined, program);
  onTestFinished(() => trusting.stop());
  await trusting.initialize();
  model.script(say("over TLS"));
  await trusting.prompt(await trusting.newSession(), "hello");
  expect(trusting.text()).toBe("over TLS");
  const wary = new AcpProcess({ HERMES_SERVE_TOKEN: TOKEN }, undefined, undefined, program);
  let said = "";
  wary.child.stderr?.on("data", (data) => {
    said += data;
  });
  void wary.initialize();
  expect(await wary.exited).toBe(1);
  expect(said).toContain(
    `localhost:${port}/acp cannot be reached: unable to verify the first certificate. Add its certificate authority`,
  );
  const session = http2.connect(`https://localhost:${port}`, { ca: readFileSync(AUTHORITY) });
  const authorization = `Bearer ${TOKEN}`;
  const stream = session.request({
    ":path": "/acp",
    ":method": "POST",
    authorization,
    "content-type": "application/json",
  });
  const params = { protocolVersion: 1, clientCapabilities: {} };
  stream.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
  const [headers] = await once(stream, "response");
  expect(headers).toMatchObject({ ":status": 200, "acp-connection-id": expect.any(String) });
  session.destroy();
});

test("A client names the certificate of a server that has expired", async () => {
  const folder = temporaryFolder("hermes-certificate-");
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]) => run("openssl", args, { cwd: folder });
  const key = ["-newkey", "rsa:2048", "-nodes", "-keyout"];
  await openssl("req", "-x509", ...key, "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "30");
  await openssl("req", ...key, "server.key", "-out", "server.csr", "-subj", "/CN=localhost");
  writeFileSync(at("names"), "subjectAltName=DNS:localhost");
  const authority = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names"];
  await openssl("x509", "-req", "-in", "server.csr", ...authority, "-days", "-1", "-out", "server.pem");
  const files = ["--tls-cert", at("server.pem"), "--tls-key", at("server.key")];
  const { port } = await serve(temporaryFolder("hermes-served-"), await startModel(), 0, files);
  const variables = { HERMES_SERVE_TOKEN: TOKEN, NODE_EXTRA_CA_CERTS: at("ca.pem") };
  const client = new AcpProcess(variables, undefined, undefined, ["dist/cli.js", "connect", `wss://localhost:${port}`]);
  let said = "";
  client.child.stderr?.on("data", (data) => {
    said += data;
  });
  void client.initialize();
  expect(await client.exited).toBe(1);
  expect(said).toContain(`localhost:${port}/acp cannot be reached: certificate has expired`);
});

test("acpx works through the bridge", async () => {
  const model = await startModel();
  const { port } = await serve(temporaryFolder("hermes-served-"), model);
  const [home, cwd] = [temporaryFolder("hermes-acpx-"), temporaryFolder("hermes-work-")];
  writeFileSync(join(cwd, "a.txt"), "one\n");
  mkdirSync(join(home, ".acpx"));
  model.script(callRead(), say("One line."));
  const agent = `node ${join(process.cwd(), "dist/cli.js")} connect ws://127.0.0.1:${port}`;
  const options = { cwd, env: { PATH: process.env["PATH"], HOME: home, HERMES_SERVE_TOKEN: TOKEN } };
  const { stdout } = await run(
    join(process.cwd(), "node_modules/.bin/acpx"),
    ["--cwd", cwd, "--approve-all", "--agent", agent, "exec", "How long is a.txt?"],
    options,
  );
  expect(stdout).toContain("One line.");
});

test("An agent over the system's ssh works in the folder of its machine", async () => {
  const model = await startModel();
  const folder = temporaryFolder("hermes-ssh-");
  const program = (name: string, text: string): string => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return join(folder, name);
  };
  program("hermes-acp", `exec ${process.execPath} ${process.cwd()}/dist/acp.js`);
  // The login shell of the other machine, whose PATH has the user's own programs.
  const login = program("login", `export PATH=${folder}:$PATH; exec /bin/sh -c "$2"`);
  const variables = Object.entries(environment(folder, model)).map(([name, value]) => `${name}='${value}'`);
  const shell = program("shell", `export SHELL=${login} ${variables.join(" ")}; exec /bin/sh "$@"`);
  const server = await startSshServer(shell);
  onTestFinished(() => server.stop());
  const { port, key, user, programs } = server;
  const line = ["-p", String(port), "-i", key, "-T", "-o", "ServerAliveInterval=60", `${user}@127.0.0.1`];
  const remote = ["exec $SHELL -lc 'exec hermes-acp'"];
  const PATH = `${programs}:${process.env["PATH"]}`;
  const agent = new AcpProcess({ PATH }, undefined, undefined, { program: "ssh", args: [...line, ...remote] });
  onTestFinished(() => agent.stop());
  await agent.initialize();
  model.script(callRead(), say("Three lines."));
  await agent.prompt(await agent.newSession(), "How long is a.txt?");
  expect(agent.text()).toBe("Three lines.");
  expect(agent.strayLines).toEqual([]);
});

function callRead() {
  return { parts: [call("read_file", { path: "a.txt" })] };
}
