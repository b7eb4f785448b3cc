/** Real Redis and PostgreSQL servers on the loopback interface, each in a folder of its own. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { addDaemonsToPath } from "../../scripts/system-programs.ts";

export type QueueServer = {
  readonly url: string;
  /** Kills the server without a warning. */
  kill(): Promise<void>;
  /** Starts it again with the data that it had on the disk. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** `settings`: further arguments of redis-server. */
export function startRedis(...settings: readonly string[]): Promise<QueueServer> {
  const start = (port: number, folder: string) =>
    spawn(
      "redis-server",
      [
        "--port",
        String(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        folder,
        "--save",
        "",
        "--appendonly",
        "yes",
        ...settings,
      ],
      { stdio: "ignore" },
    );
  return startServer("redis", start, () => undefined);
}

/** PostgreSQL runs as another user than root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

export function startPostgres(): Promise<QueueServer> {
  const prepare = (folder: string): void => {
    if (NOBODY !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);
    const args = ["-D", join(folder, "data"), "-A", "trust", "-U", "hermes", "--no-sync", "-E", "UTF8"];
    execFileSync("initdb", args, { ...NOBODY, cwd: folder, stdio: "ignore" });
  };
  const start = (port: number, folder: string): ChildProcess => {
    const args = ["-D", join(folder, "data"), "-p", String(port), "-k", folder, "-c", "listen_addresses=127.0.0.1"];
    return spawn("postgres", args, { ...NOBODY, cwd: folder, stdio: "ignore" });
  };
  return startServer("postgres", start, prepare);
}

async function startServer(
  kind: "redis" | "postgres",
  start: (port: number, folder: string) => ChildProcess,
  prepare: (folder: string) => void,
): Promise<QueueServer> {
  addDaemonsToPath();
  const folder = mkdtempSync(join(tmpdir(), `hermes-${kind}-`));
  prepare(folder);
  const port = await freePort();
  let server = start(port, folder);
  await accepts(port, server);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill(signal);
    await once(server, "exit");
  };
  return {
    url: kind === "redis" ? `redis://127.0.0.1:${port}` : `postgres://hermes@127.0.0.1:${port}/postgres`,
    kill: () => end("SIGKILL"),
    async restart() {
      server = start(port, folder);
      await accepts(port, server);
    },
    async stop() {
      await end(kind === "redis" ? "SIGTERM" : "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

/** Waits until the server accepts connections. It says so nowhere else. */
async function accepts(port: number, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise((resolve) =>
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false)),
    );
    socket.destroy();
    if (isOpen === true) return;
    await delay(50);
  }
}
