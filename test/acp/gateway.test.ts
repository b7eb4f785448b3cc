import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/acp-client.ts";
import { say, startModelServer } from "../support/model-server/model-server.ts";
import { FakeDiscord } from "../support/platforms/discord.ts";
import { FakeSlack } from "../support/platforms/slack.ts";
import { FakeTelegram } from "../support/platforms/telegram.ts";
import { FakeWhatsApp } from "../support/platforms/whatsapp.ts";

test("The packaged gateway serves all platforms in one process, and ends on SIGTERM with its work done", async () => {
  const fakes = [new FakeTelegram(), new FakeDiscord(), new FakeSlack(), new FakeWhatsApp()];
  const platforms = await Promise.all(fakes.map((each) => each.start()));
  const model = await startModelServer();
  const home = temporaryFolder("hermes-gateway-home-");
  const workspace = temporaryFolder("hermes-gateway-work-");
  model.respondWith(() => say("**served**"));
  const sections = Object.fromEntries(
    platforms.map(({ name, section }) => [name, { allowed_users: ["7"], ...section }]),
  );
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ platforms: sections, gateway: { folder: workspace } }));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    HERMES_HOME: home,
    HERMES_LOCAL_SERVERS: "off",
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "test-model",
    HERMES_API_KEY: "sk-test-key-123456",
    ...Object.assign({}, ...platforms.map(({ variables }) => variables)),
  };
  const gateway = spawn("node", ["dist/cli.js", "gateway", "run"], { env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  gateway.stderr.on("data", (data) => {
    log += String(data);
  });
  onTestFinished(async () => {
    gateway.kill("SIGKILL");
    for (const platform of platforms) await platform.stop();
    await model.stop();
    for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true });
  });
  await expect.poll(() => log.match(/: connected/g)?.length ?? log).toBe(4);
  for (const platform of platforms) platform.write("a secret word");
  for (const platform of platforms) await platform.until("served");
  const exit = once(gateway, "exit");
  gateway.kill("SIGTERM");
  expect((await exit)[0]).toBe(0);
  expect(log).not.toMatch(/secret|xoxb|sk-test/);
});
