/** Connections to HTTPS servers through a proxy: a CONNECT request opens a tunnel, and TLS runs within it. */
import * as https from "node:https";
import type { Duplex } from "node:stream";
import {
  CONNECT_TIMEOUT_MS,
  connectTimeoutError,
  type ProxyServer,
  placeOf,
  proxyName,
  proxyRefusal,
  proxyUnreachable,
} from "./network-settings.ts";

/** As in connections.ts. */
const http = process.getBuiltinModule("node:http");

const OK = 200;

/** Pool of the connections through one proxy. `options` hold the certificates for the servers and for the proxy. */
export class TunnelAgent extends https.Agent {
  readonly #proxy: ProxyServer;

  constructor(proxy: ProxyServer, options: https.AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(
    options: https.RequestOptions,
    callback: (error: Error | null, stream?: Duplex) => void,
  ): undefined {
    openTunnel(this.#proxy, `${options.host}:${options.port}`, this.options).then((socket) => {
      callback(null, super.createConnection({ ...options, socket } as https.RequestOptions) ?? undefined);
    }, callback);
    return undefined;
  }
}

/** Raw connection through the proxy. `target` is host and port; an IPv6 host is in brackets. */
export function openTunnel(proxy: ProxyServer, target: string, tls: https.AgentOptions): Promise<Duplex> {
  const { url, authorization } = proxy;
  const { ca, rejectUnauthorized } = tls;
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const connect = request({
      method: "CONNECT",
      ...placeOf(url),
      path: target,
      headers: { host: target, ...(authorization !== undefined && { "proxy-authorization": authorization }) },
      agent: false,
      timeout: CONNECT_TIMEOUT_MS,
      ...(ca !== undefined && { ca }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    });
    connect.once("timeout", () => connect.destroy(connectTimeoutError(proxyName(proxy))));
    connect.once("error", (error) => reject(proxyUnreachable(proxy, error)));
    connect.once("connect", ({ statusCode = 0, statusMessage = "" }, socket) => {
      socket.setTimeout(0);
      if (statusCode === OK) return resolve(socket);
      socket.destroy();
      reject(proxyRefusal(proxy, statusCode, statusMessage));
    });
    connect.end();
  });
}
