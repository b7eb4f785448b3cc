/** Questions in a terminal; it hides a secret while the user types. */
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";

export type Dialog = {
  say(line: string): void;
  /** The trimmed answer; undefined after the end of the input. */
  ask(question: string): Promise<string | undefined>;
  askSecret(question: string): Promise<string | undefined>;
  close(): void;
};

export function terminalDialog(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Dialog {
  let isHidden = false;
  const echo = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) output.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input, output: echo, terminal: input.isTTY });
  const answers = new LineQueue(lines);
  const ask = async (question: string): Promise<string | undefined> => {
    if (input.isTTY) {
      // A prompt, since readline redraws the line after a deletion.
      lines.setPrompt(question);
      lines.prompt();
    } else {
      output.write(question); // an ended pipe with unread answers takes no prompt
    }
    return (await answers.next())?.trim();
  };
  return {
    say: (line) => void output.write(`${line}\n`),
    ask,
    async askSecret(question) {
      output.write(question);
      lines.setPrompt("");
      isHidden = true;
      const answer = await answers.next();
      isHidden = false;
      output.write("\n");
      return answer?.trim();
    },
    close: () => lines.close(),
  };
}

/** Buffers lines: a pipe delivers all of them at once. */
class LineQueue {
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #ended: boolean = false;

  constructor(lines: Interface) {
    lines.on("line", (line) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting === undefined) this.#lines.push(line);
      else waiting(line);
    });
    lines.on("close", () => {
      this.#ended = true;
      this.#waiting?.(undefined);
    });
  }

  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined || this.#ended) return Promise.resolve(line);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}
