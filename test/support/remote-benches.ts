/** Benches for tools whose commands run at the place that a `terminal` section of config.yaml names. */
import { terminalSection } from "../../agent-core/config/terminal-section.ts";
import { OWN_VARIABLES } from "../../agent-core/host/terminals/backend.ts";
import { childRunner } from "../../agent-core/host/terminals/child-runner.ts";
import { configuredBackend } from "../../agent-core/host/terminals/configured-backend.ts";
import { sessionTerminals } from "../../agent-core/host/terminals/session-terminals.ts";
import { tool as terminal } from "../../agent-core/tools/terminal.ts";
import { type Bench, toolBench } from "./tool-context.ts";

export class RemoteBenches {
  readonly #open: Bench[] = [];

  /** `passed`: variables for every command there. */
  async open(section: object, passed: Readonly<Record<string, string>> = {}): Promise<Bench> {
    const { folder } = toolBench();
    const backend = configuredBackend(terminalSection.parse(section), [folder], { ...OWN_VARIABLES, passed });
    const bench = toolBench({ kind: "unavailable" }, sessionTerminals(backend, childRunner()), folder);
    this.#open.push(bench);
    const { context, cancel } = bench;
    context.shell.begin(await context.host.terminals.open(folder, cancel.signal));
    return bench;
  }

  /** Ends all benches. The program or engine that leads to their place must still be there. */
  async endAll(): Promise<void> {
    for (const { context } of this.#open.splice(0)) {
      await context.processes.dispose();
      await context.host.terminals.dispose();
    }
  }
}

/** Result text of a command, as the model reads it. */
export async function textOf(bench: Bench, command: string, more: object = {}): Promise<string> {
  return (await bench.run(terminal, { command, ...more })).text;
}
