/** Commands as our own children. */
import { type Child, startChild } from "../../platform/children/start-child.ts";
import { readOutputFile, readOutputPart } from "./output-file.ts";
import { CTRL_C, CTRL_D, type Launch, type Runner, type Started } from "./runner.ts";
import type { WriteOutcome } from "./terminals.ts";

/** Nothing draws what a program would draw on a terminal. */
const NO_TERMINAL = { TERM: "dumb" };

export function childRunner(): Runner {
  return { givesPty: false, start };
}

async function start(launch: Launch): Promise<Started> {
  const { program, args, cwd, env, input, hasPty, outputFile, onOutput } = launch;
  const child = await startChild({
    ...{ program, args, cwd, input, outputFile },
    env: { ...NO_TERMINAL, ...env },
    onOutput: (_, text) => onOutput?.(text),
  });
  return {
    terminalId: undefined,
    tree: child.tree,
    exit: child.exit,
    output: () => readOutputFile(outputFile),
    read: (from, maxBytes) => readOutputPart(outputFile, from, maxBytes),
    write: (text) => (hasPty ? hand(child, text) : typeInto(child, text)),
    kill: () => child.kill(),
    release: () => child.release(),
  };
}

/** Where no pseudo-terminal makes an interrupt of Ctrl+C and an end of Ctrl+D. */
async function typeInto(child: Child, text: string): Promise<WriteOutcome> {
  if (text === CTRL_C) {
    child.interrupt();
    return { ok: true };
  }
  const ends = text.endsWith(CTRL_D);
  const outcome = await hand(child, ends ? text.slice(0, -1) : text);
  if (ends && outcome.ok) child.endInput();
  return outcome;
}

async function hand(child: Child, text: string): Promise<WriteOutcome> {
  const reason = await child.write(text);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}
