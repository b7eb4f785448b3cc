/**
 * Transport to a server that is a child process. Unlike the library's own, it gives the server a clean environment and a
 * process group, survives garbage on stdout, and ends the server's children too, even when this process is killed.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { killTree } from "../platform/children/process-tree.ts";
import { parseJson } from "../platform/json.ts";

/** Longest message of a server. A longer line without an end would fill the memory. Bytes. */
const MAX_MESSAGE_BYTES = 256 * 1024 ** 2;
/** Time for a server to end by itself after its stdin has closed, before the tree is killed. Milliseconds. */
const CLOSE_GRACE_MS = 100;
/** Kept end of the server's stderr, for the error of a failed start. Characters. */
const STDERR_CHARS = 2_000;
/** Variables of this process that a server gets. */
const INHERITED = ["PATH", "HOME", "LANG"];

export type StdioStart = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
};

type Server = ChildProcessByStdio<Writable, Readable, Readable>;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #start: StdioStart;
  #server: Server | undefined;
  #parts: Buffer[] = [];
  #bytes = 0;
  #stderr = "";

  constructor(start: StdioStart) {
    this.#start = start;
  }

  /** End of the server's stderr. */
  get stderr(): string {
    return this.#stderr.trim();
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#start;
    const server = spawn(command, [...args], {
      cwd,
      env: serverEnvironment(env),
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#server = server;
    const { pid } = server;
    if (pid !== undefined) groupGuard.add(pid);
    server.stdin.on("error", () => undefined); // the server closed its input: its exit ends the connection
    server.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS);
    });
    server.once("exit", () => void this.#end());
    return new Promise((resolve, reject) => {
      server.once("spawn", resolve);
      server.once("error", reject);
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const server = this.#server;
    if (!server?.stdin.writable) return Promise.reject(new Error("the server has ended"));
    return new Promise((resolve, reject) => {
      server.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Resolves when no process of the server is left. */
  close(): Promise<void> {
    return this.#end();
  }

  async #end(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    this.#parts = [];
    const { pid } = server;
    const ended = new Promise<void>((resolve) => {
      if (server.exitCode !== null || server.signalCode !== null || pid === undefined) resolve();
      else server.once("exit", () => resolve());
    });
    server.stdin.end();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      ended,
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_GRACE_MS);
      }),
    ]);
    clearTimeout(timer);
    this.onclose?.();
    if (pid !== undefined) {
      // Children of a launcher such as npx may outlive it, in its group.
      if (isGroupAlive(pid)) await killTree({ pid, marker: randomUUID() });
      groupGuard.remove(pid);
    }
    server.stdout.destroy();
    server.stderr.destroy();
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#parts.push(chunk.subarray(from, end));
      from = end + 1;
      const line = Buffer.concat(this.#parts).toString("utf8");
      this.#clear();
      this.#receive(line);
    }
    if (from === chunk.length) return;
    this.#parts.push(chunk.subarray(from));
    this.#bytes += chunk.length - from;
    if (this.#bytes <= MAX_MESSAGE_BYTES) return;
    this.#clear();
    this.onerror?.(new Error(`the server sent a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB`));
    void this.#end();
  }

  #clear(): void {
    this.#parts = [];
    this.#bytes = 0;
  }

  /** Servers log to stdout by mistake: a line that is no message is dropped. */
  #receive(line: string): void {
    const message = parseJson(line);
    if (isMessage(message)) this.onmessage?.(message);
    else if (line.trim() !== "") this.onerror?.(new Error(`not a message: ${line.slice(0, 200)}`));
  }
}

function isGroupAlive(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

/** The library checks a message's fields when it handles it. */
function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}

/** Whole environment of a server: its own settings, and no key of ours. */
export function serverEnvironment(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const inherited = INHERITED.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...env };
}

/** Reads `add GROUP` and `remove GROUP`, and ends the groups that are left once the agent has gone. */
const GUARD_SCRIPT = `trap '' HUP INT TERM
groups=' '
while read -r change group; do
  case $change in
    add) groups="$groups$group " ;;
    remove) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for signal in TERM KILL; do
  found=
  for group in $groups; do kill -s "$signal" -- "-$group" 2>/dev/null && found=1; done
  [ -z "$found" ] && exit
  sleep 1
done`;

/** Ends the servers of a killed agent. A small shell waits on a pipe that only the agent holds. */
class GroupGuard {
  #input: Writable | undefined;

  add(group: number): void {
    this.#input ??= startGuard();
    this.#input.write(`add ${group}\n`);
  }

  remove(group: number): void {
    this.#input?.write(`remove ${group}\n`);
  }
}

function startGuard(): Writable {
  const guard = spawn("sh", ["-c", GUARD_SCRIPT, "hermes-guard"], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.on("error", () => undefined); // servers still see the end of their stdin
  guard.stdin.on("error", () => undefined);
  guard.unref();
  if ("unref" in guard.stdin && typeof guard.stdin.unref === "function") guard.stdin.unref();
  return guard.stdin;
}

const groupGuard = new GroupGuard();
