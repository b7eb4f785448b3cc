import { expect, test } from "vitest";
import { contextParts } from "../../../agent-core/agent/context-parts.ts";
import type { Message } from "../../../agent-core/messages/message.ts";
import { systemPrompt } from "../../../agent-core/prompt/system-prompt.ts";
import type { ModelPrice } from "../../../agent-core/providers/model-info.ts";
import type { ResolvedModel } from "../../../agent-core/providers/resolve-model.ts";
import { UsageLedger } from "../../../agent-core/sessions/usage-ledger.ts";

const filler = (tokens: number): string => "x".repeat(tokens * 4);
const prompt = (texts: { memory?: string; skills?: string; instructions?: string } = {}): string =>
  systemPrompt({
    soul: filler(100),
    tools: [],
    systemMessage: undefined,
    memory: { memory: texts.memory, project: undefined, user: undefined },
    extensionTexts: texts.skills === undefined ? [] : [texts.skills],
    projectContext: texts.instructions,
    cwd: "/project",
    otherFolders: [],
    platform: undefined,
    operatingSystem: "Linux",
    surroundings: filler(50),
    date: "2026-11-20",
  });

/** Tokens by part; Their sum is always the figure of the meter. */
const measured = (texts: { systemPrompt?: string; schemas?: string; messages?: readonly Message[] }, used: number) => {
  const parts = contextParts({ systemPrompt: "", schemas: "", messages: [], ...texts }, used);
  expect(parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(used);
  return Object.fromEntries(parts.filter(({ tokens }) => tokens > 0).map(({ part, tokens }) => [part, tokens]));
};

test("the layers of the system prompt are counted apart", () => {
  const plain = prompt();
  const full = prompt({
    memory: `MEMORY (your notes from earlier sessions) [5%]\n${filler(400)}\n\n${filler(400)}`,
    skills: `Skills (before work that one describes, read it with skill_view; the user may name one as /name):\n${filler(600)}`,
    instructions: `The project's own instructions. The user's messages take precedence over them.\n\n${filler(1_000)}`,
  });
  const used = Math.round(full.length / 4);
  const { memory = 0, skills = 0, instructions = 0, "system-prompt": own = 0 } = measured({ systemPrompt: full }, used);
  expect(memory).toBeGreaterThanOrEqual(800);
  expect(memory).toBeLessThan(820);
  expect(skills).toBeGreaterThanOrEqual(600);
  expect(skills).toBeLessThan(640);
  expect(instructions).toBeGreaterThanOrEqual(1_000);
  expect(instructions).toBeLessThan(1_030);
  expect(Math.abs(own - plain.length / 4)).toBeLessThan(5);
});

test("tools, messages, results, texts of hooks and pictures are estimated, and scaled to the meter's figure", () => {
  const messages: readonly Message[] = [
    { role: "user", content: filler(296), synthetic: true },
    {
      role: "user",
      content: [
        { type: "text", text: filler(96) },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
      ],
    },
    { role: "assistant", content: filler(196) },
    { role: "tool", tool_call_id: "b", content: `${filler(96)}\n\n[From a hook after this call: ${filler(92)}` },
    { role: "tool", tool_call_id: "c", content: filler(296), images: [{ mimeType: "image/png", data: "AA" }] },
  ];
  const texts = { schemas: filler(1_000), messages };
  const expected = { tools: 1_000, notes: 300, user: 100, answers: 200, results: 400, hooks: 100, pictures: 2_000 };
  expect(measured(texts, 4_100)).toEqual(expected);
  expect(measured(texts, 8_200)).toEqual(
    Object.fromEntries(Object.entries(expected).map(([part, tokens]) => [part, tokens * 2])),
  );
  expect(measured({}, 0)).toEqual({});
});

test("usage is kept by model, with earlier turns, and a model without a price does not hide the other's cost", () => {
  const usage = { inputTokens: 10, cachedInputTokens: 4, outputTokens: 2, reasoningTokens: 1 };
  const price: ModelPrice = { input: 1e6, cachedInput: 0, output: 0 };
  const ledger = new UsageLedger([{ type: "usage", model: "openai:known", ...usage, costUsd: 1, at: 0 }], {
    priceOf: ({ model }) => (model === "known" ? price : undefined),
    journal: () => undefined,
  });
  const model = (name: string) => ({ endpoint: { provider: "openai" }, model: name }) as unknown as ResolvedModel;
  ledger.add(usage, model("known"));
  ledger.add(usage, model("other"));
  expect(ledger.models).toEqual([
    { model: "openai:known", inputTokens: 20, cachedInputTokens: 8, outputTokens: 4, costUsd: 7 },
    { model: "openai:other", inputTokens: 10, cachedInputTokens: 4, outputTokens: 2 },
  ]);
  expect(ledger.sum).toMatchObject({ inputTokens: 30, costUsd: undefined });
});
