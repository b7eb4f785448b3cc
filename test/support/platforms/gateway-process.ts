// A gateway in a process of its own, from the sources, for tests that kill it. Its environment names the home and the model.
import { agentApp } from "../../../agent-core/acp/serve.ts";
import { nodeHost } from "../../../agent-core/host/node-host.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";

Object.assign(globalThis, { __VERSION__: "0.0.0-test" });
const { runGateway } = await import("../../../gateway/run-gateway.ts");
const { gatewaySettings } = await import("../../../gateway/settings.ts");

const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const service = agentApp({ version: "0.0.0-test", environment: process.env, local: nodeHost(), log });
const settings = await gatewaySettings(process.env);
const end = await runGateway({ settings, service, clock: systemClock, log, signal: ending.signal });
await service.dispose();
process.exit(end === "ended" ? 0 : 75);
