/** What the agent says of a terminal beyond the protocol (agent-core/protocol/terminals.ts, HermesTerminalMeta). */
import type { CreateTerminalRequest } from "@zed-industries/agent-client-protocol";
import { readMeta } from "../../agent-core/protocol/meta.ts";
import { HermesTerminalMeta, type HermesUserShell } from "../../agent-core/protocol/terminals.ts";

export type TerminalRequest = {
  /** File for every byte of output; undefined: nobody asked for one. */
  readonly outputFile: string | undefined;
  /** The command as the user knows it. */
  readonly title: string;
  readonly input: "none" | "open";
  /** The program opens a pseudo-terminal itself. */
  readonly hasPty: boolean;
  /** What a shell of the user would be given to carry it out; undefined where none can. */
  readonly userShell: HermesUserShell | undefined;
};

export function terminalRequest(request: CreateTerminalRequest): TerminalRequest {
  const ours = readMeta(HermesTerminalMeta, request._meta);
  if (ours !== undefined) return { ...ours, userShell: ours.userShell };
  return { outputFile: undefined, title: commandLine(request), input: "none", hasPty: false, userShell: undefined };
}

/** A shell's own line is what the user knows the command by. */
function commandLine({ command, args = [] }: CreateTerminalRequest): string {
  return args[0] === "-c" && args.length === 2 ? (args[1] ?? command) : [command, ...args].join(" ");
}
