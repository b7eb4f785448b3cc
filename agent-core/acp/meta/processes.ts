/** Commands that run in the background of a session. */
import type { ProcessView } from "../../tools/terminal/process-watch.ts";

/** Requests of the client about commands that run in the background of a session. */
export const PROCESS_METHODS = {
  /** {sessionId} → HermesProcesses */
  list: "_hermes/process/list",
  /** HermesProcessOutputRequest → HermesProcessOutput */
  output: "_hermes/process/output",
  /** HermesProcessInput → HermesProcessInputAnswer: the user types into it, which the model is told of. */
  input: "_hermes/process/input",
  /** HermesProcessId → {}: the user ends it with all it has started; the model is told. */
  stop: "_hermes/process/stop",
} as const;

/** Agent → client: HermesProcessesChanged. Only where `processes` is declared. */
export const PROCESS_CHANGED = "_hermes/process/changed";

export type HermesProcess = ProcessView;

/** Those that run, and those that have ended without the model knowing by now. */
export type HermesProcesses = { readonly processes: readonly HermesProcess[] };
export type HermesProcessesChanged = HermesProcesses & { readonly sessionId: string };

export type HermesProcessId = { readonly sessionId: string; readonly id: string };
/** `from`: a byte of the output; default: so that the end of it is given. */
export type HermesProcessOutputRequest = HermesProcessId & { readonly from?: number };
/** Whole characters, escape sequences included. `nextByte`: what to go on from. */
export type HermesProcessOutput = { readonly text: string; readonly nextByte: number; readonly totalBytes: number };
/** As typed, with its line break; `\u0003` interrupts, a final `\u0004` ends the input. */
export type HermesProcessInput = HermesProcessId & { readonly text: string };
/** `reason`: why it could not be done. */
export type HermesProcessInputAnswer = { readonly reason?: string };
