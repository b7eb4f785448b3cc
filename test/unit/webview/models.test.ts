import type { SessionConfigOption } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import type { PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import { choiceGroups, matchingGroups, shortChoice } from "../../../webview/state/config.ts";
import { reduce, type StateEvent } from "../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../webview/state/state.ts";

function modelOption(currentValue: string): Extract<SessionConfigOption, { type: "select" }> {
  return {
    type: "select",
    id: "model",
    name: "Model",
    category: "model",
    currentValue,
    options: [
      {
        group: "openrouter",
        name: "OpenRouter",
        options: [
          { value: "openrouter:anthropic/claude-sonnet-5.5", name: "Anthropic: Claude Sonnet 5.5" },
          { value: "openrouter:openai/gpt-5.4", name: "OpenAI: GPT-5.4" },
        ],
      },
      { group: "offline", name: "Built in", options: [{ value: "offline", name: "Offline (not a language model)" }] },
    ],
  };
}

const play = (events: readonly StateEvent[], from: PanelState = emptyState): PanelState =>
  events.reduce((state, event, index) => reduce(state, event, index), from);
const found = (query: string) =>
  matchingGroups(choiceGroups(modelOption("offline")), query).map(({ name, choices }) => [name, choices.length]);

test("a search takes words in any order, of name, id and provider, and leaves out empty groups", () => {
  expect(found("")).toEqual([
    ["OpenRouter", 2],
    ["Built in", 1],
  ]);
  expect(found("sonnet CLAUDE")).toEqual([["OpenRouter", 1]]);
  expect(found("openrouter gpt")).toEqual([["OpenRouter", 1]]);
  expect(found("nothing like it")).toEqual([]);
});

test("a choice is shown without its explanation where there is little room", () => {
  expect(shortChoice(modelOption("offline"))).toBe("Offline");
  expect(shortChoice(modelOption("openrouter:openai/gpt-5.4"))).toBe("OpenAI: GPT-5.4");
});

test("the setup page stays until a model is set up or the user sends a message", () => {
  const setup = { offers: [], keys: [], keyPlace: "", canClose: false };
  const facts = { ...emptyState.facts, setup };
  const shown = play([
    { type: "facts", facts },
    { kind: "route", route: { setup: true } },
  ]);
  expect(shown).toMatchObject({ route: { setup: true }, announcement: { text: "Choose which model answers" } });
  expect(play([{ type: "facts", facts: { ...facts, setup: null } }], shown).route.setup).toBe(false);
  expect(play([{ kind: "prompt", id: "p", text: "go" }], shown).route.setup).toBe(false);
});

test("another model is said aloud, the first one is not", () => {
  const options = (currentValue: string): PanelEvent => ({
    kind: "update",
    update: { sessionUpdate: "config_option_update", configOptions: [modelOption(currentValue)] },
  });
  const begun = play([options("offline")]);
  expect(begun.announcement.text).toBe("");
  expect(play([options("openrouter:openai/gpt-5.4")], begun).announcement.text).toBe("Model: OpenAI: GPT-5.4");
});
