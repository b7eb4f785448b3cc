/** Background commands of a session as people see them, with notifications about changes. */
import type { HermesProcess } from "../../protocol/processes.ts";
import { type BackgroundProcess, type Processes, shortened } from "./processes.ts";

/** Time between two checks for changes without an event: a wait for input, the end of a left-behind program. */
const CHECK_MS = 2_000;

/** Commands that run, and ended ones of which the model does not know yet. */
export async function processViews(processes: Processes): Promise<readonly HermesProcess[]> {
  const views = await Promise.all(processes.list().map(viewOf));
  return views.filter((view) => view !== undefined);
}

async function viewOf(process: BackgroundProcess): Promise<HermesProcess | undefined> {
  const { id, command, startedAt, running } = process;
  const { terminalId } = running;
  const state = await process.state();
  const view = { id, command: shortened(command), startedAt, ...(terminalId !== undefined && { terminalId }) };
  if (state.kind === "left-behind") return { ...view, state: "left-behind" };
  if (state.kind === "running")
    return { ...view, state: (await running.waitsForInput()) ? "waits-for-input" : "running" };
  return process.isReported ? undefined : { ...view, state: "ended", note: state.note };
}

export type ProcessWatchOptions = {
  readonly processes: Processes;
  /** Called with all commands after every change. */
  readonly onChange: (views: readonly HermesProcess[]) => void;
  readonly onDefect: (message: string) => void;
};

export class ProcessWatch {
  readonly #options: ProcessWatchOptions;
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | undefined;
  #shown = "[]";
  #isChecking: boolean = false;
  #isCheckDue: boolean = false;
  #isDisposed: boolean = false;

  constructor(options: ProcessWatchOptions) {
    this.#options = options;
    this.#unsubscribe = options.processes.onChange(() => this.#scheduleCheck());
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#unsubscribe();
    clearTimeout(this.#timer);
  }

  #scheduleCheck(): void {
    this.#isCheckDue = true;
    if (this.#isChecking || this.#isDisposed) return;
    this.#isChecking = true;
    clearTimeout(this.#timer);
    this.#check()
      .catch((error: unknown) => this.#options.onDefect(`could not check the background processes: ${String(error)}`))
      .finally(() => {
        this.#isChecking = false;
      });
  }

  async #check(): Promise<void> {
    let runs = false;
    while (this.#isCheckDue && !this.#isDisposed) {
      this.#isCheckDue = false;
      const views = await processViews(this.#options.processes);
      runs = views.some(({ state }) => state !== "ended");
      const shown = JSON.stringify(views);
      if (shown !== this.#shown && !this.#isDisposed) this.#options.onChange(views);
      this.#shown = shown;
    }
    if (runs && !this.#isDisposed) this.#timer = setTimeout(() => this.#scheduleCheck(), CHECK_MS);
  }
}
