// A gateway in a process of its own, from the sources, for tests that kill it. Its environment names the home and the model.
import { agentApp } from "../../../agent-core/acp/serve.ts";
import { nodeHost } from "../../../agent-core/host/node-host.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";
import { runGateway } from "../../../gateway/run-gateway.ts";
import { gatewaySettings } from "../../../gateway/settings.ts";

const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const { app, dispose } = agentApp({ version: "0.0.0-test", environment: process.env, local: nodeHost(), log });
const settings = await gatewaySettings(process.env);
const end = await runGateway({ settings, app, version: "0.0.0-test", clock: systemClock, log, signal: ending.signal });
await dispose();
process.exit(end === "ended" ? 0 : 75);
