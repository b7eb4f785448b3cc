import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import {
  guardStream,
  silenceOf,
  streamLimits,
  streamModel,
  warmUpModel,
} from "../../../agent-core/providers/stream-model.ts";
import type { ApiMode, ModelEvent } from "../../../agent-core/providers/wire/wire.ts";
import { collect, transcript } from "../../conformance/collect.ts";
import { requestTo } from "../../conformance/wire.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const request = requestTo({ baseUrl: "http://127.0.0.1:1/v1" });
const text = (words: string): ModelEvent => ({ type: "text-delta", text: words });
const finish: ModelEvent = { type: "finish", reason: "stop", usage: undefined };
const never = new Promise<never>(() => undefined);

function guard(open: (signal: AbortSignal) => AsyncIterable<ModelEvent>, signal = new AbortController().signal) {
  return guardStream(open, request, signal);
}

describe("exactly one last event", () => {
  test("nothing after it is passed on", async () => {
    const events = guard(async function* () {
      yield text("a");
      yield finish;
      yield text("b");
      yield finish;
    });
    expect(transcript(await collect(events))).toEqual(['text "a"', "finish stop ?"]);
  });

  test("a stream without one was cut off", async () => {
    const events = await collect(
      guard(async function* () {
        yield text("a");
      }),
    );
    expect(transcript(events)).toEqual(['text "a"', "fault cut-off"]);
  });

  test("an exception becomes a fault, before and in the middle of the stream", async () => {
    const early = guard(() => {
      throw new SyntaxError("no JSON");
    });
    expect(transcript(await collect(early))).toEqual(["fault malformed"]);
    const late = guard(async function* () {
      yield text("a");
      throw new TypeError("terminated");
    });
    expect(transcript(await collect(late))).toEqual(['text "a"', "fault cut-off"]);
  });
});

describe("silence", () => {
  test.each([
    ["http://localhost:11434/v1", 1_800],
    ["http://nas.fritz.box:8080/v1", 1_800],
    ["http://gpu.tail1234.ts.net:1234/v1", 1_800],
    ["http://0.0.0.0:8000/v1", 1_800],
    ["http://[::ffff:192.168.1.5]:8000/v1", 1_800],
    ["https://192.168.1.107:8443/v1", 1_800],
    ["https://llm.corp.internal/v1", 1_800],
    ["https://api.openai.com/v1", 600],
    ["https://openrouter.ai/api/v1", 600],
    [undefined, 600],
  ])("of the server at %s may last %i s", (baseUrl, seconds) => {
    expect(silenceOf({ baseUrl })).toBe(seconds * 1_000);
  });

  const SILENCE_MS = 100;

  test("of the model ends the stream", async () => {
    const clock = new ManualClock();
    const open = async function* () {
      yield text("a");
      await clock.advance(SILENCE_MS);
      await never;
    };
    const events = guardStream(open, request, new AbortController().signal, streamLimits(SILENCE_MS, clock));
    expect(transcript(await collect(events))).toEqual(['text "a"', "fault timeout"]);
  });

  test.each([
    ["a set limit of a minute, ten times", 60_000, 10],
    ["a set limit of five minutes, ten times", 300_000, 10],
    ["the default of remote servers, twice", silenceOf({ baseUrl: "https://a.example/v1" }), 2],
    ["the default of one's own server, twice", silenceOf({ baseUrl: "http://127.0.0.1:1/v1" }), 2],
  ])("with signs of life and without content may last as long as %s", async (_, silenceMs, times) => {
    const clock = new ManualClock();
    const open = async function* () {
      yield text("a");
      for (;;) {
        await clock.advance(silenceMs / 2);
        yield { type: "alive" } as const;
        yield { type: "tool-call-delta", index: 0, text: "" } as const;
      }
    };
    const events = guardStream(open, request, new AbortController().signal, streamLimits(silenceMs, clock));
    const seen = transcript(await collect(events)).filter((line) => !line.startsWith("delta"));
    expect(seen).toEqual(['text "a"', "fault timeout"]);
    expect(clock.now()).toBeGreaterThanOrEqual(times * silenceMs);
    expect(clock.now()).toBeLessThan((times + 2) * silenceMs);
  });

  test("is none where the machine stood still: what came meanwhile is taken", async () => {
    const open = async function* () {
      yield text("a");
      // Timers that are due come before what has arrived meanwhile.
      await new Promise<void>((resolve) => {
        setImmediate(() => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * SILENCE_MS);
          setImmediate(resolve);
        });
      });
      yield finish;
    };
    const events = guardStream(open, request, new AbortController().signal, streamLimits(SILENCE_MS));
    expect(transcript(await collect(events))).toEqual(['text "a"', "finish stop ?"]);
  });
});

describe("abort", () => {
  const reason = new Error("stop");

  test("throws its reason at once, even when the wire hangs in a read that hears nothing", async () => {
    const controller = new AbortController();
    const events = guard(async function* () {
      yield text("a");
      await never;
    }, controller.signal);
    await events.next();
    const next = events.next();
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test("throws its reason whatever the wire makes of it", async () => {
    const controller = new AbortController();
    const events = guard(async function* (signal) {
      yield text("a");
      controller.abort(reason);
      if (signal.aborted) throw new Error("of the library's own");
    }, controller.signal);
    await expect(collect(events)).rejects.toBe(reason);
  });

  test("between two reads opens no further read", async () => {
    const controller = new AbortController();
    let reads = 0;
    const events = guard(async function* () {
      for (;;) {
        reads += 1;
        yield text("a");
        await Promise.resolve();
      }
    }, controller.signal);
    await events.next();
    controller.abort(reason);
    await expect(events.next()).rejects.toBe(reason);
    expect(reads).toBe(1);
  });

  test("reaches the wire, also when the caller just stops listening", async () => {
    const { promise: told, resolve } = Promise.withResolvers<void>();
    const events = guard(async function* (signal) {
      signal.addEventListener("abort", () => resolve());
      yield text("a");
      await never;
    });
    for await (const _ of events) break;
    await told;
  });
});

test("a stream leaves no listener behind on the caller's signal", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners += 1;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...given);
  };
  const events = guard(async function* () {
    for (let index = 0; index < 100; index += 1) yield text("a");
    yield finish;
  }, signal);
  expect(await collect(events)).toHaveLength(101);
  expect(listeners).toBe(0);
});

test("an API mode without a wire is a defect of the caller", () => {
  const mode = "telepathy" as ApiMode; // no caller that is checked can name one
  expect(() => streamModel(request, mode, new AbortController().signal)).toThrow("telepathy");
});

describe("warm-up", () => {
  test.each<ApiMode>(["chat_completions", "codex_responses", "anthropic_messages"])(
    "opens no connection to the server (%s)",
    async (mode) => {
      let connections = 0;
      const server = createServer((_, response) => response.end()).on("connection", () => {
        connections += 1;
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const place = `http://127.0.0.1:${port}`;
      const model = { ...request, mode, endpoint: { ...request.endpoint, baseUrl: `${place}/v1` } };
      await warmUpModel(model, new AbortController().signal);
      expect(connections).toBe(0);
      await fetch(place); // the server does count them
      expect(connections).toBe(1);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  );
});
