/** A gateway with the real agent in the test's process, in front of a fake platform and a scripted model. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { agentApp } from "../../../agent-core/acp/serve.ts";
import { nodeHost } from "../../../agent-core/host/node-host.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";
import { Gateway } from "../../../gateway/gateway.ts";
import { gatewaySettings } from "../../../gateway/settings.ts";
import { temporaryFolder } from "../acp-client.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import type { FakePlatform } from "./platform.ts";

export type TestGateway = {
  readonly model: ModelServer;
  readonly home: string;
  readonly workspace: string;
  /** Lines of the log. */
  readonly lines: string[];
  readonly gateway: Gateway;
  /** Ends the gateway, and starts another one in the same home. */
  restart(drainMs?: number): Promise<void>;
  stop(drainMs?: number): Promise<void>;
};

export type TestGatewayOptions = {
  /** Further settings of the platform. */
  readonly section?: Readonly<Record<string, unknown>>;
  /** Further settings of config.yaml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** False: the platform does not accept the gateway. */
  readonly connects?: boolean;
};

/** Person 7 may write. */
export async function startGateway(platform: FakePlatform, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { section = {}, config = {}, connects = true } = options;
  const model = await startModelServer();
  const home = temporaryFolder("hermes-gateway-home-");
  const workspace = temporaryFolder("hermes-gateway-work-");
  // As of a server without limits: the tests of the outbox have a clock of their own.
  const limits = { perChatMs: 0, perSecond: 1_000, groupPerMinute: 1_000, ...(platform.edits && { editMs: 150 }) };
  const platforms = { [platform.name]: { allowed_users: ["7"], limits, ...platform.section, ...section } };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ platforms, gateway: { folder: workspace }, ...config }));
  const lines: string[] = [];
  const environment = {
    PATH: process.env["PATH"],
    HERMES_HOME: home,
    HERMES_LOCAL_SERVERS: "off",
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "test-model",
    HERMES_API_KEY: "sk-test-key-123456",
    ...platform.variables,
  };
  const log = (line: string): void => void lines.push(line);
  const begin = async () => {
    const service = agentApp({ version: "0.0.0-test", environment, local: nodeHost(), log });
    const settings = await gatewaySettings(environment);
    const gateway = new Gateway({ settings, service, clock: systemClock, log });
    return { gateway, service };
  };
  let running: Awaited<ReturnType<typeof begin>> | undefined = await begin();
  const stop = async (ms = 0): Promise<void> => {
    const ended = running;
    running = undefined;
    await ended?.gateway.dispose(ms);
    await ended?.service.dispose();
  };
  const state = () => running?.gateway.states().get(platform.name)?.kind;
  const connected = () => expect.poll(state).toBe("connected");
  onTestFinished(async () => {
    await stop();
    await model.stop();
    await platform.stop();
    for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true });
  });
  if (connects) await connected();
  return {
    model,
    home,
    workspace,
    lines,
    get gateway() {
      if (running === undefined) throw new Error("the gateway is stopped");
      return running.gateway;
    },
    stop,
    async restart(ms) {
      await stop(ms);
      running = await begin();
      await connected();
    },
  };
}
