// Memory over the protocol: its entries with their origins, and the undo of a write.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

let model: ModelServer;
let agent: AcpAgent;
let sessionId: string;

beforeAll(async () => {
  model = await startModelServer();
  agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-1" });
  await agent.initialize();
  sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
});
afterAll(async () => {
  await agent.stop();
  await model.stop();
});

async function remember(content: string): Promise<unknown> {
  model.script({ parts: [call("memory", { action: "add", content })] }, say("noted"));
  await agent.prompt(sessionId, `remember: ${content}`);
  return agent.of("tool_call").at(-1)?.["toolCallId"];
}

async function answer(prompt: string): Promise<string> {
  const before = agent.text().length;
  await agent.prompt(sessionId, prompt);
  return agent.text().slice(before);
}

const file = (): string => join(agent.home, "memories", "MEMORY.md");
const undo = (callId: unknown) => agent.request("_hermes/memory/undo", { sessionId, callId });

test("a client lists the entries with their origins, and undoes a write by its call", async () => {
  const callId = await remember("tests run with vitest");
  const { result } = await agent.request("_hermes/memory/list", {});
  expect(result).toMatchObject({
    files: [
      {
        path: file(),
        entries: [{ text: "tests run with vitest", origin: expect.stringMatching(/^by the agent, 2\d{3}-/) }],
      },
      { target: "user", entries: [] },
    ],
  });
  expect((await undo(callId)).result).toEqual({ ok: true, message: "Removed from the memory: tests run with vitest." });
  expect(readFileSync(file(), "utf8")).toBe("");
  expect((await undo(callId)).result).toMatchObject({ ok: false });
});

test("an entry that was changed since is left alone", async () => {
  const callId = await remember("likes tabs");
  writeFileSync(file(), "likes spaces\n");
  expect((await undo(callId)).result).toMatchObject({
    ok: false,
    message: expect.stringContaining("changed or removed"),
  });
  expect(readFileSync(file(), "utf8")).toBe("likes spaces\n");
});

test("/memory shows the entries and the last changes, and /memory undo undoes one", async () => {
  await remember("uses Node 24");
  const shown = await answer("/memory");
  expect(shown).toMatch(
    /- likes spaces \*\(written by hand or by another program\)\*\n- uses Node 24 \*\(by the agent, /,
  );
  const [, id = ""] = /`(\w+)` Added: uses Node 24/.exec(shown) ?? [];
  expect(await answer(`/memory undo ${id}`)).toBe("Removed from the memory: uses Node 24.");
  expect(await answer(`/memory undo ${id}`)).toContain("no such change");
  expect(await answer("/memory forget everything")).toContain("`/memory undo ID`");
});
