/** Background commands of a session, and commands in the client's terminals. The latter only where `terminals` is declared. */
import * as z from "zod";
import { inSession, nothing } from "./method.ts";

export const HermesProcess = z.object({
  id: z.string(),
  /** One line. */
  command: z.string(),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  /** `left-behind`: the command has ended, but a process that it started still runs. */
  state: z.enum(["running", "waits-for-input", "left-behind", "ended"]),
  /** A phrase about the process's end. */
  note: z.string().exactOptional(),
  /** Id of the client's terminal that shows it. */
  terminalId: z.string().exactOptional(),
});
export type HermesProcess = z.infer<typeof HermesProcess>;

/** Running processes, and ended ones that the model does not know of yet. */
export const HermesProcesses = z.object({ processes: z.array(HermesProcess).readonly() });

export const HermesProcessesChanged = HermesProcesses.extend({ sessionId: z.string() });
export type HermesProcessesChanged = z.infer<typeof HermesProcessesChanged>;

export const HermesProcessId = inSession.extend({ id: z.string() });
export type HermesProcessId = z.infer<typeof HermesProcessId>;

/** `text`: typed characters with their line break. `\u0003` interrupts, a final `\u0004` ends the input. */
export const HermesProcessInput = HermesProcessId.extend({ text: z.string() });

/** `reason`: why the process did not take the input. */
export const HermesInputResult = z.object({ reason: z.string().exactOptional() });

export const processMethods = {
  list: { name: "_hermes/process/list", params: inSession, result: HermesProcesses },
  /** The user types into a process; the agent reports that to the model. */
  input: { name: "_hermes/process/input", params: HermesProcessInput, result: HermesInputResult },
  /** The user ends a process with all its children; the agent reports that to the model. */
  stop: { name: "_hermes/process/stop", params: HermesProcessId, result: nothing },
  /** Agent → client. Only where `processes` is declared. */
  changed: { name: "_hermes/process/changed", params: HermesProcessesChanged },
};

/** `_meta.hermes` of `terminal/create`. */
export const HermesTerminalMeta = z.object({
  /** The client writes every byte of output to this file. */
  outputFile: z.string(),
  /** The command as the user knows it. */
  title: z.string(),
  /** `none`: the program reads an empty input. */
  input: z.enum(["none", "open"]),
  /** The program opens a pseudo-terminal itself: the client passes keys on unchanged and gets their echo back. */
  hasPty: z.boolean(),
  /** The request's `env` is the whole environment: the program inherits nothing from the client. */
  hasWholeEnvironment: z.boolean().exactOptional(),
});
export type HermesTerminalMeta = z.infer<typeof HermesTerminalMeta>;

/** `_meta.hermes` of the response to `terminal/create`: the processes, for the agent to see if they wait for input. */
export const HermesTerminalStarted = z.object({ pid: z.number().int().positive(), marker: z.string().min(1) });
export type HermesTerminalStarted = z.infer<typeof HermesTerminalStarted>;

export const HermesTerminalInput = z.object({ sessionId: z.string(), terminalId: z.string(), text: z.string() });
export type HermesTerminalInput = z.infer<typeof HermesTerminalInput>;

const inputResult = z.object({ reason: z.string().exactOptional() });

export const terminalMethods = {
  /** Agent → client: type into a terminal. The response's `reason` says why it was not possible. */
  input: { name: "_hermes/terminal/input", params: HermesTerminalInput, result: inputResult },
};

/** `command`: command line of the program that asks. `isRetry`: it refused the last password. */
const passwordParams = inSession.extend({ prompt: z.string(), command: z.string(), isRetry: z.boolean() });

/** Agent → client: a command waits for a password. Only where `passwords` is declared. Null: the user gives none. */
export const passwordMethod = {
  name: "_hermes/terminal/password",
  params: passwordParams,
  result: z.object({ password: z.string().nullable() }),
};
export type HermesPasswordQuestion = z.infer<typeof passwordParams>;
