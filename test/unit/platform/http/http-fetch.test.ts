import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { useNetwork } from "../../../../agent-core/platform/http/connections.ts";
import { httpFetch } from "../../../../agent-core/platform/http/http-fetch.ts";
import { AUTHORITY, startProxy, type TestProxy, TLS } from "../../../support/network/servers.ts";

let plain: Server;
let secure: Server;
let handle: RequestListener;
let requests: IncomingMessage[];
let base: string;
let connections: number;

beforeEach(async () => {
  requests = [];
  connections = 0;
  handle = (_, response) => void response.end("ok");
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(request);
    void handle(request, response);
  };
  plain = createServer(onRequest);
  secure = createTlsServer(TLS, onRequest) as unknown as Server; // both have what is used here
  plain.on("connection", () => {
    connections += 1;
  });
  for (const server of [plain, secure]) await once(server.listen(0, "127.0.0.1"), "listening");
  base = `http://127.0.0.1:${portOf(plain)}`;
  useNetwork({});
});

afterEach(async () => {
  useNetwork({});
  for (const server of [plain, secure]) {
    server.close();
    server.closeAllConnections();
  }
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

test("the client sends method, headers and body, and gives status, headers and text", async () => {
  let body = "";
  handle = async (request, response) => {
    body = await bodyOf(request);
    response.writeHead(201, { "X-Id": "7", "set-cookie": ["a=1", "b=2"] }).end("créé");
  };
  const response = await httpFetch(`${base}/a/b?c=d`, { method: "post", headers: { "X-Mine": "1" }, body: "été" });
  expect(body).toBe("été");
  expect(requests[0]).toMatchObject({ method: "POST", url: "/a/b?c=d", headers: { "x-mine": "1" } });
  expect(response).toMatchObject({ status: 201, ok: true, url: `${base}/a/b?c=d` });
  expect([response.headers.get("X-ID"), response.headers.get("x-other")]).toEqual(["7", null]);
  expect(new Map(response.headers).get("set-cookie")).toBe("a=1, b=2");
  expect(await response.text()).toBe("créé");
});

test("the client uses a connection again", async () => {
  for (let round = 0; round < 3; round += 1) await (await httpFetch(base)).text();
  expect(connections).toBe(1);
});

test("the client sends a request again when the server closed the idle connection at that moment", async () => {
  let socket: Socket | undefined;
  handle = (request, response) => {
    // The second request meets a connection that ends without an answer.
    if (request.socket === socket) request.socket.destroy();
    else response.end("ok");
    socket ??= request.socket;
  };
  await (await httpFetch(base)).text();
  expect(await (await httpFetch(base, { method: "POST", body: "again" })).text()).toBe("ok");
  expect(requests).toHaveLength(3);
});

test("the client does not send a request again that a new connection dropped", async () => {
  handle = (request) => void request.socket.destroy();
  await expect(httpFetch(base)).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(requests).toHaveLength(1);
});

test("the client names the address that refuses a connection", async () => {
  const port = portOf(plain);
  plain.close();
  await expect(httpFetch(base)).rejects.toMatchObject({
    code: "ECONNREFUSED",
    message: `connect ECONNREFUSED 127.0.0.1:${port}`,
  });
});

describe("the body", () => {
  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("is decoded from %s", async (encoding, encode) => {
    handle = (_, response) =>
      void response.writeHead(200, { "content-encoding": encoding }).end(encode("text ".repeat(999)));
    expect(await (await httpFetch(base)).text()).toBe("text ".repeat(999));
  });

  test("arrives part by part, also when it is encoded", async () => {
    const gzip = createGzip();
    handle = (_, response) => {
      gzip.pipe(response.writeHead(200, { "content-encoding": "gzip" }));
      gzip.write("one");
      gzip.flush();
    };
    const reader = (await httpFetch(base)).body.getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("one");
    gzip.end("two");
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("two");
    expect((await reader.read()).done).toBe(true);
  });

  test("makes the server wait while nobody reads", async () => {
    const part = Buffer.alloc(262_144);
    let written = 0;
    handle = (_, response) => {
      const write = (): void => {
        while (written < 64) {
          written += 1;
          if (!response.write(part)) return void response.once("drain", write);
        }
        response.end();
      };
      write();
    };
    const reader = (await httpFetch(base)).body.getReader();
    await reader.read();
    await reader.read();
    expect(written).toBeLessThan(48);
    let bytes = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) bytes += next.value.byteLength;
    expect(bytes).toBeGreaterThan(63 * part.byteLength);
  });

  test("that breaks off is an error", async () => {
    handle = (_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      setImmediate(() => response.destroy());
    };
    const response = await httpFetch(base);
    await expect(new Response(response.body).text()).rejects.toThrow("aborted");
  });

  test("closes the connection when it is cancelled", async () => {
    const closed = Promise.withResolvers<void>();
    handle = (request, response) => {
      request.socket.once("close", () => closed.resolve());
      response.write("endless");
    };
    const { body } = await httpFetch(base);
    await body.cancel();
    await closed.promise;
  });

  test("of an error is cut off at 64 kB", async () => {
    handle = (_, response) => void response.writeHead(500).end("x".repeat(1_000_000));
    expect(await (await httpFetch(base)).text()).toBe("x".repeat(65_536));
  });
});

test("the client refuses endless headers", async () => {
  handle = (_, response) => void response.writeHead(200, { "x-long": "x".repeat(70_000) }).end();
  await expect(httpFetch(base)).rejects.toMatchObject({ code: "HPE_HEADER_OVERFLOW" });
});

describe("an abort", () => {
  const reason = new Error("the user stopped");

  test("before the request sends nothing", async () => {
    await expect(httpFetch(base, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(requests).toHaveLength(0);
  });

  test("while the server is silent rejects at once and closes the connection", async () => {
    const stop = new AbortController();
    const closed = Promise.withResolvers<void>();
    handle = (request) => {
      request.socket.once("close", () => closed.resolve());
      stop.abort(reason);
    };
    await expect(httpFetch(base, { signal: stop.signal })).rejects.toBe(reason);
    await closed.promise;
  });

  test("during the body ends the stream with its reason", async () => {
    const stop = new AbortController();
    handle = (_, response) => void response.write("first");
    const reader = (await httpFetch(base, { signal: stop.signal })).body.getReader();
    await reader.read();
    const next = reader.read();
    stop.abort(reason);
    await expect(next).rejects.toBe(reason);
  });

  test("after the end changes nothing, and no listener stays", async () => {
    const stop = new AbortController();
    let listeners = 0;
    const { signal } = stop;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    await (await httpFetch(base, { signal })).text();
    await expect.poll(() => listeners).toBe(0);
    stop.abort(reason);
  });
});

describe("a redirect", () => {
  const redirect = (status: number, location: string): RequestListener => {
    return (request, response) => {
      if (request.url === "/to") response.end("there");
      else response.writeHead(status, { location }).end();
    };
  };

  test.each([301, 302, 303, 307, 308])("%i within the origin is followed", async (status) => {
    handle = redirect(status, "/to");
    expect(await (await httpFetch(`${base}/from`)).text()).toBe("there");
  });

  test("keeps method and body when it says so", async () => {
    handle = redirect(308, "/to");
    await (await httpFetch(`${base}/from`, { method: "POST", body: "conversation" })).text();
    expect(requests.map(({ method }) => method)).toEqual(["POST", "POST"]);
  });

  test("that would drop the body is an error", async () => {
    handle = redirect(302, "/to");
    await expect(httpFetch(`${base}/from`, { method: "POST", body: "x" })).rejects.toThrow(
      `${base} redirects to ${base}/to`,
    );
    expect(requests).toHaveLength(1);
  });

  test.each([301, 302, 303, 307, 308])("%i to another origin is an error that names both", async (status) => {
    handle = redirect(status, `http://localhost:${portOf(plain)}/to?token=1`);
    const sent = httpFetch(`${base}/from`, { method: "POST", body: "conversation", headers: { authorization: "key" } });
    await expect(sent).rejects.toMatchObject({
      code: "ERR_REDIRECT",
      message: `${base} redirects to http://localhost:${portOf(plain)}/to; if you trust that place, make it the base URL`,
    });
    expect(requests).toHaveLength(1);
  });

  test("in a circle ends", async () => {
    handle = redirect(307, "/from");
    await expect(httpFetch(`${base}/from`)).rejects.toThrow(`${base} redirects more than 3 times`);
  });
});

describe("a certificate", () => {
  const url = (): string => `https://localhost:${portOf(secure)}`;

  test("of an unknown authority is refused", async () => {
    await expect(httpFetch(url())).rejects.toMatchObject({ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" });
    expect(requests).toHaveLength(0);
  });

  test.each(["NODE_EXTRA_CA_CERTS", "HERMES_CA_FILE"])("of an authority in %s is trusted", async (variable) => {
    useNetwork({ [variable]: AUTHORITY });
    expect(await (await httpFetch(url())).text()).toBe("ok");
  });

  test("is not looked at when the user said so", async () => {
    useNetwork({ HERMES_STRICT_SSL: "false" });
    expect(await (await httpFetch(url())).text()).toBe("ok");
  });

  test("in a file that cannot be read is an error that says where to correct it", async () => {
    useNetwork({ HERMES_CA_FILE: "/nowhere/ca.pem" });
    await expect(httpFetch(url())).rejects.toThrow(
      /the certificates in \/nowhere\/ca\.pem cannot be read .*network\.ca_file/,
    );
  });
});

describe("a proxy", () => {
  let proxy: TestProxy;
  beforeEach(async () => {
    proxy = await startProxy({ plain: portOf(plain), tunnels: portOf(secure) });
    useNetwork({ HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, HERMES_CA_FILE: AUTHORITY });
  });
  afterEach(() => proxy.stop());

  test("gets whole addresses of plain servers", async () => {
    expect(await (await httpFetch("http://api.example.test/v1?a=b")).text()).toBe("ok");
    expect(proxy.seen).toEqual(["GET http://api.example.test/v1?a=b"]);
    expect(requests[0]?.headers.host).toBe("api.example.test");
  });

  test("opens one tunnel for several requests to a server with TLS, and sees nothing of them", async () => {
    for (const path of ["/one", "/two"]) {
      const response = await httpFetch(`https://api.example.test${path}`, { headers: { authorization: "key" } });
      expect(await response.text()).toBe("ok");
    }
    expect(proxy.seen).toEqual(["CONNECT api.example.test:443"]);
    expect(JSON.stringify(proxy.headers)).not.toContain("key");
    expect(requests.map(({ url }) => url)).toEqual(["/one", "/two"]);
  });

  test("cannot pass another server off as the one that was asked", async () => {
    await expect(httpFetch("https://api.other.test")).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    expect(requests).toHaveLength(0);
  });

  test("gets the user and the password of its address, and the server does not", async () => {
    proxy.authorization = `Basic ${Buffer.from("me:secret").toString("base64")}`;
    const address = proxy.url.replace("//", "//me:secret@");
    useNetwork({ ALL_PROXY: address, HERMES_CA_FILE: AUTHORITY });
    expect(await (await httpFetch("https://api.example.test")).text()).toBe("ok");
    expect(await (await httpFetch("http://api.example.test")).text()).toBe("ok");
    expect(requests[0]?.headers).not.toHaveProperty("proxy-authorization");
  });

  test.each(["https://api.example.test", "http://api.example.test"])(
    "that asks for a password says so, for %s",
    async (url) => {
      proxy.authorization = "Basic other";
      const sent = httpFetch(url, { method: "POST", body: "conversation" });
      await expect(sent).rejects.toMatchObject({
        code: "ERR_PROXY_AUTHENTICATION",
        message: `the proxy ${proxy.url} requires authentication (407): write USER:PASSWORD@ before the host in its address`,
      });
      expect(requests).toHaveLength(0);
    },
  );

  test.each(["https://api.example.test", "http://api.example.test"])(
    "that is not there is named, for %s",
    async (url) => {
      await proxy.stop();
      await expect(httpFetch(url)).rejects.toMatchObject({
        message: `the proxy ${proxy.url} cannot be reached`,
        cause: { code: "ECONNREFUSED" },
      });
      proxy = await startProxy({ plain: portOf(plain), tunnels: portOf(secure) });
    },
  );

  test("is left by an abort while it opens the tunnel", async () => {
    const stop = new AbortController();
    const sent = httpFetch("https://api.example.test", { signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(sent).rejects.toThrow("stopped");
  });

  test("can change while requests run", async () => {
    const gate = Promise.withResolvers<void>();
    handle = async (_, response) => {
      response.write("first ");
      await gate.promise;
      response.end("second");
    };
    const running = await httpFetch("https://api.example.test");
    useNetwork({ HERMES_PROXY: "http://127.0.0.1:1" });
    gate.resolve();
    expect(await running.text()).toBe("first second");
    await expect(httpFetch("https://api.example.test")).rejects.toThrow(
      "the proxy http://127.0.0.1:1 cannot be reached",
    );
  });
});
