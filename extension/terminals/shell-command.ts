/** One command of the agent in a shell of the user: its output without the shell's marks, its exit code where it is told. */
import { PassThrough } from "node:stream";
import { makeOutputFile, OutputFlow } from "../../agent-core/platform/children/output-flow.ts";
import { Deadline } from "../../agent-core/platform/deadline.ts";
import { refuse } from "./agent-child.ts";
import { ShellMarks } from "./shell-marks.ts";
import type { CommandSink, ShownCommand } from "./shown-command.ts";
import type { Ending, Execution, UserShell } from "./user-shell.ts";

/** What is left of the output after the end has come when nothing more came for this long. */
const DRAIN_MS = 1_000;
/** What Ctrl+C may take to end a command before its terminal goes. */
const INTERRUPT_MS = 2_000;

const CTRL_C = "\u0003";

/** `shell` is taken, and free again when it has told of the command's end. */
export async function startInShell(
  shell: UserShell,
  line: string,
  outputFile: string | undefined,
  { ring, show }: CommandSink,
): Promise<ShownCommand> {
  if (outputFile !== undefined) makeOutputFile(outputFile);
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
  let isOver = false as boolean;
  // A shell that has not told how a command ended will tell as little of the next one: that gets another shell.
  let isSilent = false as boolean;
  const over = ending.then((how) => {
    isOver = true;
    isSilent = how.exitCode === undefined;
    return how;
  });
  // A line that is begun after all, by a shell that was given up, would run when nobody counts on it.
  const givenUp = over.then(({ kind }) => (kind === "never-begun" ? shell.close() : undefined));
  const exit = Promise.all([over, stored({ data, ending }, flow), givenUp])
    .then(async ([{ exitCode }]) => ({ exitCode: exitCode ?? null, signal: null, folder: await shell.folder() }))
    .finally(() => {
      shell.isTaken = isSilent;
    })
    .catch(refuse);
  exit.catch(() => undefined); // whoever waits for it is told

  async function kill(): Promise<void> {
    if (isOver) return;
    shell.terminal.sendText(CTRL_C, false);
    await new Deadline(INTERRUPT_MS).waitFor(over);
    // It is over, or what it started still has the terminal.
    if (isOver && !shell.isClosed) await shell.endSince(before);
    else await shell.close();
  }

  return {
    terminal: shell.terminal,
    tree: undefined,
    exit,
    async type(text) {
      if (isOver) return "It has ended: nothing can be written to it.";
      shell.terminal.sendText(text, false);
      return undefined;
    },
    kill,
    discard: () => undefined, // the user's from now on
  };
}

/** Resolves when all output of the ended command is stored, with a word on an exit code that is not known. */
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
  let isCopied = false as boolean;
  const whenCopied = copied.finally(() => {
    isCopied = true;
  });
  whenCopied.catch(() => undefined); // told below, unless the command was over before
  const how = await ending;
  idle.restart();
  await idle.waitFor(whenCopied);
  if (isCopied) await whenCopied;
  stream.end(marks.end() + noteOn(how));
  await flow.drained();
}

function noteOn(how: Ending): string {
  const { kind, exitCode } = how;
  if (kind === "never-begun") return "\n[the shell did not begin this command; whether it did anything is not known]\n";
  if (kind === "closed") {
    return exitCode === undefined
      ? "\n[its terminal was closed before it had ended; the exit code is not known]\n"
      : "";
  }
  const { toldAs } = how;
  const told =
    toldAs === undefined ? "" : `\n[the shell ran it as: ${toldAs}\nThe beginning of its output may be missing.]\n`;
  return exitCode === undefined ? `${told}\n[the shell did not tell how it ended; the exit code is not known]\n` : told;
}
