import { expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Answer } from "../support/model-server/answer.ts";
import { call, fail, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

type SentMessage = { readonly role?: unknown; readonly tool_calls?: unknown; readonly reasoning_content?: unknown };

async function deepSeek(): Promise<ModelServer> {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  let thoughts = 0;
  model.respondWith(({ messages }): Answer => {
    const missing = messages.findIndex(
      (message: SentMessage) => message.tool_calls !== undefined && message.reasoning_content === undefined,
    );
    if (missing >= 0)
      return fail(400, `Missing \`reasoning_content\` field in the assistant message at message index ${missing}.`);
    if (messages.at(-1)?.["role"] === "tool") return say("It has three lines.");
    thoughts += 1;
    return { parts: [{ type: "reasoning", text: `Thought ${thoughts}.` }, call("read_file", { path: "a.txt" })] };
  });
  return model;
}

async function start(model: ModelServer, home?: string): Promise<AcpAgent> {
  const environment = {
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "deepseek-reasoner",
    HERMES_API_KEY: "sk-test-123456",
  };
  const agent = new AcpAgent(environment, home);
  onTestFinished(() => agent.stop());
  await agent.initialize();
  return agent;
}

const reasoningOf = ({ requests }: ModelServer): readonly unknown[] =>
  (requests.at(-1)?.body.messages ?? []).flatMap(({ tool_calls: calls, reasoning_content: reasoning }) =>
    calls === undefined ? [] : [reasoning],
  );

test("a server that requires its reasoning back gets it, in later turns and after a restart too", async () => {
  const model = await deepSeek();
  const agent = await start(model);
  const sessionId = await agent.newSession();
  for (const text of ["how long is a.txt?", "and now?"]) {
    expect((await agent.prompt(sessionId, text)).result).toMatchObject({ stopReason: "end_turn" });
  }
  expect(agent.text()).toBe("It has three lines.It has three lines.");
  expect(reasoningOf(model)).toEqual(["Thought 1.", "Thought 2."]);
  await agent.stop();

  const again = await start(model, agent.home);
  await again.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  expect((await again.prompt(sessionId, "once more")).result).toMatchObject({ stopReason: "end_turn" });
  expect(reasoningOf(model)).toEqual(["Thought 1.", "Thought 2.", "Thought 3."]);
});
