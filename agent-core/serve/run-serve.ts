/** `hermes serve`: the agent of this machine for clients on other machines, until a signal ends it. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { homeFolder } from "../config/home.ts";
import { nodeHost } from "../host/node-host.ts";
import { takeEnvironment } from "../host/terminals/command-environment.ts";
import { codeOf, messageOf } from "../platform/errors.ts";
import { SERVE_PATH } from "../protocol/remote.ts";
import { Roots } from "./roots.ts";
import { serverToken } from "./server-token.ts";
import { SessionHub, type SessionHubOptions } from "./session-hub.ts";
import { SocketServer, type SocketServerOptions } from "./socket-server.ts";

export type ServeOptions = Omit<SocketServerOptions, "token" | "isOwnName" | "log"> &
  Pick<SessionHubOptions, "graceMs" | "unloadMs"> & {
    readonly tokenFile: string | undefined;
    /** Empty: sessions may work in all folders. */
    readonly roots: readonly string[];
  };

/** Time for running turns after a signal. Milliseconds. */
const DRAIN_MS = 30_000;
/** A certificate that ends within this time is reported. */
const EXPIRING_MS = 14 * 24 * 3_600_000;
/** Exit codes of the command line. */
const FAILED = 1;
const TRY_AGAIN = 75;
/** Errors of an address that another program uses, or that this machine does not have yet. */
const BUSY = new Set(["EADDRINUSE", "EADDRNOTAVAIL"]);
const TOKEN_VARIABLE = "HERMES_SERVE_TOKEN";

/** Serves until SIGINT, SIGTERM or SIGHUP, which end the process. Returns the exit code of a failed start. */
export async function runServe(options: ServeOptions, version: string): Promise<number> {
  const { [TOKEN_VARIABLE]: variable, ...environment } = takeEnvironment();
  delete process.env[TOKEN_VARIABLE];
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  try {
    const token = await serverToken({ variable, file: options.tokenFile, home: homeFolder(environment) });
    const roots = new Roots(options.roots);
    const agent = { version, environment, local: nodeHost(), log };
    const hub = new SessionHub({ ...options, agent, roots, machine: hostname() });
    const isOwnName = await namesOf(options.tls?.cert, log);
    const server = new SocketServer(hub, { ...options, token: token.read, isOwnName, log });
    const stopped = signalled();
    const port = await server.listen();
    process.stdout.write(`HERMES_BACKEND_READY port=${port}\n${settingFor(options, port)}\nToken: ${token.place}\n`);
    await stopped;
    log("serve: no new prompts; running turns have 30 seconds");
    server.drain();
    await hub.drain(DRAIN_MS);
    await server.close();
    process.exit(0); // an open socket to a model must not keep the process alive
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (!BUSY.has(code)) log(`hermes serve: ${messageOf(error)}`);
    else log(`BACKEND_PORT_IN_USE port=${options.port}\nhermes serve: ${messageOf(error)}; choose another --listen`);
    return BUSY.has(code) ? TRY_AGAIN : FAILED;
  }
}

/** Check of a name against the certificate. Logs a certificate that ends soon. */
async function namesOf(path: string | undefined, log: (line: string) => void): Promise<(name: string) => boolean> {
  if (path === undefined) return () => false;
  const { X509Certificate } = await import("node:crypto");
  const certificate = new X509Certificate(readFileSync(path));
  if (certificate.validToDate.getTime() - Date.now() < EXPIRING_MS) {
    log(`serve: the certificate ${path} ends on ${certificate.validTo}; a renewed file is used within a minute`);
  }
  return (name) => certificate.checkHost(name) !== undefined;
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => resolve());
  });
}

/** Line for the settings of an editor. */
function settingFor({ host, tls, origins: [origin] }: ServeOptions, port: number): string {
  const name = host.includes(":") ? `[${host}]` : host;
  const own = `${tls === undefined ? "ws" : "wss"}://${name}:${port}`;
  const address = origin === undefined ? own : origin.replace(/^http/, "ws").replace(/\/$/, "");
  return `"hermes.agents": { ${JSON.stringify(hostname())}: { "url": "${address}${SERVE_PATH}" } }`;
}
