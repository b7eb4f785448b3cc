// Refusals of new tools in unknown words, models that are still loading, and answers that only stand for one.
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { AIAgent } from "../../../agent-core/index.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";
import { defineTool } from "../../../agent-core/tools/tool.ts";
import { type ModelAgent, startModelAgent } from "../../support/model-agent.ts";
import { fail, say } from "../../support/model-server/model-server.ts";

let started: ModelAgent;
let { model, agent, notices, options } = {} as ModelAgent;

beforeEach(async () => {
  started = await startModelAgent();
  ({ model, agent, notices, options } = started);
});
afterEach(() => started.stop());

const NOTES = defineTool({
  name: "mcp__notes__bad",
  toolset: "mcp-notes",
  need: "foreign",
  kind: "read",
  readOnly: true,
  description: "Notes.",
  input: z.object({ at: z.union([z.number().min(3), z.string()]).optional() }),
  title: () => "notes",
  effect: () => ({ kind: "none" }),
  run: async () => ({ ok: true, text: "" }),
});

test.each([
  [400, "reference to undefined schema at properties.language", "anyOf"],
  [400, "Failed to initialize samplers: failed to parse grammar", "minimum"],
  [422, "工具参数的格式不正确", "anyOf"],
  [500, "ошибка разбора схемы", "minimum"],
  [413, "Corpo troppo grande", "mcp__notes__bad"],
  [500, "kaboom", "mcp__notes__bad"],
  [
    400,
    "Unknown name \"type\" at 'tools[0].function_declarations[99].parameters': Proto field is not repeating",
    "anyOf",
  ],
])(
  "a refusal of new tools simplifies their schemas, else leaves the tools out, and the session goes on: %i %s",
  async (status, words, refused) => {
    const clock = { ...systemClock, wait: async () => undefined };
    const own = new AIAgent({ ...options, clock, extensions: [{ name: "mcp", tools: () => [NOTES] }] });
    const isRefused = (sent: unknown): boolean => JSON.stringify(sent ?? []).includes(refused);
    model.respondWith((body) =>
      isRefused((body["tools"] as { function: { name: string } }[]).filter((tool) => tool.function.name.includes("__")))
        ? fail(status, words)
        : say("fine"),
    );
    expect(await own.chat("hello")).toBe("fine");
    expect(notices.join("\n")).toContain("sent again without");
    expect(JSON.stringify(model.requests.at(-1)?.body["tools"]).includes("mcp__notes__bad")).toBe(
      !refused.includes("bad"),
    );
    const before = model.requests.length;
    expect(await own.chat("and now?")).toBe("fine");
    expect(model.requests.length).toBe(before + 1);
    await own.close();
  },
);

test.each([
  [400, "Model is loading, please wait and retry."],
  [500, "The model is currently being loaded"],
  [404, "the server is still starting"],
  [500, "Error: the model is not ready, it is loading"],
])("a model that is still loading is waited for: %i %s", async (status, words) => {
  const patient = new AIAgent({ ...options, clock: { ...systemClock, wait: async () => undefined } });
  model.script(fail(status, words), fail(status, words), say("late"));
  expect(await patient.chat("hi")).toBe("late");
  await patient.close();
});

test.each(["[No response]", "(empty content)", "\u200b\n", "  "])(
  "an answer that only stands for nothing is asked for again: %s",
  async (text) => {
    model.script(say(text), say("words"));
    expect(await agent.chat("hi")).toBe("words");
  },
);

test("an answer that announces calls and has none is asked for again", async () => {
  model.script({ parts: [{ type: "text", text: "Let me look." }], finish: "tool_calls" }, say("done"));
  expect(await agent.chat("hi")).toBe("done");
});
