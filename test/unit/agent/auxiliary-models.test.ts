import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AIAgent, type AIAgentOptions } from "../../../agent-core/index.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";
import type { Answer } from "../../support/model-server/answer.ts";
import { fail, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let main: ModelServer;
let small: ModelServer;
beforeEach(async () => {
  main = await startModelServer();
  small = await startModelServer();
});
afterEach(async () => {
  await main.stop();
  await small.stop();
});

/** Runs one turn; gives the title that the session gets. */
async function titleAfter(userMessage: string, options: Partial<AIAgentOptions> = {}): Promise<string> {
  const titled = Promise.withResolvers<string>();
  const cwd = mkdtempSync(join(tmpdir(), "hermes-title-"));
  const agent = new AIAgent({
    baseUrl: main.baseUrl,
    model: "main",
    cwd,
    home: cwd,
    environment: {},
    clock: { ...systemClock, wait: async () => undefined, random: () => 0 },
    callbacks: { title: ({ title }) => titled.resolve(title) },
    ...options,
  });
  main.script(say("ok"));
  await agent.runConversation({ userMessage });
  const title = await titled.promise;
  await agent.close();
  return title;
}

const own = (chain: readonly string[]): Partial<AIAgentOptions> => ({
  auxiliary: { title_generation: { chain: chain.map((model) => ({ model, baseUrl: small.baseUrl })) } },
});

test("without a title model the first words become the title, without a request", async () => {
  expect(await titleAfter("Fix the\n  login test")).toBe("Fix the login test");
  expect(await titleAfter(`Please ${"look at everything ".repeat(10)}`)).toMatch(/^Please look at .{20,45} \w+…$/);
  expect(await titleAfter("Hello!\n\nFix the login test")).toBe("Hello! Fix the login test");
  expect(await titleAfter("Fix the login test\n\nIt is in login.test.ts.")).toBe("Fix the login test");
  expect(main.requests).toHaveLength(4);
});

test("a dedicated model makes the title; the conversation's model gets no request", async () => {
  small.script(say('"Login test fixed."'));
  expect(await titleAfter("fix it", own(["small"]))).toBe("Login test fixed");
  expect(small.requests.map(({ body }) => body["model"])).toEqual(["small"]);
  expect(main.requests).toHaveLength(1);
});

test("the conversation's model replaces the first words by its title after the answer, and no title of the user", async () => {
  const titles: string[] = [];
  const agent = new AIAgent({
    ...{ model: "m", baseUrl: main.baseUrl, environment: {}, titlesByModel: true },
    callbacks: { title: ({ title }) => titles.push(title) },
  });
  main.script(say("ok"), say('"Mean of an empty list"'));
  await agent.runConversation({ userMessage: "look at mean.js, it divides by two" });
  await expect.poll(() => titles).toEqual(["look at mean.js, it divides by two", "Mean of an empty list"]);
  agent.session.setTitle("Mine");
  main.script(say("ok"));
  await agent.runConversation({ userMessage: "thanks" });
  expect([agent.session.title, main.requests.length]).toEqual(["Mine", 3]);
  await agent.close();
});

test("a task has its own fallbacks; a title exists even when all of them fail", async () => {
  small.script(fail(404, "model not found"), say("Second"));
  expect(await titleAfter("fix it", own(["first", "second"]))).toBe("Second");
  small.script(fail(402, "pay"), fail(402, "pay"));
  expect(await titleAfter("fix it", own(["first", "second"]))).toBe("fix it");
});

test("a task ends after its timeout", async () => {
  small.script({ silent: true });
  const { auxiliary } = own(["small"]);
  const slow = { title_generation: { chain: auxiliary?.title_generation?.chain ?? [], timeoutMs: 50 } };
  expect(await titleAfter("fix it", { auxiliary: slow })).toBe("fix it");
});

test("a task's usage counts for the session, at the price of its model", async () => {
  const titled = Promise.withResolvers<string>();
  const cwd = mkdtempSync(join(tmpdir(), "hermes-title-"));
  const prices = { main: 1, small: 100 };
  const price = (dollars = 0) => ({ input: dollars, output: dollars, cachedInput: dollars });
  const agent = new AIAgent({
    baseUrl: main.baseUrl,
    model: "main",
    cwd,
    home: cwd,
    environment: {},
    modelFacts: ({ model }) => ({ price: price(prices[model as keyof typeof prices]) }),
    callbacks: { title: ({ title }) => titled.resolve(title) },
    ...own(["small"]),
  });
  main.script({ ...say("ok"), usage: { input: 1_000_000, output: 0 } } as Answer);
  small.script({ ...say("A title"), usage: { input: 500_000, output: 10 } } as Answer);
  await agent.runConversation({ userMessage: "go" });
  await titled.promise;
  expect(agent.setup.ledger.sum).toMatchObject({ inputTokens: 1_500_000, outputTokens: 10 });
  expect(agent.setup.ledger.sum.costUsd).toBeCloseTo(1 + 50.001);
  await agent.close();
});

test("a fallback of a task does not change the conversation's model", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-title-"));
  const agent = new AIAgent({
    baseUrl: main.baseUrl,
    model: "main",
    cwd,
    home: cwd,
    environment: {},
    title: "named",
    fallbacks: [{ model: "small", baseUrl: small.baseUrl }],
  });
  for (const question of ["one", "two", "three"]) {
    main.script(say("long words ".repeat(200)));
    await agent.chat(question);
  }
  main.script(fail(400, "this cannot be summed up"));
  small.script(say("The sum."));
  await agent.compress(undefined, AbortSignal.timeout(20_000));
  expect(agent.session.conversation.compression?.summary).toBe("The sum.");
  main.script(say("still here"));
  expect(await agent.chat("four")).toBe("still here");
  await agent.close();
});
