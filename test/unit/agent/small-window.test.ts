import { expect, test } from "vitest";
import { AIAgent } from "../../../agent-core/index.ts";
import { startModelAgent } from "../../support/model-agent.ts";
import { fail } from "../../support/model-server/model-server.ts";

test.each([
  [
    "LM Studio",
    400,
    "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
  ],
  ["llama.cpp", 400, "request (2314 tokens) exceeds the available context size (2048 tokens), try increasing it"],
  ["Ollama", 500, "context size exceeded: the prompt is too long"],
  [
    "vLLM",
    400,
    "This model's maximum context length is 2048 tokens. However, you requested 2314 tokens in the messages.",
  ],
  ["SGLang", 400, "The input (2314 tokens) is longer than the model's context length (2048 tokens)."],
])("a first message that the small window of %s refuses ends with what to do", async (_, status, words) => {
  const { model, options, stop } = await startModelAgent();
  const own = new AIAgent({ ...options, model: "my-model" });
  model.respondWith(() => fail(status, words));
  const ended = await own.runConversation({ userMessage: "hi" }).catch((error: unknown) => error);
  expect(JSON.stringify(ended) + String(ended)).toMatch(/too long for my-model/);
  expect(model.requests).toHaveLength(1);
  await own.close();
  await stop();
});
