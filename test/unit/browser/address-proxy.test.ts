// The proxy of the browser, asked without a browser.
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { AddressProxy, PROXY_USER } from "../../../agent-core/browser/address-proxy.ts";
import { addressGuard } from "../../../agent-core/web/address-guard.ts";

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function begin(guard = addressGuard(false)) {
  const proxy = new AddressProxy(guard);
  ends.push(() => proxy.close());
  const port = await proxy.listen();
  const authorization = Buffer.from(`${PROXY_USER}:${proxy.password}`).toString("base64");
  const ask = async (method: "GET" | "CONNECT", path: string, isSignedIn = true): Promise<number | undefined> => {
    const headers = isSignedIn ? { "proxy-authorization": `Basic ${authorization}` } : {};
    const sent = request({ host: "127.0.0.1", port, method, path, headers }).end();
    const [response] = await Promise.race([once(sent, "response"), once(sent, "connect")]);
    response.socket.destroy();
    return response.statusCode;
  };
  return { proxy, ask };
}

async function server(): Promise<string> {
  const listening = createServer((_request, response) => response.end("ok")).listen(0, "127.0.0.1");
  ends.push(() => listening.close());
  await once(listening, "listening");
  return `127.0.0.1:${(listening.address() as AddressInfo).port}`;
}

test("other programs of this machine get nothing without the password", async () => {
  const { proxy, ask } = await begin();
  const place = await server();
  proxy.allow(new URL(`http://${place}`));
  expect(await ask("GET", `http://${place}/`, false)).toBe(407);
  expect(await ask("CONNECT", place, false)).toBe(407);
  expect(await ask("GET", `http://${place}/`)).toBe(200);
  expect(await ask("CONNECT", place)).toBe(200);
});

test("a server of this machine is refused until the user allows it, by its port", async () => {
  const { proxy, ask } = await begin();
  const [allowed, other] = [await server(), await server()];
  proxy.allow(new URL(`http://${allowed}`));
  expect(await ask("GET", `http://${other}/`)).toBe(403);
  expect(await ask("CONNECT", other)).toBe(403);
  expect(proxy.takeRefusals()).toEqual([
    { host: other, text: expect.stringContaining(`${other} was refused: it is this machine.`) },
  ]);
  expect(await ask("GET", `http://${allowed}/`)).toBe(200);
  expect(proxy.takeRefusals()).toEqual([]);
});

test("a name is resolved once: the connection goes to the address of the check", async () => {
  const answers = ["203.0.113.7", "127.0.0.1"];
  const resolve = async () => [{ address: answers.shift() ?? "", family: 4 }];
  const { ask, proxy } = await begin({ ...addressGuard(false), resolve });
  expect(await ask("CONNECT", "rebinding.example:443")).toBe(403);
  expect(await ask("GET", "http://rebinding.example/")).toBe(403);
  expect(proxy.takeRefusals().map(({ text }) => text)).toEqual([
    expect.stringContaining("203.0.113.7"),
    expect.stringContaining("127.0.0.1"),
  ]);
});
