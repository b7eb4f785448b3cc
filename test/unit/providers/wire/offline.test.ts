import { expect, test } from "vitest";
import { streamModel } from "../../../../agent-core/providers/stream-model.ts";
import type { ModelRequest } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, collect, joined } from "../../../conformance/collect.ts";

function requestOf(words: string, tools: readonly string[] = ["terminal", "write_file"]): ModelRequest {
  return {
    endpoint: { provider: "offline", baseUrl: undefined, apiKey: undefined },
    model: "offline",
    messages: [{ role: "user", content: words }],
    tools: tools.map((name) => ({ name, description: "", parameters: {} })),
    sampling: {},
  };
}

const ask = (words: string, signal = new AbortController().signal) => streamModel(requestOf(words), "offline", signal);

test("text streams word by word", async () => {
  const events = await collect(ask("help"));
  expect(joined(events, "text-delta")).toContain("not a language model");
  expect(events.length).toBeGreaterThan(50);
  expect(events.at(-1)).toMatchObject({ type: "finish", reason: "stop", usage: { cachedInputTokens: 0 } });
});

test("a call streams in pieces that never cut a character", async () => {
  const events = await collect(ask(`create a.txt with "${"👋🏽".repeat(40)}"`));
  const pieces = events.flatMap((event) => (event.type === "tool-call-delta" ? [event.text] : []));
  expect(pieces.length).toBeGreaterThan(3);
  for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
  expect(callsOf(events)).toEqual([["write_file", pieces.join("")]]);
  expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls" });
});

test("ids of calls are new each time and short enough for any provider", async () => {
  const ids = await Promise.all(
    ["run ls", "run ls"].map(async (words) => {
      const start = (await collect(ask(words))).find((event) => event.type === "tool-call-start");
      return start?.id ?? "";
    }),
  );
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^call_\w{1,35}$/);
});

test("everything else has its turn between two pieces", async () => {
  const over = new AbortController();
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (!over.signal.aborted) setImmediate(count);
  };
  setImmediate(count);
  const events = await collect(ask("help"));
  over.abort();
  expect(turns).toBeGreaterThan(events.length / 4);
});

test("abort ends it at once with the reason", async () => {
  const controller = new AbortController();
  const events = ask("help", controller.signal);
  await events.next();
  const reason = new Error("stop");
  const next = events.next();
  controller.abort(reason);
  await expect(next).rejects.toBe(reason);
});
