/** What people are shown of a session's background commands, and telling of it when it changes. */
import { type BackgroundProcess, type Processes, shortened } from "./processes.ts";

/** Time between two looks at what no event tells of: waiting for input, an end of what a command left behind. */
const LOOK_MS = 2_000;

export type ProcessView = {
  readonly id: string;
  /** In one line. */
  readonly command: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** `left-behind`: the command itself has ended, what it started runs. */
  readonly state: "running" | "waits-for-input" | "left-behind" | "ended";
  /** How it ended. */
  readonly note?: string;
  /** The client's own terminal that shows it. */
  readonly terminalId?: string;
};

/** Those that run, and those that have ended without the model knowing by now. */
export async function processViews(processes: Processes): Promise<readonly ProcessView[]> {
  const views = await Promise.all(processes.list().map(viewOf));
  return views.filter((view) => view !== undefined);
}

async function viewOf(process: BackgroundProcess): Promise<ProcessView | undefined> {
  const { id, command, startedAt, running } = process;
  const { terminalId } = running;
  const state = await process.state();
  const view = { id, command: shortened(command), startedAt, ...(terminalId !== undefined && { terminalId }) };
  switch (state.kind) {
    case "running":
      return { ...view, state: (await running.waitsForInput()) ? "waits-for-input" : "running" };
    case "left-behind":
      return { ...view, state: "left-behind" };
    case "ended":
      return process.isTold ? undefined : { ...view, state: "ended", note: state.note };
  }
}

export type ProcessWatchOptions = {
  readonly processes: Processes;
  /** Called with all of them whenever anything is another than before. */
  readonly onChange: (views: readonly ProcessView[]) => void;
  readonly onDefect: (message: string) => void;
};

export class ProcessWatch {
  readonly #options: ProcessWatchOptions;
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | undefined;
  #shown = "[]";
  #isLooking = false as boolean;
  #isWanted = false as boolean;
  #isOver = false as boolean;

  constructor(options: ProcessWatchOptions) {
    this.#options = options;
    this.#unsubscribe = options.processes.onChange(() => this.#wantLook());
  }

  dispose(): void {
    this.#isOver = true;
    this.#unsubscribe();
    clearTimeout(this.#timer);
  }

  #wantLook(): void {
    this.#isWanted = true;
    if (this.#isLooking || this.#isOver) return;
    this.#isLooking = true;
    clearTimeout(this.#timer);
    this.#look()
      .catch((error: unknown) => this.#options.onDefect(`Background processes cannot be looked at: ${String(error)}`))
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #look(): Promise<void> {
    let runs = false;
    while (this.#isWanted && !this.#isOver) {
      this.#isWanted = false;
      const views = await processViews(this.#options.processes);
      runs = views.some(({ state }) => state !== "ended");
      const shown = JSON.stringify(views);
      if (shown !== this.#shown && !this.#isOver) this.#options.onChange(views);
      this.#shown = shown;
    }
    if (runs && !this.#isOver) this.#timer = setTimeout(() => this.#wantLook(), LOOK_MS);
  }
}
