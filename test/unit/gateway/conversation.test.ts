/** The same conversation on every platform, against a local server that speaks its API. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Answer } from "../../support/model-server/answer.ts";
import { call, callTools, hold, say } from "../../support/model-server/model-server.ts";
import { FakeDiscord } from "../../support/platforms/discord.ts";
import type { FakePlatform } from "../../support/platforms/platform.ts";
import { FakeSlack } from "../../support/platforms/slack.ts";
import { startGateway, type TestGateway } from "../../support/platforms/start-gateway.ts";
import { FakeTelegram } from "../../support/platforms/telegram.ts";
import { FakeWhatsApp } from "../../support/platforms/whatsapp.ts";
import { sweep } from "../../support/scale.ts";

const platforms: Readonly<Record<string, () => FakePlatform>> = {
  Telegram: () => new FakeTelegram(),
  Discord: () => new FakeDiscord(),
  Slack: () => new FakeSlack(),
  WhatsApp: () => new FakeWhatsApp(),
};

/** Rounds of the six steps. */
const ROUNDS = sweep(9, 1);
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

class Talk {
  readonly platform: FakePlatform;
  readonly #gateway: TestGateway;
  steps = 0;

  constructor(platform: FakePlatform, gateway: TestGateway) {
    this.platform = platform;
    this.#gateway = gateway;
  }

  /** Writes, with the model's answers, and waits for the last one. */
  async step(
    text: string,
    answers: readonly Answer[],
    expected: string | RegExp,
    meanwhile?: (from: number) => Promise<void>,
  ) {
    const from = this.platform.shown.length;
    this.steps += 1;
    this.#gateway.model.script(...answers);
    this.platform.write(text);
    await meanwhile?.(from);
    return this.platform.until(expected, from);
  }

  /** Text of the last message to the model. */
  get asked(): string {
    return JSON.stringify(this.#gateway.model.requests.at(-1)?.body.messages.at(-1));
  }
}

describe.each(Object.entries(platforms))("A conversation on %s", (_, make) => {
  test("with approvals, questions, pictures, files and a restart keeps its order and loses nothing", async () => {
    const platform = await make().start();
    const gateway = await startGateway(platform);
    const { workspace, model } = gateway;
    const talk = new Talk(platform, gateway);
    writeFileSync(join(workspace, ".env"), "KEY=1");
    writeFileSync(join(workspace, "report.txt"), "report");
    for (let round = 0; round < ROUNDS; round += 1) {
      await talk.step(`hello ${round}`, [say(`Hello **${round}**, a < b & c.`)], `Hello ${round}, a < b & c.`);
      await talk.step(
        "read the key",
        [callTools(call("read_file", { path: ".env" })), say(`read ${round}`)],
        `read ${round}`,
        async (from) => {
          const question = await platform.until(/keys or passwords|Your answer/, from);
          const shown = question.buttons.length > 0 ? question : await platform.until(/Your answer/, from);
          platform.press(shown, "Allow Once");
        },
      );
      expect(talk.asked).toContain("KEY=1");
      const ask = callTools(call("clarify", { question: "Which one?", choices: ["red", "blue"] }));
      await talk.step("which", [ask, say(`took ${round}`)], `took ${round}`, async (from) => {
        platform.press(await platform.until(/Which one/, from), "blue");
      });
      expect(talk.asked).toContain("blue");
      await talk.step("file", [say(`MEDIA:${workspace}/report.txt`)], /^report\.txt$/);
      const from = platform.shown.length;
      model.script(say(`saw ${round}`));
      platform.write("look", { file: { name: "x.png", type: "image/png", bytes: PNG, kind: "image" } });
      talk.steps += 1;
      await platform.until(`saw ${round}`, from);
      expect(talk.asked).toContain("data:image/png;base64,");
      await talk.step("/whoami", [], /Your id is `?7`?/);
      if (round === Math.floor(ROUNDS / 2)) await restartAmidst(platform, gateway);
    }
    expect(talk.steps).toBe(ROUNDS * 6);
    expect(new Set(platform.texts().filter((text) => text.startsWith("(perhaps")))).toEqual(new Set());
  }, 400_000);

  test("serves groups that name it, and nobody else", async () => {
    const platform = await make().start();
    const { model } = await startGateway(platform);
    model.respondWith(() => say("for the owner"));
    platform.write("hello", { user: "8", chat: platform.name === "slack" ? "D8" : "8" });
    const isDirectOnly = platform.name === "whatsapp";
    if (!isDirectOnly) {
      const chat = { slack: "C9", telegram: "-100" }[platform.name] ?? "900";
      platform.write("no mention", { chat, isGroup: true });
      platform.write("@hermes_bot let me in", { chat, isGroup: true, user: "8" });
      platform.write("@hermes_bot hello", { chat, isGroup: true });
    } else platform.write("hello");
    await platform.until("for the owner");
    expect(platform.texts()).toEqual(["for the owner"]);
    expect(model.requests).toHaveLength(1);
  });
});

async function restartAmidst(platform: FakePlatform, { model, restart }: TestGateway): Promise<void> {
  const from = platform.shown.length;
  const pause = hold();
  model.script(
    { parts: [{ type: "text", text: "begun" }, pause.part] },
    say("finished after the restart"),
    say("and the next"),
  );
  platform.write("long work");
  await pause.reached;
  await restart();
  pause.release();
  await platform.until("finished after the restart", from);
  platform.write("next");
  await platform.until("and the next", from);
}
