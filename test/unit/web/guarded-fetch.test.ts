import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { useNetwork } from "../../../agent-core/platform/http/connections.ts";
import { addressRefusal } from "../../../agent-core/web/address-guard.ts";
import { type Fetched, type FetchOptions, guardedFetch } from "../../../agent-core/web/guarded-fetch.ts";
import { startProxy } from "../../support/network/servers.ts";

let server: Server;
let handle: RequestListener;
let paths: string[];
let base: string;
let resolved: string[];
/** Addresses of names, one list for each lookup. */
let answers: string[][];

beforeEach(async () => {
  paths = [];
  resolved = [];
  answers = [];
  handle = (_, response) => void response.end("ok");
  server = createServer((request, response) => {
    paths.push(`${request.headers.host?.split(":")[0]}${request.url}`);
    handle(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  useNetwork({});
  server.close();
  server.closeAllConnections();
});

/** Like the guard of public addresses, but 127.0.0.1 is public. */
const guard: FetchOptions["guard"] = {
  resolve: async (name) => {
    resolved.push(name);
    return (answers.shift() ?? ["127.0.0.1"]).map((address) => ({ address, family: 4 }));
  },
  refusal: (address) => (address === "127.0.0.1" ? undefined : addressRefusal(address)),
};

const fetched = (url: string, options: Partial<FetchOptions> = {}): Promise<Fetched> =>
  guardedFetch(url, { guard, signal: new AbortController().signal, ...options });

const named = (name: string, path = "/"): string => `${base.replace("127.0.0.1", name)}${path}`;

test("the fetch gives the body, its type and the address after redirects", async () => {
  handle = ({ url }, response) => {
    if (url === "/a") response.writeHead(302, { location: "/b" }).end();
    else response.writeHead(200, { "content-type": "text/plain" }).end("text");
  };
  const result = await fetched(`${base}/a`);
  expect(result).toMatchObject({ ok: true, url: `${base}/b`, contentType: "text/plain" });
  expect(result.ok && result.bytes.toString()).toBe("text");
});

test("the fetch connects to the address that was checked, whatever the name resolves to afterwards", async () => {
  answers = [["127.0.0.1"], ["10.0.0.1"]];
  expect(await fetched(named("rebound.example"))).toMatchObject({ ok: true });
  expect(resolved).toEqual(["rebound.example"]);
  expect(await fetched(named("rebound.example"))).toMatchObject({
    ok: false,
    text: expect.stringMatching(/10\.0\.0\.1/),
  });
  expect(paths).toEqual(["rebound.example/"]);
});

test("the fetch shares no connection with a request to another address of the same name", async () => {
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  for (let round = 0; round < 2; round += 1) await fetched(named("twice.example"));
  expect(connections).toBe(2);
});

test.each([
  ["http://127.0.0.2/", "this machine"],
  ["http://169.254.169.254/latest/meta-data", "clouds serve the metadata and keys of their machines there"],
  ["//[::ffff:10.0.0.1]/", "private network"],
  ["file:///etc/passwd", "only http and https"],
  ["http://me:secret@127.0.0.1/", "holds a user name"],
])("the fetch refuses a redirect to %s", async (location, reason) => {
  handle = (_, response) => void response.writeHead(302, { location }).end();
  const result = await fetched(base);
  expect(result).toMatchObject({ ok: false, text: expect.stringContaining(reason) });
  expect(result.ok || result.text).toMatch(/redirects\. /);
  expect(paths).toHaveLength(1);
});

test("the fetch checks the name of each redirect again", async () => {
  handle = (_, response) => void response.writeHead(307, { location: named("second.example") }).end();
  answers = [["127.0.0.1"], ["192.168.0.1"]];
  expect(await fetched(named("first.example"))).toMatchObject({
    ok: false,
    text: expect.stringMatching(/192\.168\.0\.1/),
  });
  expect(resolved).toEqual(["first.example", "second.example"]);
});

test("the fetch ends endless redirects", async () => {
  handle = (_, response) => void response.writeHead(302, { location: "/again" }).end();
  expect(await fetched(base)).toEqual({ ok: false, text: `${base} redirects more than 5 times.` });
  expect(paths).toHaveLength(6);
});

test.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
])("the fetch limits the size after decompression of %s", async (encoding, compress) => {
  const bomb = compress(Buffer.alloc(20_000_000));
  expect(bomb.byteLength).toBeLessThan(50_000);
  handle = (_, response) => void response.writeHead(200, { "content-encoding": encoding }).end(bomb);
  expect(await fetched(base, { maxBytes: 1_000_000 })).toEqual({
    ok: false,
    text: `${base}/ is larger than the limit of 1000000 bytes.`,
  });
});

test("the fetch limits a body without end, and one that is declared too large", async () => {
  const ended = new Promise((resolve) => {
    handle = ({ url }, response) => {
      if (url === "/declared") return void response.writeHead(200, { "content-length": "9000000" }).flushHeaders();
      const write = (): void => void (response.writable && response.write(Buffer.alloc(65_536), write));
      response.on("close", resolve);
      write();
    };
  });
  for (const path of ["/declared", "/endless"]) {
    const result = await fetched(`${base}${path}`, { maxBytes: 500_000 });
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining("larger than the limit") });
  }
  await ended;
});

test("the fetch limits the time, also of a body", async () => {
  handle = (_, response) => void response.writeHead(200).write("start");
  expect(await fetched(base, { maxMs: 60 })).toEqual({
    ok: false,
    text: `${base} could not be fetched: it took longer than 0.06 s.`,
  });
});

test("a cancel rejects with its reason", async () => {
  const controller = new AbortController();
  handle = (_, response) => {
    response.writeHead(200).write("start");
    controller.abort(new Error("stopped"));
  };
  await expect(fetched(base, { signal: controller.signal })).rejects.toThrow("stopped");
});

test("the fetch reports statuses and failed connections in one line", async () => {
  handle = (_, response) => void response.writeHead(404).end("<h1>gone");
  expect(await fetched(`${base}/x`)).toEqual({ ok: false, text: `${base}/x answered 404 Not Found.` });
  server.closeAllConnections();
  await once(server.close(), "close");
  expect(await fetched(base)).toMatchObject({
    ok: false,
    text: expect.stringMatching(/could not be fetched: .*REFUSED/),
  });
});

test("the fetch goes through the proxy of the settings, which resolves the name", async () => {
  const port = Number(new URL(base).port);
  const proxy = await startProxy({ plain: port, tunnels: port });
  useNetwork({ HERMES_PROXY: proxy.url });
  expect(await fetched("http://public.example/page")).toMatchObject({ ok: true });
  expect(proxy.seen).toEqual(["GET http://public.example/page"]);
  await proxy.stop();
});
