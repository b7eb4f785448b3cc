/** A tool that calls other tools of its session: scripts and delegations are built on it. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import type { ToolProgressEvent } from "../../../agent-core/agent/callbacks.ts";
import { AIAgent } from "../../../agent-core/index.ts";
import { defineTool, type ToolResult } from "../../../agent-core/tools/tool.ts";
import { call, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let model: ModelServer;
let results: ToolResult[];
beforeEach(async () => {
  model = await startModelServer();
  results = [];
});
afterEach(() => model.stop());

/** Calls the tools of `calls` one after the other. */
const relay = defineTool({
  name: "relay",
  toolset: "test",
  kind: "other",
  readOnly: false,
  description: "Calls other tools.",
  input: z.object({ calls: z.array(z.object({ name: z.string(), input: z.unknown() })) }),
  title: () => "Relay",
  effect: () => ({ kind: "none" }),
  async run({ calls }, { callTool, signal }) {
    for (const { name, input } of calls) {
      const result = await callTool?.(name, input, signal);
      if (result !== undefined) results.push(result);
    }
    return { ok: true, text: "relayed" };
  },
});

async function relayed(calls: readonly { name: string; input: unknown }[]): Promise<readonly ToolProgressEvent[]> {
  const cwd = mkdtempSync(join(tmpdir(), "hermes-nested-"));
  writeFileSync(join(cwd, "a.txt"), "alpha\n");
  mkdirSync(join(cwd, "sub"));
  writeFileSync(join(cwd, "sub", "b.txt"), "beta\n");
  writeFileSync(join(cwd, "sub", "AGENTS.md"), "Use tabs here.\n");
  const events: ToolProgressEvent[] = [];
  const agent = new AIAgent({
    baseUrl: model.baseUrl,
    model: "test-model",
    apiKey: "sk-test-123456",
    environment: {},
    cwd,
    home: join(cwd, ".home"),
    extensions: [{ name: "test", tools: () => [relay] }],
    approvalMode: () => "ask",
    callbacks: {
      toolProgress: (event) => void events.push(event),
      approval: async () => ({ kind: "rejected", reason: "not today" }),
    },
  });
  model.script({ parts: [call("relay", { calls })] }, say("done"));
  await agent.chat("go");
  await agent.close();
  return events;
}

test("a nested call has its own card below the call that made it", async () => {
  const events = await relayed([{ name: "read_file", input: { path: "a.txt" } }]);
  expect(results).toMatchObject([{ ok: true, text: expect.stringContaining("alpha") }]);
  const [outer, inner] = events.filter((event) => event.type === "started");
  expect(inner).toMatchObject({ name: "read_file", parentCallId: outer?.callId, callId: `${outer?.callId}/1` });
  expect(events.filter((event) => event.type === "finished").map(({ callId }) => callId)).toEqual([
    inner?.callId,
    outer?.callId,
  ]);
});

test("a nested call asks for permission like a call of the model", async () => {
  await relayed([{ name: "write_file", input: { path: "b.txt", content: "beta" } }]);
  expect(results).toMatchObject([{ ok: false, rejected: true, text: expect.stringContaining("not today") }]);
});

test("a nested call of an unknown tool, or with wrong arguments, fails with the model's error text", async () => {
  await relayed([
    { name: "reed_file", input: {} },
    { name: "read_file", input: { limit: 3 } },
  ]);
  expect(results.map(({ ok, text }) => ({ ok, text }))).toEqual([
    { ok: false, text: expect.stringContaining("read_file") },
    { ok: false, text: expect.stringContaining("path") },
  ]);
});

test("instructions of a folder that a nested call reads are in the result of the call that made it", async () => {
  await relayed([{ name: "read_file", input: { path: "sub/b.txt" } }]);
  expect(results[0]?.text).not.toContain("Use tabs");
  const answered = model.requests.at(-1)?.body.messages?.findLast((message) => message["role"] === "tool");
  expect(answered?.["content"]).toMatch(/^relayed[\s\S]*Use tabs here/);
});
