/** Commands of a session that go on in the background, and those whose output is still to be read. */
import type { CommandExit, RunningCommand, WriteOutcome } from "../../host/terminals/terminals.ts";
import { messageOf } from "../../platform/errors.ts";
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
  /** Milliseconds since 1970. */
  readonly startedAt = Date.now();
  readonly #begin = performance.now();
  readonly #onChange: () => void;
  #exit: CommandExit | undefined;
  #failure: string | undefined;
  #end: number | undefined;
  #seenBytes: number;
  #isReleased = false as boolean;
  #isTold = false as boolean;
  #isStoppedByUser = false as boolean;
  #isTypedByUser = false as boolean;

  /** `onChange` is called when it has ended, and when the model knows that. */
  constructor(id: string, { command, folder, running, watch = [], seenBytes = 0 }: NewProcess, onChange: () => void) {
    this.id = id;
    this.#onChange = onChange;
    this.command = command;
    this.folder = folder;
    this.running = running;
    this.watched = watch.length === 0 ? undefined : new WatchedText(running, watch);
    this.#seenBytes = seenBytes;
    running.exit.then(
      (exit) => {
        this.#exit = exit;
        onChange();
      },
      (error: unknown) => {
        this.#failure = messageOf(error);
        onChange();
      },
    );
  }

  /** The model knows that it has ended. */
  get isTold(): boolean {
    return this.#isTold;
  }

  set isTold(isTold: boolean) {
    if (isTold === this.#isTold) return;
    this.#isTold = isTold;
    this.#onChange();
  }

  get seconds(): number {
    return ((this.#end ?? performance.now()) - this.#begin) / 1000;
  }

  async state(): Promise<State> {
    if (this.#failure !== undefined) return this.#ended(this.#failure);
    if (this.#exit === undefined) return { kind: "running" };
    if (this.#end === undefined && (await this.running.hasSurvivors())) return { kind: "left-behind" };
    const note = exitNote(this.command, this.#exit);
    return this.#ended(this.#isStoppedByUser ? `${note}, stopped by the user` : note);
  }

  /** The user ends it; resolves when it is gone. */
  async stopForUser(): Promise<void> {
    if ((await this.state()).kind === "ended") return;
    this.#isStoppedByUser = true;
    await this.kill();
    this.#onChange();
  }

  /** The user types into it. */
  async writeForUser(text: string): Promise<WriteOutcome> {
    const outcome = await this.running.write(text);
    if (outcome.ok) this.#isTypedByUser = true;
    return outcome;
  }

  /** Whether the user has typed into it since this was last asked. What was typed stays between them: it may be secret. */
  takeTyped(): boolean {
    const isTyped = this.#isTypedByUser;
    this.#isTypedByUser = false;
    return isTyped;
  }

  /** Ends what still runs of it; resolves when it is gone. */
  async kill(): Promise<void> {
    if ((await this.state()).kind === "ended") return;
    await this.running.kill();
    await this.running.exit.catch(() => undefined); // its state says how it failed
  }

  /** Frees an ended one early when its output can be read from a file: its terminal need not stay. */
  async settle(): Promise<void> {
    if (!this.#isReleased && (await this.running.output()).file !== undefined) await this.release();
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
  readonly #listeners = new Set<() => void>();
  #count = 0;

  /** Why no further one can be started; undefined when one can. */
  async whyFull(): Promise<string | undefined> {
    const states = await Promise.all(this.list().map((one) => one.state()));
    if (states.filter(({ kind }) => kind !== "ended").length < MAX_RUNNING) return undefined;
    return `${MAX_RUNNING} commands run in the background already. End one with process kill first.`;
  }

  add(process: NewProcess): BackgroundProcess {
    this.#count += 1;
    const added = new BackgroundProcess(`p${this.#count}`, process, () => this.#changed());
    this.#all.set(added.id, added);
    this.#changed();
    return added;
  }

  /** Calls `listener` when one is there, has ended, is told of or lost. Gives what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
      try {
        lines.push(...(await noticesOf(process)));
      } catch (error) {
        // The editor has closed its terminal, or the file is gone: nothing can be known of it any more.
        this.#all.delete(process.id);
        await process.release();
        this.#changed();
        lines.push(`[${process.id} is lost: ${messageOf(error)}]`);
      }
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

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  async #forgetOldest(): Promise<void> {
    const told = this.list().filter(({ isTold }) => isTold);
    for (const process of told.slice(0, Math.max(0, told.length - MAX_ENDED))) {
      this.#all.delete(process.id);
      await process.release();
    }
  }
}

async function noticesOf(process: BackgroundProcess): Promise<readonly string[]> {
  const { id, command, seconds, watched } = process;
  const typed = process.takeTyped() ? [`[the user has typed into ${id}]`] : [];
  const printed = ((await watched?.hits()) ?? []).map((line) => `[${id} printed: ${line}]`);
  const hits = [...typed, ...printed];
  const state = await process.state();
  if (state.kind !== "ended") return hits;
  await process.settle();
  if (process.isTold) return hits;
  process.isTold = true;
  return [...hits, `[${id} has ended: ${state.note}, ${seconds.toFixed(0)} s: ${shortened(command)}]`];
}

/** A command as one line of a list. */
export function shortened(command: string): string {
  const line = command.replace(/\s+/g, " ").trim();
  return line.length <= 120 ? line : `${line.slice(0, 119)}…`;
}
