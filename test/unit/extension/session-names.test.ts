import type { AnyMessage, Stream } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import { agentOf, namedSessions } from "../../../extension/agent/agent-connection.ts";

/** The messages that leave on either side of a stream with named sessions. */
async function through(side: "incoming" | "outgoing", message: object): Promise<AnyMessage | undefined> {
  const there = new TransformStream<AnyMessage, AnyMessage>();
  const back = new TransformStream<AnyMessage, AnyMessage>();
  const stream: Stream = { readable: there.readable, writable: back.writable };
  const named = namedSessions(stream, "claude");
  const [into, from] = side === "incoming" ? [there.writable, named.readable] : [named.writable, back.readable];
  void into.getWriter().write(message as AnyMessage);
  return (await from.getReader().read()).value;
}

test("a stored id names the agent, and Hermes' own ids name none", () => {
  expect(agentOf("claude:session-1")).toBe("claude");
  expect(agentOf("20261123_120000_00000000")).toBeUndefined();
});

test("messages of another agent have the window's ids: parameters, results and rows of a list", async () => {
  const update = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "1", update: {} } };
  expect(await through("incoming", update)).toMatchObject({ params: { sessionId: "claude:1" } });
  const created = { jsonrpc: "2.0", id: 1, result: { sessionId: "1", modes: null } };
  expect(await through("incoming", created)).toMatchObject({ result: { sessionId: "claude:1", modes: null } });
  const listed = { jsonrpc: "2.0", id: 1, result: { sessions: [{ sessionId: "1", title: "a" }] } };
  expect(await through("incoming", listed)).toMatchObject({ result: { sessions: [{ sessionId: "claude:1" }] } });
});

test("messages to the agent have its own ids", async () => {
  const prompt = { jsonrpc: "2.0", id: 1, method: "session/prompt", params: { sessionId: "claude:1", prompt: [] } };
  expect(await through("outgoing", prompt)).toMatchObject({ params: { sessionId: "1", prompt: [] } });
  const failed = { jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } };
  expect(await through("outgoing", failed)).toEqual(failed);
});
