import { expect, test } from "vitest";
import { parseListing } from "../../../../agent-core/providers/catalogue/listing.ts";

test("OpenRouter reports context, output, images, reasoning and prices", () => {
  const answer = {
    data: [
      {
        id: "anthropic/claude-sonnet-4.5",
        name: "Anthropic: Claude Sonnet 4.5",
        context_length: 1_000_000,
        architecture: { input_modalities: ["text", "image"] },
        pricing: { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" },
        top_provider: { max_completion_tokens: 64_000 },
        supported_parameters: ["tools", "reasoning"],
      },
    ],
  };
  expect(parseListing(answer)).toEqual([
    {
      id: "anthropic/claude-sonnet-4.5",
      name: "Anthropic: Claude Sonnet 4.5",
      facts: {
        contextWindow: 1_000_000,
        maxOutputTokens: 64_000,
        images: true,
        reasoning: true,
        price: { input: 3, output: 15, cachedInput: 0.3 },
      },
    },
  ]);
});

test.each([
  ["vLLM", { id: "m", max_model_len: 32_768 }],
  ["llama.cpp", { id: "m", meta: { n_ctx: 32_768, n_ctx_train: 131_072 } }],
  ["LM Studio", { id: "m", max_context_length: 131_072, loaded_context_length: 32_768 }],
])("%s tells the context that it really gives", (_server, model) => {
  expect(parseListing({ data: [model] })).toEqual([{ id: "m", facts: { contextWindow: 32_768 } }]);
});

test("models that cannot chat are left out", () => {
  const ids = [
    "gpt-4.1",
    "text-embedding-3-small",
    "whisper-1",
    "tts-1",
    "dall-e-3",
    "gpt-4o-realtime-preview",
    "gpt-4o-audio-preview",
    "gpt-image-1",
    "omni-moderation-latest",
    "nomic-embed-text:latest",
    "imagine-chat",
  ];
  expect(parseListing({ data: ids.map((id) => ({ id })) })).toEqual([{ id: "gpt-4.1" }, { id: "imagine-chat" }]);
});

test("entries that cannot be read cost only themselves, and none comes twice", () => {
  const data = [
    { id: "a" },
    { name: "no id" },
    null,
    "b",
    { id: "a" },
    { id: "c", context_length: "large", pricing: 7 },
  ];
  expect(parseListing({ data })).toEqual([{ id: "a" }, { id: "c" }]);
});

test.each([undefined, null, "<html>", [], { models: [] }, { data: {} }])("%j is no list", (answer) => {
  expect(parseListing(answer)).toBeUndefined();
});
