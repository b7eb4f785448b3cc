import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/acp-client.ts";
import { say, startModelServer } from "../../support/model-server/model-server.ts";
import { FakeTelegram } from "../../support/platforms/telegram.ts";
import { rounds, seedOf } from "../../support/scale.ts";

/** Random numbers in [0, 1), the same for each seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

async function setUp() {
  const telegram = await new FakeTelegram().start();
  const model = await startModelServer();
  const home = temporaryFolder("hermes-killed-home-");
  const workspace = temporaryFolder("hermes-killed-work-");
  const limits = { perChatMs: 50, perSecond: 1_000 };
  const platforms = { telegram: { allowed_users: ["7"], limits, ...telegram.section } };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ platforms, gateway: { folder: workspace } }));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    HERMES_HOME: home,
    HERMES_LOCAL_SERVERS: "off",
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "test-model",
    HERMES_API_KEY: "sk-test-key-123456",
    ...telegram.variables,
  };
  let child: ChildProcess | undefined;
  const start = async (): Promise<ChildProcess> => {
    const started = spawn(process.execPath, ["test/support/platforms/gateway-process.ts"], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    child = started;
    await new Promise<void>((resolve, reject) => {
      let text = "";
      started.stderr.on("data", (data) => {
        text += String(data);
        if (text.includes("telegram: connected")) resolve();
      });
      started.once("exit", (code) => reject(new Error(`ended with ${code}: ${text}`)));
    });
    return started;
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ended = child;
    child = undefined;
    if (ended === undefined || ended.exitCode !== null) return ended?.exitCode ?? null;
    const exit = once(ended, "exit");
    ended.kill(signal);
    return (await exit)[0];
  };
  onTestFinished(async () => {
    await end("SIGKILL");
    await telegram.stop();
    await model.stop();
    for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true });
  });
  return { telegram, model, env, start, end };
}

test("A gateway that is killed at random moments loses no message, and sends none twice unmarked", async () => {
  const { telegram, model, start, end } = await setUp();
  // The answer names every message that the prompt has.
  model.respondWith(({ messages }) => {
    const last = String(messages.findLast(({ role }) => role === "user")?.["content"]);
    return say(`got ${[...new Set(last.match(/\bm\d+\b/g))].join(" ")} end`);
  });
  const next = random(seedOf(7));
  const kills = rounds(100, 2);
  const total = kills * 2;
  for (let round = 0; round < kills; round += 1) {
    await start();
    telegram.write(`m${round * 2}`);
    telegram.write(`m${round * 2 + 1}`);
    await delay(next() * 1_200);
    await end("SIGKILL");
  }
  await start();
  telegram.untilMs = 30_000 + total * 1_000;
  telegram.write("m-last m9999");
  await telegram.until(/got .*m9999.* end$/);
  expect(await end("SIGTERM")).toBe(0);
  const finals = telegram.texts().filter((text) => / end$/.test(text));
  const unmarked = finals.filter((text) => !text.startsWith("(perhaps a repeat)"));
  const givenUp = telegram.texts().filter((text) => text.includes("was given up"));
  const missing: number[] = [];
  for (let at = 0; at < total; at += 1) {
    const named = new RegExp(`\\bm${at}\\b`);
    if (![...finals, ...givenUp].some((text) => named.test(text))) missing.push(at);
  }
  expect(missing).toEqual([]);
  // A message whose answer its journal lost may be named again with the next one; no text is sent twice.
  expect(new Set(unmarked).size).toBe(unmarked.length);
}, 900_000);

test("A second gateway with the same token ends at once and names the first one", async () => {
  const { env, start, end } = await setUp();
  await start();
  const second = spawn(process.execPath, ["test/support/platforms/gateway-process.ts"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  second.stderr.on("data", (data) => {
    text += String(data);
  });
  const [code] = await once(second, "exit");
  expect([code, text]).toEqual([75, expect.stringContaining("serves this token already")]);
  expect(await end("SIGTERM")).toBe(0);
});
