import { expect, test } from "vitest";
import { hold, say } from "../../support/model-server/model-server.ts";
import { FakeDiscord } from "../../support/platforms/discord.ts";
import { FakeSlack } from "../../support/platforms/slack.ts";
import { startGateway } from "../../support/platforms/start-gateway.ts";
import { FakeTelegram } from "../../support/platforms/telegram.ts";
import { FakeWhatsApp } from "../../support/platforms/whatsapp.ts";

test("Discord's socket resumes after a cut and after missed heartbeats, and no message is lost or answered twice", async () => {
  const discord = await new FakeDiscord().start();
  discord.beatMs = 150;
  const { model } = await startGateway(discord);
  model.respondWith(({ messages }) => say(`answer ${messages.filter(({ role }) => role === "user").length}`));
  discord.write("one");
  await discord.until("answer 1");
  discord.cut();
  discord.write("two");
  await discord.until("answer 2");
  discord.isDeaf = true;
  await expect.poll(() => discord.opcodes.filter((op) => op === 6).length).toBeGreaterThan(1);
  discord.isDeaf = false;
  discord.write("three");
  await discord.until("answer 3");
  expect(discord.texts()).toEqual(["answer 1", "answer 2", "answer 3"]);
  expect(discord.opcodes.filter((op) => op === 2)).toHaveLength(1);
});

test("Discord drops a repeat by its nonce, and waits at a 429", async () => {
  const discord = await new FakeDiscord().start();
  const { model } = await startGateway(discord);
  const body = { message: "You are being rate limited.", retry_after: 0.3, global: false };
  const headers = { "retry-after": "0.3", "x-ratelimit-scope": "user" };
  discord.fail(/POST .*\/messages/, { status: 429, body, headers }, "drop");
  model.script(say("once"));
  discord.write("hi");
  await discord.until(/once/);
  await expect.poll(() => discord.calls.filter((name) => /POST .*\/messages/.test(name)).length).toBeGreaterThan(2);
  expect(discord.texts()).toEqual([expect.stringMatching(/once$/)]);
});

test("Slack sends an envelope again until it is acknowledged, and it is answered once", async () => {
  const slack = await new FakeSlack().start();
  const { model } = await startGateway(slack);
  model.respondWith(({ messages }) => say(`answer ${messages.filter(({ role }) => role === "user").length}`));
  slack.write("one", { event: 11 });
  slack.write("one", { event: 11 });
  await slack.until("answer 1");
  slack.cut();
  slack.write("two");
  await slack.until("answer 2");
  expect(slack.texts()).toEqual(["answer 1", "answer 2"]);
});

test.each([
  ["Discord", () => new FakeDiscord()],
  ["Slack", () => new FakeSlack()],
])("A message of %s that is edited and deleted later is answered once", async (_name, platform) => {
  const server = platform();
  await server.start();
  const { model } = await startGateway(server);
  model.respondWith(({ messages }) => say(`answer ${messages.filter(({ role }) => role === "user").length}`));
  server.write("one", { event: 11 });
  await server.until("answer 1");
  server.editAndDelete("11", "one, edited");
  server.write("two");
  await server.until("answer 2");
  expect(server.texts()).toEqual(["answer 1", "answer 2"]);
  expect(model.requests).toHaveLength(2);
});

test("A thread of a Slack channel is a session, answered in the thread", async () => {
  const slack = await new FakeSlack().start();
  const { model } = await startGateway(slack);
  model.respondWith(() => say("in the thread"));
  slack.write("@hermes_bot hello", { chat: "C9", isGroup: true });
  const { chat } = await slack.until("in the thread");
  expect(chat).toMatch(/^C9:\d+\.\d+$/);
  expect(model.requests).toHaveLength(1);
});

test("A forged webhook of WhatsApp, and one of another number, is refused or ignored", async () => {
  const whatsapp = await new FakeWhatsApp().start();
  const { model } = await startGateway(whatsapp);
  model.respondWith(() => say("hello"));
  const message = {
    from: "7",
    id: "x",
    timestamp: String(Math.floor(Date.now() / 1_000)),
    type: "text",
    text: { body: "hi" },
  };
  const forged = whatsapp.signed(message, "7", "Ada", "another-secret");
  expect((await fetch(whatsapp.webhook, forged)).status).toBe(403);
  expect((await fetch(whatsapp.webhook, { method: "POST", body: "{}" })).status).toBe(403);
  expect((await fetch(`${whatsapp.webhook}?hub.verify_token=no&hub.challenge=1`)).status).toBe(403);
  const confirmed = await fetch(`${whatsapp.webhook}?hub.mode=subscribe&hub.verify_token=verify-me&hub.challenge=42`);
  expect(await confirmed.text()).toBe("42");
  whatsapp.write("true one");
  await whatsapp.until("hello");
  expect(model.requests).toHaveLength(1);
});

/** An answer in two parts with a pause between them, and its end. */
function inTwoParts() {
  const pause = hold();
  const parts = [
    { type: "text", text: "First **half**" } as const,
    pause.part,
    { type: "text", text: ", rest." } as const,
  ];
  return { pause, answer: { parts } };
}

test("A direct chat of Telegram shows a growing answer as a draft, and the whole one comes as one message", async () => {
  const telegram = await new FakeTelegram().start();
  telegram.hasDrafts = true;
  const { model } = await startGateway(telegram);
  const { pause, answer } = inTwoParts();
  model.script(answer);
  telegram.write("tell");
  await expect.poll(() => telegram.drafts.at(-1)?.text).toBe("First half");
  pause.release();
  await telegram.until("First half, rest.");
  expect(telegram.texts()).toEqual(["First half, rest."]);
  expect(new Set(telegram.drafts.map(({ id }) => id)).size).toBe(1);
  expect(telegram.calls).not.toContain("editMessageText");
});

test("A group of Telegram has no drafts, so the answer grows by edits", async () => {
  const telegram = await new FakeTelegram().start();
  telegram.hasDrafts = true;
  const { model } = await startGateway(telegram);
  const { pause, answer } = inTwoParts();
  model.script(answer);
  telegram.write("@hermes_bot tell", { chat: "-100", isGroup: true });
  await telegram.until("First half ▌");
  pause.release();
  await telegram.until("First half, rest.");
  expect(telegram.texts()).toEqual(["First half, rest."]);
});

test("A thread of Slack shows a growing answer as a stream for its asker, which the whole answer ends", async () => {
  const slack = await new FakeSlack().start();
  const { model } = await startGateway(slack);
  const { pause, answer } = inTwoParts();
  model.script(answer);
  slack.write("@hermes_bot tell", { chat: "C9", isGroup: true });
  await slack.until("First half");
  pause.release();
  await slack.until("First half, rest.");
  expect(slack.texts()).toEqual(["First half, rest."]);
  const used = slack.calls.filter((name) => /Stream|chat\./.test(name));
  expect(used[0]).toBe("chat.startStream");
  expect(used.slice(-2)).toEqual(["chat.stopStream", "chat.update"]);
  expect(used).not.toContain("chat.postMessage");
});
