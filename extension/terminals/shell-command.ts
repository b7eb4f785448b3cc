/** Runs a command of the agent in a shell of the user: gives its output without the shell's marks, and its exit code. */
import { PassThrough } from "node:stream";
import { ESCAPE_SEQUENCES, OPEN_SEQUENCE } from "../../agent-core/platform/ansi.ts";
import { makeOutputFile, OutputFlow } from "../../agent-core/platform/children/output-flow.ts";
import { Deadline } from "../../agent-core/platform/deadline.ts";
import { type CommandSink, refuse, type ShownCommand } from "./shown-command.ts";
import type { Ending, Execution, UserShell } from "./user-shell.ts";

/** Idle time after the end of a command that makes its output complete. */
const DRAIN_MS = 1_000;
/** Time for Ctrl+C to end a command before its terminal is closed. */
const INTERRUPT_MS = 2_000;

const CTRL_C = "\u0003";

/** `shell` is taken, and becomes free when it reports the command's end. */
export async function startInShell(
  shell: UserShell,
  line: string,
  wantedFile: string | undefined,
  { ring, show }: CommandSink,
): Promise<ShownCommand> {
  const outputFile = wantedFile === undefined ? undefined : makeOutputFile(wantedFile);
  const before = await shell.processes();
  const stop = (): void => void kill();
  const flow = new OutputFlow({
    outputFile,
    onOutput: (bytes, text) => {
      ring.add(bytes);
      show(text);
    },
    stop,
  });
  const { data, ending } = shell.execute(line);
  let ended: Ending | undefined;
  const over = ending.then((how) => {
    ended = how;
    return how;
  });
  // The shell could still begin the line later, unexpectedly.
  const closed = over.then(({ kind }) => (kind === "never-begun" ? shell.close() : undefined));
  const exit = Promise.all([over, stored({ data, ending }, flow), closed])
    .then(async ([{ exitCode }]) => ({ exitCode: exitCode ?? null, signal: null, folder: await shell.folder() }))
    .finally(() => {
      // A shell that does not report an exit code will not report the next one either: it is not used again.
      shell.isTaken = ended !== undefined && ended.exitCode === undefined;
    })
    .catch(refuse);
  exit.catch(() => undefined); // `exit` rejects for its caller

  async function kill(): Promise<void> {
    if (ended !== undefined) return;
    shell.terminal.sendText(CTRL_C, false);
    const isOver = await new Deadline(INTERRUPT_MS).waitFor(over);
    // The command is over, or its processes still have the terminal.
    if (isOver && !shell.isClosed) await shell.endSince(before);
    else await shell.close();
  }

  return {
    terminal: shell.terminal,
    tree: undefined,
    exit,
    async type(text) {
      if (ended !== undefined) return "The command has ended: nothing can be written to it.";
      shell.terminal.sendText(text, false);
      return undefined;
    },
    kill,
    discard: () => undefined, // the terminal belongs to the user
  };
}

/** Stores all output of the command, with a note about an unknown exit code. */
async function stored({ data, ending }: Execution, flow: OutputFlow): Promise<void> {
  const stream = new PassThrough();
  flow.add(stream);
  const marks = new ShellMarks();
  const idle = new Deadline(DRAIN_MS);
  const copied = (async () => {
    for await (const piece of await data) {
      idle.restart();
      if (stream.writableEnded) return;
      if (!stream.write(marks.push(piece))) await new Promise((resolve) => stream.once("drain", resolve));
    }
  })();
  copied.catch(() => undefined); // reported below, unless the command ended before
  const how = await ending;
  idle.restart();
  if (await idle.waitFor(copied)) await copied;
  stream.end(marks.end() + noteOn(how));
  await flow.drained();
}

function noteOn(how: Ending): string {
  const { kind, exitCode } = how;
  if (kind === "never-begun") return "\n[the shell did not start this command; its effect is unknown]\n";
  if (kind === "closed") {
    return exitCode === undefined
      ? "\n[the terminal was closed before the command ended; its exit code is unknown]\n"
      : "";
  }
  const { reportedAs } = how;
  const note =
    reportedAs === undefined
      ? ""
      : `\n[the shell ran it as: ${reportedAs}\nThe beginning of its output may be missing.]\n`;
  return exitCode === undefined
    ? `${note}\n[the shell did not report how the command ended; the exit code is not known]\n`
    : note;
}

/** Body of a mark: OSC 633 of VS Code, OSC 133 of other terminals, with the mark's letter. */
const MARK = /^[16]33;([^;]*)/;
/** Limit of a mark: longer text that was held back is output. Characters. */
const MAX_MARK = 65_536;

/** Reads the output of one command in pieces of any size. */
export class ShellMarks {
  #held = "";
  /** True between the mark of a command's end and the next command. */
  #isPrompt: boolean = false;

  /** Gives the complete part of the command's own output; colours stay. */
  push(piece: string): string {
    const text = this.#held + piece;
    const open = OPEN_SEQUENCE.exec(text);
    this.#held = open !== null && text.length - open.index <= MAX_MARK ? open[0] : "";
    return this.#withoutMarks(text.slice(0, text.length - this.#held.length));
  }

  /** Gives the text that was held because a mark could follow, and none did. */
  end(): string {
    const rest = this.#isPrompt ? "" : this.#held;
    this.#held = "";
    return rest;
  }

  #withoutMarks(text: string): string {
    let own = "";
    let from = 0;
    for (const match of text.matchAll(ESCAPE_SEQUENCES)) {
      const mark = match[4] ? MARK.exec(match[3] ?? "") : null;
      if (mark === null) continue;
      if (!this.#isPrompt) own += text.slice(from, match.index);
      from = match.index + match[0].length;
      if (mark[1] === "D") this.#isPrompt = true;
      else if (mark[1] === "C") this.#isPrompt = false;
    }
    return this.#isPrompt ? own : own + text.slice(from);
  }
}
