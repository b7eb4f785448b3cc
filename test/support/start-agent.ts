/** Initialised agents that end with their test. */
import { onTestFinished } from "vitest";
import { AcpAgent } from "./acp-agent.ts";
import type { AcpClient } from "./acp-client.ts";
import { AcpProcess } from "./acp-process.ts";
import { type ModelServer, startModelServer } from "./model-server/model-server.ts";

/** A user who may not write everything, if the tests run as one who may. */
export const NOBODY = process.getuid?.() === 0 ? 65_534 : undefined;

/** In process. `home`: default: a new one. */
export function startAgent(home?: string): Promise<AcpAgent> {
  return initialized(new AcpAgent({}, home));
}

/** In a process of its own, like another editor's. `user`: as of an AcpProcess. */
export function startProcess(home?: string, user?: number): Promise<AcpProcess> {
  return initialized(new AcpProcess({}, home, user));
}

async function initialized<Client extends AcpClient>(agent: Client): Promise<Client> {
  onTestFinished(() => agent.stop());
  await agent.initialize();
  return agent;
}

/** Not initialised yet, in process, with a model server of its own. */
export async function startWithModel(): Promise<{ readonly agent: AcpAgent; readonly model: ModelServer }> {
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
export function lastResult(model: ModelServer): unknown {
  return model.requests
    .at(-1)
    ?.body.messages.filter(({ role }) => role === "tool")
    .at(-1)?.["content"];
}
