import { expect, test } from "vitest";
import { modelOption } from "../../../agent-core/acp/config-options.ts";
import type { ModelGroup } from "../../../agent-core/agent/model-directory.ts";

const many: ModelGroup = {
  provider: "openrouter",
  title: "OpenRouter",
  isListed: true,
  models: Array.from({ length: 400 }, (_, index) => ({ id: `m-${index}` })),
};
const builtIn: ModelGroup = { provider: "offline", title: "Built in", isListed: true, models: [{ id: "offline" }] };

const shown = (option: ReturnType<typeof modelOption>) =>
  option.type === "select" ? option.options.map((group) => ("group" in group ? [group.name, group.options] : [])) : [];

test("the offline model has a description", () => {
  expect(shown(modelOption({ provider: "offline", model: "offline" }, [builtIn]))).toEqual([
    ["Built in", [expect.objectContaining({ value: "offline", name: "Offline (not a language model)" })]],
  ]);
});

test("a long list is limited, and contains the chosen model with its facts", () => {
  const models = many.models.with(377, { id: "m-377", name: "The 377th", facts: { contextWindow: 32_768 } });
  const option = modelOption({ provider: "openrouter", model: "m-377" }, [{ ...many, models }, builtIn]);
  const [[, choices] = []] = shown(option);
  expect(choices).toHaveLength(31);
  expect(choices).toContainEqual({
    value: "openrouter:m-377",
    name: "The 377th",
    description: "33k tokens",
  });
});

test("a model of a provider without a list is included anyway", () => {
  const option = modelOption({ provider: "acme", model: "x" }, [builtIn]);
  expect(option).toMatchObject({ currentValue: "acme:x" });
  expect(shown(option)).toHaveLength(2);
});

test("a choice shows its context and its price in one line", () => {
  const openai: ModelGroup = { provider: "openai", title: "OpenAI", isListed: false, models: [{ id: "gpt-5" }] };
  expect(JSON.stringify(modelOption({ provider: "openai", model: "gpt-5" }, [openai]))).toContain(
    "400k tokens · reasons · $1.25/$10 per M",
  );
});
