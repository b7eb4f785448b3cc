/** Runs commands as child processes of the agent. */
import { type Child, startChild } from "../../platform/children/start-child.ts";
import { CTRL_C, CTRL_D, type Launch, type Runner, type Started } from "./backend.ts";
import { readOutputFile, readOutputPart } from "./output-file.ts";
import type { WriteOutcome } from "./terminals.ts";

/** No terminal draws the output. */
const NO_TERMINAL = { TERM: "dumb" };

export function childRunner(): Runner {
  return { givesPty: false, start };
}

async function start(launch: Launch): Promise<Started> {
  const { program, args, cwd, env, hasWholeEnvironment, input, hasPty, outputFile, onOutput } = launch;
  const child = await startChild({
    program,
    args,
    cwd,
    input,
    outputFile,
    env: { ...NO_TERMINAL, ...env },
    inherits: hasWholeEnvironment !== true,
    onOutput: (_, text) => onOutput?.(text),
  });
  return {
    terminalId: undefined,
    tree: child.tree,
    exit: child.exit,
    output: () => readOutputFile(outputFile),
    read: (from, maxBytes) => readOutputPart(outputFile, from, maxBytes),
    write: (text) => (hasPty ? writeTo(child, text) : typeInto(child, text)),
    kill: () => child.kill(),
    release: () => child.release(),
  };
}

/** Does what a pseudo-terminal does: Ctrl+C interrupts, and Ctrl+D ends the input. */
async function typeInto(child: Child, text: string): Promise<WriteOutcome> {
  if (text === CTRL_C) {
    child.interrupt();
    return { ok: true };
  }
  const ends = text.endsWith(CTRL_D);
  const outcome = await writeTo(child, ends ? text.slice(0, -1) : text);
  if (ends && outcome.ok) child.endInput();
  return outcome;
}

async function writeTo(child: Child, text: string): Promise<WriteOutcome> {
  const reason = await child.write(text);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}
