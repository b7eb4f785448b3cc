/** Chats: time from a message to the model's request and to the answer, 32 chats at once, and memory with 10,000 known chats. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { FakeTelegram } from "../support/platforms/telegram.ts";
import { environmentOf, median, type Row } from "./measuring.ts";

const MESSAGES = 15;
const AT_ONCE = 32;
const KNOWN_CHATS = 10_000;
const MEGABYTE = 1_000_000;

export async function measureGateway(): Promise<readonly Row[]> {
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-gateway-"));
  const workspace = mkdtempSync(join(tmpdir(), "hermes-bench-chats-"));
  const telegram = await new FakeTelegram().start();
  const model = await startModelServer();
  model.respondWith(() => say("done"));
  const people = Array.from({ length: AT_ONCE + MESSAGES }, (_, at) => String(at + 7));
  const platforms = { telegram: { allowed_users: people, ...telegram.section } };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ platforms, gateway: { folder: workspace } }));
  writeChats(join(home, "gateway"));
  const gateway = await startGateway(home, model, telegram.variables);
  try {
    const idle = memoryOf(gateway.pid);
    const adapter = ownMemoryOf(childOf(gateway.pid));
    const first: number[] = [];
    const later: number[] = [];
    for (const user of people.slice(0, MESSAGES)) first.push(await toRequest(telegram, model, user));
    for (let at = 0; at < MESSAGES; at += 1) later.push(await toRequest(telegram, model, "7"));
    const began = performance.now();
    const before = telegram.shown.length;
    for (const user of people.slice(-AT_ONCE)) telegram.write("hello", { chat: user, user });
    for (let count = before + 1; count <= before + AT_ONCE; count += 1) await telegram.until(/done/, count - 1);
    const all = performance.now() - began;
    return [
      { what: "chat: first message to the model's request", ours: median(first), target: 120, unit: "ms" },
      { what: "chat: later message to the model's request", ours: median(later), target: 60, unit: "ms" },
      { what: `chat: ${AT_ONCE} chats at once, all answered`, ours: all, target: 6_000, unit: "ms" },
      { what: `gateway, idle with ${KNOWN_CHATS.toLocaleString("en")} chats`, ours: idle, target: 120, unit: "MB" },
      { what: "an adapter, idle, beyond the pages that it shares", ours: adapter, target: 60, unit: "MB" },
    ];
  } finally {
    const exit = once(gateway, "exit");
    gateway.kill("SIGTERM");
    await exit;
    await telegram.stop();
    await model.stop();
    for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true });
  }
}

async function startGateway(
  home: string,
  model: ModelServer,
  variables: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    HERMES_HOME: home,
    HERMES_LOCAL_SERVERS: "off",
    ...environmentOf(model),
    ...variables,
  };
  const child = spawn("node", [resolve("dist/cli.js"), "gateway", "run"], { env, stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  await new Promise<void>((done, fail) => {
    child.stderr.on("data", (data) => {
      text += String(data);
      if (text.includes("telegram: connected")) done();
    });
    child.once("exit", () => fail(new Error(text)));
  });
  return child;
}

/** Milliseconds. */
async function toRequest(telegram: FakeTelegram, model: ModelServer, user: string): Promise<number> {
  const request = model.nextRequest();
  const from = telegram.shown.length;
  const began = performance.now();
  telegram.write("hello", { chat: user, user });
  const { at } = await request;
  await telegram.until(/done/, from);
  return at - began;
}

function writeChats(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const lines = Array.from({ length: KNOWN_CHATS }, (_, at) => {
    const id = String(1_000_000 + at);
    const chat = {
      key: `telegram:${id}`,
      platform: "telegram",
      chat: id,
      isGroup: false,
      name: `Person ${at}`,
      user: id,
      earlier: [],
      at,
    };
    return `${JSON.stringify({ chat: { ...chat, sessionId: `20260101_000000_${at}` } })}\n`;
  });
  writeFileSync(join(folder, "journal.jsonl"), lines.join(""));
}

function childOf(pid: number | undefined): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]);
}

/** Resident memory in megabytes. */
function memoryOf(pid: number | undefined): number {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kilobytes) * 1_024) / MEGABYTE;
}

/** Memory that the process does not share, in megabytes: each further process costs this much. */
function ownMemoryOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const sizes = [...text.matchAll(/^Private_\w+:\s+(\d+)/gm)].map(([, size]) => Number(size));
  return (sizes.reduce((sum, size) => sum + size, 0) * 1_024) / MEGABYTE;
}
