/** Commands of a session that run in the background, and ended ones whose output can still be read. */
import type { CommandExit, RunningCommand, WriteOutcome } from "../../host/terminals/terminals.ts";
import { messageOf } from "../../platform/errors.ts";
import { oneLine } from "../../platform/one-line.ts";
import { exitNote, plainText } from "./output-text.ts";

/** Commands that run in the background of one session at the same time. */
const MAX_RUNNING = 16;
/** Ended commands that are kept, with their output. */
const MAX_ENDED = 32;
/** New output in one report; of more the end. Bytes. */
const FRESH_BYTES = 30_000;

export type NewProcess = {
  readonly command: string;
  /** Folder that it was started in, absolute. */
  readonly folder: string;
  readonly running: RunningCommand;
  readonly isSandboxed?: boolean;
  /** Texts to report when they are printed. */
  readonly watch?: readonly string[];
  /** Bytes of the output that the model has seen. */
  readonly seenBytes?: number;
};

type HideSecrets = (text: string) => Promise<string>;

type State =
  | { readonly kind: "running" }
  /** The command has ended, but a program that it started still runs. */
  | { readonly kind: "left-behind" }
  | { readonly kind: "ended"; readonly note: string };

export class BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly folder: string;
  readonly running: RunningCommand;
  readonly isSandboxed: boolean;
  readonly watched: OutputMatches | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt = Date.now();
  readonly #begin = performance.now();
  readonly #onChange: () => void;
  #exit: CommandExit | undefined;
  #failure: string | undefined;
  #end: number | undefined;
  #seenBytes: number;
  #isReleased: boolean = false;
  #isReported: boolean = false;
  #isStoppedByUser: boolean = false;
  #isTypedByUser: boolean = false;

  /** `onChange` is called when the command has ended, and when the model knows that. */
  constructor(
    id: string,
    { command, folder, running, isSandboxed = false, watch = [], seenBytes = 0 }: NewProcess,
    onChange: () => void,
  ) {
    this.id = id;
    this.#onChange = onChange;
    this.command = command;
    this.folder = folder;
    this.running = running;
    this.isSandboxed = isSandboxed;
    this.watched = watch.length === 0 ? undefined : new OutputMatches(running, watch);
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

  /** The model knows that the command has ended. */
  get isReported(): boolean {
    return this.#isReported;
  }

  set isReported(isReported: boolean) {
    if (isReported === this.#isReported) return;
    this.#isReported = isReported;
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

  /** Ends the command for the user; resolves when it is gone. */
  async stopForUser(): Promise<void> {
    if ((await this.state()).kind === "ended") return;
    this.#isStoppedByUser = true;
    await this.kill();
    this.#onChange();
  }

  /** Types into the command for the user. */
  async writeForUser(text: string): Promise<WriteOutcome> {
    const outcome = await this.running.write(text);
    if (outcome.ok) this.#isTypedByUser = true;
    return outcome;
  }

  /** True when the user has typed since the last call. The typed text is not reported: it may be secret. */
  takeTyped(): boolean {
    const isTyped = this.#isTypedByUser;
    this.#isTypedByUser = false;
    return isTyped;
  }

  /** Ends the command and the programs that it started; resolves when they are gone. */
  async kill(): Promise<void> {
    if ((await this.state()).kind === "ended") return;
    await this.running.kill();
    await this.running.exit.catch(() => undefined); // `state` reports the failure
  }

  /** Frees the terminal of an ended command early, when its output can be read from a file. */
  async settle(): Promise<void> {
    if (!this.#isReleased && (await this.running.output()).file !== undefined) await this.release();
  }

  /** Frees the terminal, once; the output can still be read from its file. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    await this.running.release().catch(() => undefined); // the terminal is gone already
  }

  /** Plain output since the last call; of a long one the end. */
  async fresh(): Promise<string> {
    const { totalBytes } = await this.running.read(0, 0);
    const from = Math.max(this.#seenBytes, totalBytes - FRESH_BYTES);
    const skipped = from - this.#seenBytes;
    const { text, nextByte } = await this.running.read(from, FRESH_BYTES);
    this.#seenBytes = nextByte;
    return `${skipped > 0 ? `[… ${skipped} bytes left out; process log shows them …]\n` : ""}${plainText(text).trimEnd()}`;
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

  /** Reason why no other command can be started; undefined when one can. */
  async limitReason(): Promise<string | undefined> {
    const states = await Promise.all(this.list().map((one) => one.state()));
    if (states.filter(({ kind }) => kind !== "ended").length < MAX_RUNNING) return undefined;
    return `${MAX_RUNNING} commands already run in the background. End one with process kill first.`;
  }

  add(process: NewProcess): BackgroundProcess {
    this.#count += 1;
    const added = new BackgroundProcess(`p${this.#count}`, process, () => this.#changed());
    this.#all.set(added.id, added);
    this.#changed();
    return added;
  }

  /** Calls `listener` when a command is added, ends, is reported or is lost. Returns the function that stops this. */
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

  /** Lines for the model about events since the last call: an end, a watched text. `hideSecrets`: see `Policy`. */
  async notices(hideSecrets: HideSecrets = async (text) => text): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const process of this.list()) {
      try {
        lines.push(...(await noticesOf(process, hideSecrets)));
      } catch (error) {
        // The editor has closed the terminal, or the file is gone.
        this.#all.delete(process.id);
        await process.release();
        this.#changed();
        lines.push(`[${process.id} is lost: ${messageOf(error)}]`);
      }
    }
    await this.#forgetOldest();
    return lines;
  }

  /** Ends every command with the session. */
  async dispose(): Promise<void> {
    await Promise.allSettled(this.list().map((process) => process.kill()));
    await Promise.all(this.list().map((process) => process.release()));
    this.#all.clear();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  async #forgetOldest(): Promise<void> {
    const reported = this.list().filter(({ isReported }) => isReported);
    for (const process of reported.slice(0, Math.max(0, reported.length - MAX_ENDED))) {
      this.#all.delete(process.id);
      await process.release();
    }
  }
}

async function noticesOf(process: BackgroundProcess, hideSecrets: HideSecrets): Promise<readonly string[]> {
  const { id, command, seconds, watched } = process;
  const typed = process.takeTyped() ? [`[the user has typed into ${id}]`] : [];
  const printed = ((await watched?.hits(hideSecrets)) ?? []).map((line) => `[${id} printed: ${line}]`);
  const hits = [...typed, ...printed];
  const state = await process.state();
  if (state.kind !== "ended") return hits;
  await process.settle();
  const changes = (await process.running.inspected()).map((note) => `[${note}]`);
  if (process.isReported) return [...hits, ...changes];
  process.isReported = true;
  return [...hits, `[${id} has ended: ${state.note}, ${seconds.toFixed(0)} s: ${shortened(command)}]`, ...changes];
}

/** A command as one line of a list. */
export function shortened(command: string): string {
  return oneLine(command, 120);
}

/** Lines in one report; a command that prints them all the time must not fill the context. */
const MAX_HITS = 3;
/** Output that is searched at a time; of more the end. Bytes. */
const MAX_BYTES = 4_194_304;
const MAX_LINE_CHARS = 300;

/** Lines of a background command's output that contain one of the watched texts. */
class OutputMatches {
  readonly #running: RunningCommand;
  readonly #texts: readonly string[];
  #from = 0;

  /** `texts` match in upper and lower case. */
  constructor(running: RunningCommand, texts: readonly string[]) {
    this.#running = running;
    this.#texts = texts.map((text) => text.toLowerCase());
  }

  /** Complete lines since the last call that contain one of the texts. */
  async hits(hideSecrets: HideSecrets): Promise<readonly string[]> {
    const { totalBytes } = await this.#running.read(0, 0);
    const { text, nextByte } = await this.#running.read(Math.max(this.#from, totalBytes - MAX_BYTES), MAX_BYTES);
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    this.#from = nextByte - Buffer.byteLength(text.slice(whole.length));
    const found = plainText(whole)
      .split("\n")
      .filter((line) => this.#texts.some((wanted) => line.toLowerCase().includes(wanted)));
    const shown = await Promise.all(found.slice(0, MAX_HITS).map(hideSecrets));
    const lines = shown.map((line) => line.slice(0, MAX_LINE_CHARS));
    return found.length > MAX_HITS ? [...lines, `… and ${found.length - MAX_HITS} more lines`] : lines;
  }
}
