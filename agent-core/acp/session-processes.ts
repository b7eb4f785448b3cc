/** The background commands of a session, as its client sees and handles them. */
import { type AgentContext, type ClientCapabilities, RequestError } from "@zed-industries/agent-client-protocol";
import type { AIAgent } from "../agent/ai-agent.ts";
import { notify } from "../protocol/method.ts";
import { type HermesProcesses, type HermesProcessesChanged, processMethods } from "../protocol/processes.ts";
import { ProcessWatch, processViews } from "../tools/terminal/process-watch.ts";
import type { BackgroundProcess, Processes } from "../tools/terminal/processes.ts";
import { hermesCapabilities } from "./connected-client.ts";

export type SessionProcessesOptions = {
  readonly agent: AIAgent;
  readonly client: AgentContext;
  /** They say whether the client wants to be told of changes. */
  readonly capabilities: ClientCapabilities;
  readonly sessionId: string;
  /** One line for the log. */
  readonly log: (line: string) => void;
};

export class SessionProcesses {
  readonly #processes: Processes;
  readonly #watch: ProcessWatch | undefined;

  constructor({ agent, client, capabilities, sessionId, log }: SessionProcessesOptions) {
    const { processes } = agent;
    this.#processes = processes;
    const onChange = (views: HermesProcesses["processes"]): void => {
      const changed: HermesProcessesChanged = { sessionId, processes: views };
      notify(client, processMethods.changed, changed);
    };
    const isTold = hermesCapabilities(capabilities).processes === true;
    this.#watch = isTold ? new ProcessWatch({ processes, onChange, onDefect: log }) : undefined;
  }

  async list(): Promise<HermesProcesses> {
    return { processes: await processViews(this.#processes) };
  }

  /** Throws the protocol's error when there is none. */
  find(id: string): BackgroundProcess {
    const found = this.#processes.find(id);
    if (found !== undefined) return found;
    throw RequestError.invalidParams({ field: "id" }, `id: there is no process ${JSON.stringify(id)}`);
  }

  dispose(): void {
    this.#watch?.dispose();
  }
}
