/**
 * The extension host: time of the activation, and the longest time for which the extension blocks it while an answer
 * streams. The extension, its worker and the agent are the packaged ones; `vscode` and the panel only take what they get.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { writeLongJournal } from "./long-journal.ts";
import { median, type Row } from "./measuring.ts";

const ROUNDS = 5;
const TOKENS_A_SECOND = 200;
const SECONDS = 5;
/** Stored sessions of the home. */
const SESSIONS = 500;

/** Times on the processor of the host's thread, which hardly depend on the load of the machine. Milliseconds. */
type HostFigures = {
  readonly activation: number;
  readonly first: number;
  readonly longest: number;
  readonly agents: { readonly ms: number };
};

export async function measureExtensionHost(): Promise<readonly Row[]> {
  const model = await startStream();
  const root = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const figures: HostFigures[] = [];
    for (let round = 0; round < ROUNDS; round += 1) figures.push(await run(join(root, `${round}`), portOf(model)));
    return [
      {
        what: "extension: load of the bundle and activation",
        ours: median(figures.map(({ activation }) => activation)),
        target: 50,
        unit: "ms",
      },
      {
        what: `extension host: longest block at ${TOKENS_A_SECOND} tokens/s`,
        ours: median(figures.map(({ longest }) => longest)),
        target: 5,
        unit: "ms",
      },
      {
        what: "extension host: block of the first update",
        ours: median(figures.map(({ first }) => first)),
        target: 5,
        unit: "ms",
      },
      {
        what: `tree of agents: ${SESSIONS} sessions, the extension's own time`,
        ours: median(figures.map(({ agents }) => agents.ms)),
        target: 50,
        unit: "ms",
      },
    ];
  } finally {
    model.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** One extension host, in a process of its own. */
async function run(root: string, port: number): Promise<HostFigures> {
  const [home, workspace] = [join(root, "home"), join(root, "workspace")];
  for (const folder of [home, workspace]) mkdirSync(folder, { recursive: true });
  const section = { provider: "custom", base_url: `http://127.0.0.1:${port}/v1`, api_key: "sk-1", default: "m" };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ model: section }));
  const sessions = join(home, "vscode", "sessions");
  mkdirSync(sessions, { recursive: true });
  for (let index = 0; index < SESSIONS; index += 1) {
    const id = `20261120_120000_${index.toString(16).padStart(8, "0")}`;
    writeLongJournal(join(sessions, `${id}.jsonl`), id, { messages: 6, lines: 10 });
  }
  const env = { ...process.env, HERMES_LOCAL_SERVERS: "off" };
  const script = join(import.meta.dirname, "extension-host-process.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, root, String(SESSIONS)], { env });
  return JSON.parse(stdout);
}

/** A model whose answers arrive at a steady pace, one token an event. */
async function startStream(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => void answer(response));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return server;
}

async function answer(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null = null): void =>
    void response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  const begin = performance.now();
  for (let token = 0; token < TOKENS_A_SECOND * SECONDS; token += 1) {
    send({ content: token % 40 === 39 ? " line\n\n" : " word" });
    const early = begin + (token * 1_000) / TOKENS_A_SECOND - performance.now();
    if (early > 1) await delay(early);
  }
  send({}, "stop");
  response.end("data: [DONE]\n\n");
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port; // it listens on TCP
}
