import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AcpProcess } from "../support/acp-process.ts";
import { type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { AUTHORITY, startProxy, startTlsFront, type TestProxy } from "../support/network/servers.ts";

// A company's network: the provider is reached through a proxy only, and its certificate is from an authority of our own.
const PROVIDER = {
  HERMES_BASE_URL: "https://api.example.test/v1",
  HERMES_MODEL: "test-model",
  HERMES_API_KEY: "sk-live-key-123456",
};

let model: ModelServer;
let tls: Awaited<ReturnType<typeof startTlsFront>>;
let proxy: TestProxy;
beforeEach(async () => {
  model = await startModelServer();
  model.respondWith(() => say("through the tunnel"));
  tls = await startTlsFront(Number(new URL(model.baseUrl).port));
  proxy = await startProxy({ plain: tls.port, tunnels: tls.port });
});
afterEach(async () => {
  for (const server of [proxy, tls, model]) await server.stop();
});

test("over stdio: the variables of the environment, and changes of VS Code's settings while a session is open", async () => {
  const agent = new AcpProcess({ ...PROVIDER, HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: AUTHORITY });
  await agent.initialize();
  const sessionId = await agent.newSession();
  await agent.prompt(sessionId, "one");
  expect(agent.text()).toContain("through the tunnel");
  expect(new Set(proxy.seen)).toEqual(new Set(["CONNECT api.example.test:443"]));

  const other = await startProxy({ plain: tls.port, tunnels: tls.port });
  other.authorization = "Bearer of-the-user";
  const variables = { HERMES_PROXY: other.url, HERMES_PROXY_AUTHORIZATION: "Bearer of-the-user" };
  await agent.request("_hermes/set_environment", { variables });
  const before = model.requests.length;
  await agent.prompt(sessionId, "two");
  expect(model.requests).toHaveLength(before + 1);
  expect(other.seen).toContain("CONNECT api.example.test:443");
  await agent.stop();
  await other.stop();
});

test("in the terminal: the settings of config.yaml, and the system's own certificates", async () => {
  const home = mkdtempSync(join(tmpdir(), "network-"));
  writeFileSync(join(home, "config.yaml"), `network:\n  proxy: ${proxy.url}\n  no_proxy: [other.test]\n`);
  const env = { ...PROVIDER, PATH: process.env["PATH"], HOME: home, HERMES_HOME: home, HERMES_LOCAL_SERVERS: "off" };
  const ask = (more: object) =>
    promisify(execFile)("node", ["dist/cli.js", "--cwd", home, "hi"], { env: { ...env, ...more } });
  // The variable names OpenSSL's file of the system's authorities.
  expect((await ask({ SSL_CERT_FILE: AUTHORITY })).stdout).toContain("through the tunnel");
  const refused = await ask({ SSL_CERT_FILE: "/dev/null", HERMES_NO_PROXY: "none.test" }).catch(
    (error: unknown) => error,
  );
  expect(String(refused)).toMatch(/api\.example\.test cannot be reached: .*certificate/);
});
