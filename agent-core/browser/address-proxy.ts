/**
 * Proxy between the browser and the network, which checks the address of each connection: of pages, their parts, redirects,
 * workers and WebSockets. The connection goes to exactly the address of the check, so that a changed name changes nothing.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestOptions, Server, ServerResponse } from "node:http";
import { type AddressInfo, connect, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connections } from "../platform/http/connections.ts";
import { CONNECT_TIMEOUT_MS, proxyFor } from "../platform/http/network-settings.ts";
import { openTunnel } from "../platform/http/tunnel-agent.ts";
import { type AddressGuard, checkUrl, pinned } from "../web/address-guard.ts";
import { isLoopback, portOf } from "./page-address.ts";

/** As in connections.ts. */
const http = process.getBuiltinModule("node:http");

/** User of the proxy; the password keeps other programs of this machine out. */
export const PROXY_USER = "hermes";
const AUTHENTICATE = 'Basic realm="hermes"';
/** Refusals that one result of a tool names. */
const MAX_REFUSALS = 5;
const THIS_MACHINE = "was refused: it is this machine. Open it with browser_navigate, which asks the user.";
const HOP_HEADERS = ["proxy-connection", "proxy-authorization"];

/** Refused connection: host with port, and the reason in a sentence. */
export type Refusal = { readonly host: string; readonly text: string };

type Target = { readonly url: URL; readonly lookup: LookupFunction | undefined };

export class AddressProxy {
  readonly password = randomUUID();
  readonly #guard: AddressGuard;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  /** Ports of this machine that the user allowed. */
  readonly #ports = new Set<string>();
  readonly #refusals: Refusal[] = [];

  constructor(guard: AddressGuard) {
    this.#guard = guard;
    this.#server = http.createServer((request, response) => void this.#forward(request, response));
    this.#server.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#keep(socket);
      if (this.#isOurs(request)) void this.#tunnel(request.url ?? "", socket, head);
      else socket.end(`HTTP/1.1 407 Sign in\r\nProxy-Authenticate: ${AUTHENTICATE}\r\nConnection: close\r\n\r\n`);
    });
    this.#server.on("connection", (socket) => this.#keep(socket));
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** Resolves with the port of the proxy on 127.0.0.1. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = this.#server.address() as AddressInfo; // a TCP server
    return port;
  }

  /** Lets pages reach the server of this machine that `url` names. */
  allow(url: URL): void {
    if (isLoopback(url)) this.#ports.add(portOf(url));
  }

  /** Connections that were refused since the last call, at most MAX_REFUSALS. */
  takeRefusals(): readonly Refusal[] {
    return this.#refusals.splice(0);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #isOurs({ headers }: IncomingMessage): boolean {
    const expected = Buffer.from(`${PROXY_USER}:${this.password}`).toString("base64");
    return headers["proxy-authorization"] === `Basic ${expected}`;
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** Checked target of a connection. Undefined for a refused one, which the next result of a tool names. */
  async #target(address: string): Promise<Target | undefined> {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url !== undefined && isLoopback(url) && this.#ports.has(portOf(url))) {
      if (/localhost\.?$/i.test(url.hostname)) url.hostname = "localhost";
      return { url, lookup: undefined };
    }
    const checked = await checkUrl(url ?? address, this.#guard);
    if (!checked.ok) {
      const own = url !== undefined && isLoopback(url);
      this.#refuse({ host: url?.host ?? "", text: own ? `${url.host} ${THIS_MACHINE}` : checked.text });
      return undefined;
    }
    return { url: checked.url, lookup: pinned(checked.addresses) };
  }

  #refuse(refusal: Refusal): void {
    const isKnown = this.#refusals.some(({ text }) => text === refusal.text);
    // The browser reports unknown names itself, and looks for services of its vendor.
    if (!isKnown && /was refused/.test(refusal.text) && this.#refusals.length < MAX_REFUSALS)
      this.#refusals.push(refusal);
  }

  /** Forwards a request without TLS. The browser sends its whole URL. */
  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#isOurs(request)) return void response.writeHead(407, { "proxy-authenticate": AUTHENTICATE }).end();
    const fail = (): void => void response.destroy();
    try {
      const target = await this.#target(request.url ?? "");
      if (target === undefined) return void response.writeHead(403, { "content-type": "text/plain" }).end("refused");
      const { url, lookup } = target;
      const route = await connections().route(url, lookup);
      const headers = Object.entries(request.headers).filter(([name]) => !HOP_HEADERS.includes(name));
      const options: RequestOptions = {
        ...route.options,
        method: request.method ?? "GET",
        headers: { ...Object.fromEntries(headers), ...route.options.headers },
      };
      const sent = route.request(options);
      sent.once("error", fail);
      sent.once("response", (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.headersDistinct as never);
        answer.once("error", fail);
        answer.pipe(response);
      });
      response.once("close", () => sent.destroy());
      request.pipe(sent);
    } catch {
      fail(); // the browser shows the failed connection
    }
  }

  /** Connects the browser with a server, for TLS and WebSockets. `place`: host and port. */
  async #tunnel(place: string, socket: Duplex, head: Buffer): Promise<void> {
    try {
      const target = await this.#target(`https://${place}`);
      if (target === undefined) return void socket.end("HTTP/1.1 403 Refused\r\n\r\n");
      const server = await this.#connect(target);
      this.#keep(server);
      server.once("close", () => socket.destroy());
      socket.once("close", () => server.destroy());
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      server.write(head);
      server.pipe(socket).pipe(server);
    } catch {
      socket.end("HTTP/1.1 502 Unreachable\r\n\r\n");
    }
  }

  #connect({ url, lookup }: Target): Promise<Duplex> {
    const proxy = proxyFor(url, connections().settings);
    if (proxy !== undefined) return openTunnel(proxy, `${url.hostname}:${portOf(url)}`, {});
    return new Promise<Socket>((resolve, reject) => {
      const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
      const socket = connect({ host, port: Number(portOf(url)), ...(lookup && { lookup }) });
      socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error("timeout")));
      socket.once("error", reject);
      socket.once("connect", () => resolve(socket.setTimeout(0)));
    });
  }
}
