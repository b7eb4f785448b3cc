/** When the user comes to trust the workspace, the panel and the agent learn it at once. */
import { call } from "../../agent-core/protocol/method.ts";
import { settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { PanelConnection } from "../chat/panel-connection.ts";
import type { AgentWorker } from "./agent-worker.ts";

/** An agent that is not started yet learns it with its first session. */
export async function passOnTrust(panel: PanelConnection, worker: AgentWorker): Promise<void> {
  panel.setFacts({ isTrusted: true });
  if (worker.isStarted) await call(await worker.agent(), settingsMethods.trust, {});
}
