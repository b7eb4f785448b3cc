/**
 * A proxy and a server with TLS on loopback. The authority and the server's key are for tests only: nothing trusts them
 * elsewhere. The certificate is valid for 100 years, for `*.example.test`, `api.anthropic.com`, `localhost` and 127.0.0.1.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request, type Server } from "node:http";
import { type AddressInfo, connect, type Server as NetServer, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";

const file = (name: string): string => join(import.meta.dirname, name);

/** Path of the authority's certificate, in PEM. */
export const AUTHORITY = file("authority.pem");

/** Paths of the server's key and certificate, in PEM. */
export const TLS_FILES = { key: file("server-key.pem"), cert: file("server.pem") };

export const TLS = { key: readFileSync(TLS_FILES.key), cert: readFileSync(TLS_FILES.cert) };

type Running = { readonly port: number; stop(): Promise<void> };

/** Server with TLS in front of the plain one on `port`. */
export async function startTlsFront(port: number): Promise<Running> {
  const server = createTlsServer(TLS, (socket) => {
    const inner = connect(port, "127.0.0.1");
    socket.pipe(inner).pipe(socket);
    for (const [one, other] of [[socket, inner] as const, [inner, socket] as const]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.on("tlsClientError", () => undefined);
  return listening(server);
}

export type TestProxy = Running & {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** First lines of the requests, such as `CONNECT api.example.test:443`. */
  readonly seen: string[];
  readonly headers: IncomingHttpHeaders[];
  /** Header `proxy-authorization` that every request needs. Default: none. */
  authorization: string | undefined;
};

/** Proxy that finds every host behind `ports`: the plain one for whole addresses, the other for tunnels. */
export async function startProxy(ports: { readonly plain: number; readonly tunnels: number }): Promise<TestProxy> {
  const server = createServer((incoming, response) => {
    note(`${incoming.method} ${incoming.url}`, incoming.headers);
    if (!isAllowed(incoming.headers)) {
      response.writeHead(407, { "proxy-authenticate": "Basic" }).end("a proxy's page");
      return;
    }
    const { pathname, search } = new URL(incoming.url ?? "");
    const { method, headers } = incoming;
    const onward = request({ port: ports.plain, host: "127.0.0.1", path: `${pathname}${search}`, method, headers });
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  server.on("connect", (incoming, socket: Socket) => {
    note(`${incoming.method} ${incoming.url}`, incoming.headers);
    if (!isAllowed(incoming.headers)) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n");
      return;
    }
    const inner = connect(ports.tunnels, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      socket.pipe(inner).pipe(socket);
    });
    for (const [one, other] of [[socket, inner] as const, [inner, socket] as const]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  const running = await listening(server);
  const proxy: TestProxy = {
    ...running,
    url: `http://127.0.0.1:${running.port}`,
    seen: [],
    headers: [],
    authorization: undefined,
  };
  const note = (line: string, headers: IncomingHttpHeaders): void => {
    proxy.seen.push(line);
    proxy.headers.push(headers);
  };
  const isAllowed = (headers: IncomingHttpHeaders): boolean =>
    proxy.authorization === undefined || headers["proxy-authorization"] === proxy.authorization;
  return proxy;
}

async function listening(server: NetServer | Server): Promise<Running> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async stop() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
