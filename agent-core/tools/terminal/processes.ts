/** Commands of a session that go on in the background, and those whose output is still to be read. */
import type { CommandExit, RunningCommand } from "../../host/terminals/terminals.ts";
import { exitNote } from "./exit-note.ts";
import { plainText } from "./plain-text.ts";
import { WatchedText } from "./watched-text.ts";

/** Commands in the background of one session at the same time, at most. */
const MAX_RUNNING = 16;
/** Ended ones that are remembered, with their output. */
const MAX_ENDED = 32;
/** New output given at a time: its end. Bytes. */
const FRESH_BYTES = 30_000;

export type NewProcess = {
  readonly command: string;
  /** Folder that it was started in, absolute. */
  readonly folder: string;
  readonly running: RunningCommand;
  /** Texts to tell of when they are printed. */
  readonly watch?: readonly string[];
  /** Bytes of the output that the model has seen. */
  readonly seenBytes?: number;
};

type State =
  | { readonly kind: "running" }
  /** The command has ended, what it started goes on. */
  | { readonly kind: "left-behind" }
  | { readonly kind: "ended"; readonly note: string };

export class BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly folder: string;
  readonly running: RunningCommand;
  readonly watched: WatchedText | undefined;
  readonly #begin = performance.now();
  #exit: CommandExit | undefined;
  #failure: string | undefined;
  #end: number | undefined;
  #seenBytes: number;
  #isReleased = false as boolean;
  /** The model knows that it has ended. */
  isTold = false as boolean;

  constructor(id: string, { command, folder, running, watch = [], seenBytes = 0 }: NewProcess) {
    this.id = id;
    this.command = command;
    this.folder = folder;
    this.running = running;
    this.watched = watch.length === 0 ? undefined : new WatchedText(running, watch);
    this.#seenBytes = seenBytes;
    running.exit.then(
      (exit) => {
        this.#exit = exit;
      },
      (error: unknown) => {
        this.#failure = error instanceof Error ? error.message : String(error);
      },
    );
  }

  get seconds(): number {
    return ((this.#end ?? performance.now()) - this.#begin) / 1000;
  }

  async state(): Promise<State> {
    if (this.#failure !== undefined) return this.#ended(this.#failure);
    if (this.#exit === undefined) return { kind: "running" };
    if (this.#end === undefined && (await this.running.hasSurvivors())) return { kind: "left-behind" };
    return this.#ended(exitNote(this.command, this.#exit));
  }

  /** Ends what still runs of it; resolves when it is gone. */
  async kill(): Promise<void> {
    if ((await this.state()).kind === "ended") return;
    await this.running.kill();
    await this.running.exit.catch(() => undefined); // its state says how it failed
  }

  /** Frees what is held for it, once; its output can still be read from its file. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    await this.running.release().catch(() => undefined); // whoever held it is gone
  }

  /** Output since this was last asked, plain; of a great deal its end. */
  async fresh(): Promise<string> {
    const { totalBytes } = await this.running.read(0, 0);
    const from = Math.max(this.#seenBytes, totalBytes - FRESH_BYTES);
    const skipped = from - this.#seenBytes;
    const { text, nextByte } = await this.running.read(from, FRESH_BYTES);
    this.#seenBytes = nextByte;
    return `${skipped > 0 ? `[… ${skipped} bytes left out: log has them …]\n` : ""}${plainText(text).trimEnd()}`;
  }

  #ended(note: string): State {
    this.#end ??= performance.now();
    return { kind: "ended", note };
  }
}

export class Processes {
  readonly #all = new Map<string, BackgroundProcess>();
  #count = 0;

  /** Why no further one can be started; undefined when one can. */
  async whyFull(): Promise<string | undefined> {
    const states = await Promise.all(this.list().map((one) => one.state()));
    if (states.filter(({ kind }) => kind !== "ended").length < MAX_RUNNING) return undefined;
    return `${MAX_RUNNING} commands run in the background already. End one with process kill first.`;
  }

  add(process: NewProcess): BackgroundProcess {
    this.#count += 1;
    const added = new BackgroundProcess(`p${this.#count}`, process);
    this.#all.set(added.id, added);
    return added;
  }

  find(id: string): BackgroundProcess | undefined {
    return this.#all.get(id);
  }

  list(): readonly BackgroundProcess[] {
    return [...this.#all.values()];
  }

  /** One line for each thing that happened since the model was last told: an end, a watched text. */
  async notices(): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const process of this.list()) {
      for (const line of (await process.watched?.hits()) ?? []) lines.push(`[${process.id} printed: ${line}]`);
      const state = await process.state();
      if (state.kind !== "ended" || process.isTold) continue;
      process.isTold = true;
      lines.push(
        `[${process.id} has ended: ${state.note}, ${process.seconds.toFixed(0)} s: ${shortened(process.command)}]`,
      );
    }
    await this.#forgetOldest();
    return lines;
  }

  /** Ends what runs; the session is over. */
  async dispose(): Promise<void> {
    await Promise.allSettled(this.list().map((process) => process.kill()));
    await Promise.all(this.list().map((process) => process.release()));
    this.#all.clear();
  }

  async #forgetOldest(): Promise<void> {
    const told = this.list().filter(({ isTold }) => isTold);
    for (const process of told.slice(0, Math.max(0, told.length - MAX_ENDED))) {
      this.#all.delete(process.id);
      await process.release();
    }
  }
}

/** A command as one line of a list. */
export function shortened(command: string): string {
  const line = command.replace(/\s+/g, " ").trim();
  return line.length <= 120 ? line : `${line.slice(0, 119)}…`;
}
