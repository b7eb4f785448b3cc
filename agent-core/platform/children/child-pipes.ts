/**
 * Real pipes for a child's input and output. Node.js gives a child sockets: `tee /dev/stderr`, `> /dev/stdout` and
 * `< /dev/stdin` fail on sockets, and bash assumes a remote login. Named pipes are opened at both ends, and their names
 * removed at once.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";

const run = promisify(execFile);

export type ChildPipes = {
  /** The child's ends, for `stdio`. One pipe carries both output and errors. */
  readonly stdin: number | undefined;
  readonly stdout: number;
  readonly input: Writable | undefined;
  readonly output: Readable;
  /** Closes our copies of the child's ends; called once the child has started or failed to. */
  closeChildEnds(): void;
};

/** Undefined on systems without named pipes. Without `withInput` the caller provides the child's input. */
export async function openChildPipes(withInput: boolean): Promise<ChildPipes | undefined> {
  if (process.platform === "win32") return undefined;
  const path = join(tmpdir(), `hermes-pipe-${randomUUID()}`);
  const paths = withInput ? [path, `${path}-in`] : [path];
  try {
    await run("mkfifo", ["-m", "600", ...paths]);
  } catch {
    return undefined; // there is no such program, or the folder cannot hold pipes
  }
  try {
    // Our ends do not block. The child's ends must, or its reads would fail instead of waiting.
    const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stdout = openSync(path, constants.O_WRONLY);
    const output = new Socket({ fd: reading, readable: true, writable: false });
    if (!withInput)
      return { stdin: undefined, stdout, input: undefined, output, closeChildEnds: () => closeSync(stdout) };
    const { stdin, input } = openInput(`${path}-in`);
    const closeChildEnds = (): void => {
      closeSync(stdout);
      closeSync(stdin);
    };
    return { stdin, stdout, input, output, closeChildEnds };
  } finally {
    for (const name of paths) rmSync(name, { force: true });
  }
}

function openInput(path: string): { readonly stdin: number; readonly input: Writable } {
  const holder = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // a writer needs a reader to open at all
  const writing = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const stdin = openSync(path, constants.O_RDONLY);
  closeSync(holder);
  return { stdin, input: new Socket({ fd: writing, readable: false, writable: true }) };
}
