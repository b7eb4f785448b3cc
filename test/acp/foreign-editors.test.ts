import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

async function start(): Promise<{ readonly agent: AcpAgent; readonly model: ModelServer }> {
  const model = await startModelServer();
  const agent = new AcpAgent({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "test-model",
    HERMES_API_KEY: "sk-test-key-123456",
  });
  onTestFinished(async () => {
    await agent.stop();
    await model.stop();
  });
  return { agent, model };
}

/** Content of the last tool result that the model got. */
function lastResult(model: ModelServer): unknown {
  return model.requests
    .at(-1)
    ?.body.messages.filter(({ role }) => role === "tool")
    .at(-1)?.["content"];
}

test("of a large file the client sends only the lines that were asked for", async () => {
  const { agent, model } = await start();
  const lines = Array.from({ length: 5_200 }, (_, index) => `line ${index + 1}${" ".repeat(990)}`);
  writeFileSync(join(agent.cwd, "big.log"), `${lines.join("\n")}\n`);
  const asked: Json[] = [];
  const partOf = (text: readonly string[], { line, limit }: Json): string =>
    text.slice(Number(line) - 1, Number(line) - 1 + Number(limit)).join("\n");
  agent.on("fs/read_text_file", (params) => {
    asked.push(params);
    return { content: partOf(lines, params) };
  });
  await agent.initialize({ fs: { readTextFile: true } });
  const sessionId = await agent.newSession();
  const read = callTools(call("read_file", { path: "big.log", offset: 10, limit: 2 }));
  model.script(read, say("done"));
  await agent.prompt(sessionId, "read it");
  expect(asked).toMatchObject([{ line: 10, limit: 2 }]);
  expect(lastResult(model)).toMatch(/^10\|line 10 +\n11\|line 11 +\n/);

  const unsaved = lines.with(9, "unsaved");
  agent.on("fs/read_text_file", (params) => ({
    content: params["line"] === undefined ? unsaved.join("\n") : partOf(unsaved, params),
  }));
  model.script(read, say("done"));
  await agent.prompt(sessionId, "read it again");
  expect(lastResult(model)).toMatch(/^10\|unsaved\n11\|line 11 +\n/);
});

test("a client is asked once for a file that does not exist yet", async () => {
  const { agent, model } = await start();
  const asked: unknown[] = [];
  const error = { code: -32002, message: "no such file" };
  agent.on("fs/read_text_file", ({ path }) => {
    asked.push(path);
    throw error;
  });
  await agent.initialize({ fs: { readTextFile: true } });
  model.script(callTools(call("write_file", { path: "new.txt", content: "new\n" })), say("done"));
  await agent.prompt(await agent.newSession(), "write it");
  expect(asked.filter((path) => String(path).endsWith("new.txt"))).toHaveLength(1);
});
