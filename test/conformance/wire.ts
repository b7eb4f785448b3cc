/** Conformance suite for every wire over HTTP; a new wire gets it in one line. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FaultKind } from "../../agent-core/providers/fault.ts";
import { streamModel } from "../../agent-core/providers/stream-model.ts";
import type { ApiMode, ModelEvent, ModelRequest } from "../../agent-core/providers/wire/wire.ts";
import type { Answer } from "../support/model-server/answer.ts";
import {
  call,
  callTools,
  fail,
  hold,
  type ModelServer,
  say,
  startModelServer,
} from "../support/model-server/model-server.ts";
import { callsOf, collect, joined } from "./collect.ts";

/** Key of no known shape, long enough to be unique in every message. */
const KEY = "zq81-very-secret-value-of-the-test";

export type WireFacts = {
  readonly mode: ApiMode;
  /** JSON that is no event of this format. */
  readonly malformed: string;
};

export function describeWire({ mode, malformed }: WireFacts): void {
  let server: ModelServer;
  beforeEach(async () => {
    server = await startModelServer();
  });
  afterEach(() => server.stop());

  const ask = (
    answer: Answer,
    { signal = new AbortController().signal, ...more }: Partial<ModelRequest> & { signal?: AbortSignal } = {},
  ): AsyncGenerator<ModelEvent> => {
    server.script(answer);
    return streamModel(requestTo(server, more), mode, signal);
  };

  describe(`${mode}: answers`, () => {
    test("text arrives whole and ends with the usage", async () => {
      const events = await collect(ask(say("Hello, what a fine day — 你好 👋🏽.")));
      expect(joined(events, "text-delta")).toBe("Hello, what a fine day — 你好 👋🏽.");
      expect(events.at(-1)).toEqual({
        type: "finish",
        reason: "stop",
        usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 0 },
      });
    });

    test("nothing is held back until the end", async () => {
      const gate = hold();
      const stream = ask({ parts: [{ type: "text", text: "first" }, gate.part, { type: "text", text: " second" }] });
      expect((await stream.next()).value).toEqual({ type: "text-delta", text: "first" });
      gate.release();
      expect(joined(await collect(stream), "text-delta")).toBe(" second");
    });

    test("a tool call streamed in pieces arrives as one call", async () => {
      const input = { path: "src/äöü.ts", old_string: 'say("hi")\n', new_string: "" };
      const events = await collect(ask(callTools(call("patch", input))));
      const start = events.find((event) => event.type === "tool-call-start");
      const end = events.find((event) => event.type === "tool-call-end");
      expect(start).toMatchObject({ index: 0, name: "patch" });
      expect(end?.call.id).toBe(start?.id);
      expect(JSON.parse(end?.call.function.arguments ?? "")).toEqual(input);
      const pieces = events.map((event) => (event.type === "tool-call-delta" ? event.text : ""));
      expect(pieces.join("")).toBe(end?.call.function.arguments);
      expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls" });
    });

    test("two calls keep apart, and the first ends before the second does", async () => {
      const gate = hold();
      const stream = ask(callTools(call("read_file", { path: "a" }), gate.part, call("read_file", { path: "b" })));
      const early: ModelEvent[] = [];
      const rest = (async () => {
        for await (const event of stream) {
          early.push(event);
          if (event.type === "tool-call-start" && event.index === 1) break;
        }
      })();
      await gate.reached;
      gate.release();
      await rest;
      expect(callsOf(early)).toEqual([["read_file", '{"path":"a"}']]);
      const all = await collect(ask(callTools(call("read_file", { path: "a" }), call("list", {}))));
      expect(callsOf(all)).toEqual([
        ["read_file", '{"path":"a"}'],
        ["list", "{}"],
      ]);
      expect(new Set(all.map((event) => (event.type === "tool-call-start" ? event.id : ""))).size).toBe(3);
    });

    test("a call that is followed by text ends before the answer does", async () => {
      const gate = hold();
      const parts = [call("read_file", { path: "a" }), { type: "text", text: "so" } as const, gate.part];
      const stream = ask({ parts });
      const events: ModelEvent[] = [];
      for (let next = await stream.next(); !next.done; next = await stream.next()) {
        events.push(next.value);
        if (next.value.type === "tool-call-end") gate.release();
      }
      expect(callsOf(events)).toHaveLength(1);
    });

    test("reasoning is kept apart from the answer", async () => {
      const events = await collect(
        ask({
          parts: [
            { type: "reasoning", text: "Hmm. " },
            { type: "text", text: "Yes." },
          ],
        }),
      );
      expect(joined(events, "reasoning-delta")).toBe("Hmm. ");
      expect(joined(events, "text-delta")).toBe("Yes.");
    });

    test("a refusal is shown and named", async () => {
      const events = await collect(ask({ parts: [{ type: "refusal", text: "I will not." }] }));
      expect(joined(events, "text-delta")).toBe("I will not.");
      expect(events.at(-1)).toMatchObject({ type: "finish", reason: "refusal" });
    });

    test("an empty answer is an answer", async () => {
      expect(await collect(ask({ parts: [] }))).toMatchObject([{ type: "finish", reason: "stop" }]);
    });

    test("an answer without usage is an answer", async () => {
      const events = await collect(ask({ parts: [{ type: "text", text: "hi" }], usage: null }));
      expect(events.at(-1)).toEqual({ type: "finish", reason: "stop", usage: undefined });
    });

    test("a model that stops for length says so", async () => {
      const events = await collect(ask({ parts: [{ type: "text", text: "and then" }], finish: "length" }));
      expect(events.at(-1)).toMatchObject({ type: "finish", reason: "length" });
    });
  });

  describe(`${mode}: faults`, () => {
    const faultOf = async (answer: Answer): Promise<Extract<ModelEvent, { type: "fault" }>["fault"]> => {
      const events = await collect(ask(answer));
      expect(events.filter(({ type }) => type === "finish" || type === "fault")).toHaveLength(1);
      const last = events.at(-1);
      if (last?.type !== "fault") throw new Error(`no fault but ${JSON.stringify(last)}`);
      expect(last.fault.message).not.toMatch(/\n/);
      expect(last.fault.message).not.toContain(KEY);
      return last.fault;
    };
    const begun = { type: "text", text: "I was about to" } as const;

    test("a connection that breaks in the middle is a cut", async () => {
      expect((await faultOf({ parts: [begun, { type: "cut" }] })).kind).toBe("cut-off");
    });

    test("a stream without its last event is a cut, not an answer", async () => {
      expect((await faultOf({ parts: [begun], finish: null })).kind).toBe("cut-off");
    });

    test("half a tool call is never a call", async () => {
      const parts = [{ type: "call", name: "terminal", input: {}, raw: '{"command":"rm -r' } as const];
      const events = await collect(ask({ parts: [...parts, { type: "cut" }] }));
      expect(callsOf(events)).toEqual([]);
      expect(events.at(-1)).toMatchObject({ type: "fault", fault: { kind: "cut-off" } });
    });

    test.each([malformed, "{ this is not JSON", "[]", "7"])("a malformed event: %s", async (data) => {
      expect((await faultOf({ parts: [begun, { type: "raw", data }] })).kind).toBe("malformed");
    });

    test("an error in the middle of the stream", async () => {
      const data = JSON.stringify({ error: { message: "Provider overloaded", code: 503 } });
      expect(await faultOf({ parts: [begun, { type: "raw", data }] })).toMatchObject({
        kind: "overloaded",
        status: 503,
      });
    });

    test("a server that hangs up cannot be reached", async () => {
      expect((await faultOf({ hangUp: true })).kind).toBe("network");
    });

    test("a web page is no answer", async () => {
      const page = { status: 200, body: "<html>hello</html>", headers: { "content-type": "text/html; charset=utf-8" } };
      expect((await faultOf(page)).kind).toBe("malformed");
    });

    const statuses: readonly (readonly [number, FaultKind])[] = [
      [400, "bad-request"],
      [401, "authentication"],
      [402, "billing"],
      [403, "authentication"],
      [404, "unknown"],
      [408, "timeout"],
      [413, "context-overflow"],
      [429, "rate-limit"],
      [500, "server"],
      [502, "server"],
      [503, "overloaded"],
      [504, "timeout"],
      [529, "overloaded"],
    ];
    test.each(statuses)("status %i is %s, after one request", async (status, kind) => {
      expect(await faultOf(fail(status, `no, not with ${KEY}`))).toMatchObject({ kind, status });
      expect(server.requests).toHaveLength(1);
    });

    test("Retry-After is passed on", async () => {
      const fault = await faultOf({ ...fail(429, "slow down"), headers: { "retry-after": "7" } });
      expect(fault).toMatchObject({ kind: "rate-limit", retryAfterMs: 7_000 });
      expect(fault.message).toContain("in 7 s");
    });
  });

  describe(`${mode}: abort`, () => {
    const reason = new Error("the user stopped it");

    test("before the request nothing is sent", async () => {
      await expect(collect(ask(say("hi"), { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
      expect(server.requests).toHaveLength(0);
    });

    test("before the headers it ends at once, and so does the connection", async () => {
      const controller = new AbortController();
      const arrived = server.nextRequest();
      const events = collect(ask({ silent: true }, { signal: controller.signal }));
      const { closed } = await arrived;
      controller.abort(reason);
      await expect(events).rejects.toBe(reason);
      await closed;
    });

    test("in the middle of the stream it ends at once, and so does the connection", async () => {
      const controller = new AbortController();
      const arrived = server.nextRequest();
      const stream = ask({ parts: [{ type: "text", text: "one" }, { type: "stall" }] }, { signal: controller.signal });
      expect((await stream.next()).value).toEqual({ type: "text-delta", text: "one" });
      const next = stream.next();
      controller.abort(reason);
      await expect(next).rejects.toBe(reason);
      await (await arrived).closed;
    });

    test("whoever stops listening closes the connection", async () => {
      const arrived = server.nextRequest();
      for await (const event of ask({ parts: [{ type: "text", text: "one" }, { type: "stall" }] })) {
        expect(event.type).toBe("text-delta");
        break;
      }
      await (await arrived).closed;
    });
  });
}

/** Small request to the server; `more` overrides parts of it. */
export function requestTo(server: Pick<ModelServer, "baseUrl">, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    endpoint: { provider: "custom", baseUrl: server.baseUrl, apiKey: KEY },
    model: "test-model",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hello" },
    ],
    tools: [],
    sampling: {},
    ...more,
  };
}
