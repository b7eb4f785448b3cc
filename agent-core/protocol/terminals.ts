/** Commands in the client's terminals. Only where `terminals` is declared. */
import * as z from "zod";

export const HermesUserShell = z.object({
  /** Command line to type, judged by the approval policy in this language. */
  line: z.string(),
  language: z.enum(["sh", "powershell"]),
  /** Variables for that shell; null unsets one. */
  env: z.record(z.string(), z.string().nullable()),
});
export type HermesUserShell = z.infer<typeof HermesUserShell>;

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
  /** Form of the command for the user's own shell; missing for another machine or the sandbox. */
  userShell: HermesUserShell.exactOptional(),
});
export type HermesTerminalMeta = z.infer<typeof HermesTerminalMeta>;

/** `_meta.hermes` of the response to `terminal/create`: the processes, for the agent to see if they wait for input. */
export const HermesTerminalStarted = z.object({ pid: z.number().int().positive(), marker: z.string().min(1) });
export type HermesTerminalStarted = z.infer<typeof HermesTerminalStarted>;

/** `_meta.hermes` of the response to `terminal/wait_for_exit`: absolute folder of a shell that outlives the command. */
export const HermesTerminalEnded = z.object({ folder: z.string() });
export type HermesTerminalEnded = z.infer<typeof HermesTerminalEnded>;

export const HermesTerminalInput = z.object({ sessionId: z.string(), terminalId: z.string(), text: z.string() });
export type HermesTerminalInput = z.infer<typeof HermesTerminalInput>;

const inputResult = z.object({ reason: z.string().exactOptional() });

export const terminalMethods = {
  /** Agent → client: type into a terminal. The response's `reason` says why it was not possible. */
  input: { name: "_hermes/terminal/input", params: HermesTerminalInput, result: inputResult },
};
