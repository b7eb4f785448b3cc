import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AIAgent } from "../../../agent-core/agent/ai-agent.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let model: ModelServer;
let folder: string;

beforeEach(async () => {
  model = await startModelServer();
  folder = mkdtempSync(join(tmpdir(), "hermes-full-"));
});

afterEach(() => model.stop());

/** A compression always keeps the first exchange and the last messages. */
function agentWith(contextWindow: number): AIAgent {
  return new AIAgent({
    home: folder,
    cwd: folder,
    environment: {},
    baseUrl: model.baseUrl,
    model: "small",
    apiKey: "sk-12345678",
    provider: "custom",
    modelFacts: () => ({ contextWindow }),
  });
}

const offered = (): readonly string[] =>
  ((model.requests.at(-1)?.body["tools"] ?? []) as readonly { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );

describe("tools with large output", () => {
  const LARGE = ["process", "read_file", "search_files", "terminal"];

  it("are offered while there is room", async () => {
    model.script(say("hello"));
    await agentWith(100_000).chat("hi");
    expect(offered()).toEqual(expect.arrayContaining(LARGE));
  });

  it("stay in the request above the hard limit when nothing more can be dropped, and the model gets a note", async () => {
    model.script(say("I will be brief."));
    const agent = agentWith(20_000);
    await agent.chat(`Remember this: ${"some words ".repeat(6_500)}`);
    expect(offered()).toEqual(expect.arrayContaining(LARGE.slice(1)));
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("Tools with long results are refused");
  });

  it("do not run above the hard limit, and the model gets the reason", async () => {
    writeFileSync(join(folder, "big.txt"), "big\n".repeat(10_000));
    model.script(callTools(call("read_file", { path: "big.txt" })), say("done"));
    const agent = agentWith(20_000);
    await agent.chat(`Remember this: ${"some words ".repeat(6_500)}`);
    const result = agent.messages.findLast(({ role }) => role === "tool");
    expect(result?.content).toContain("read_file: refused, because the context window is full.");
  });
});
