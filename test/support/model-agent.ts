/** An agent whose model is a server of the test. */
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIAgent, type AIAgentOptions } from "../../agent-core/index.ts";
import { type ModelServer, startModelServer } from "./model-server/model-server.ts";

export type ModelAgent = {
  readonly model: ModelServer;
  readonly agent: AIAgent;
  readonly cwd: string;
  /** Messages of the agent to its user. */
  readonly notices: readonly string[];
  /** For another agent of the same server, in the same folder. */
  readonly options: AIAgentOptions;
  stop(): Promise<void>;
};

export async function startModelAgent(): Promise<ModelAgent> {
  const model = await startModelServer();
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-agent-")));
  const notices: string[] = [];
  const options = {
    baseUrl: model.baseUrl,
    model: "test-model",
    apiKey: "sk-test-123456",
    cwd,
    home: join(cwd, ".home"),
    environment: {},
    callbacks: { status: ({ message }: { readonly message: string }) => void notices.push(message) },
  };
  const agent = new AIAgent(options);
  const stop = async () => {
    await agent.close();
    await model.stop();
  };
  return { model, agent, cwd, notices, options, stop };
}
