/** Command of the agent in a terminal of VS Code: its request, and its control while it runs. */
import { type CreateTerminalRequest, RequestError } from "@zed-industries/agent-client-protocol";
import type * as vscode from "vscode";
import type { ProcessTree } from "../../agent-core/platform/children/process-tree.ts";
import type { ChildExit } from "../../agent-core/platform/children/start-child.ts";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { readMeta } from "../../agent-core/protocol/method.ts";
import { HermesTerminalMeta } from "../../agent-core/protocol/processes.ts";
import type { OutputRing } from "./output-ring.ts";

export type ShownCommand = {
  readonly terminal: vscode.Terminal;
  readonly tree: ProcessTree;
  /** Settles after the exit, once all output is stored; rejects when storing it failed. */
  readonly exit: Promise<ChildExit>;
  /** Types text where the user sees it; gives the reason when that fails. */
  type(text: string): Promise<string | undefined>;
  /** Ends the process tree; resolves when it is gone. */
  kill(): Promise<void>;
  /** Closes a terminal that is no longer needed. */
  discard(): void;
};

/** Receivers of the output, in addition to the agent's file. */
export type CommandSink = {
  readonly ring: OutputRing;
  show(text: string): void;
};

/** The agent's own details of a terminal; without `outputFile` the output is not stored. */
export type TerminalRequest = Omit<HermesTerminalMeta, "outputFile"> & Partial<Pick<HermesTerminalMeta, "outputFile">>;

export function terminalRequest(request: CreateTerminalRequest): TerminalRequest {
  const ours = readMeta(HermesTerminalMeta, request._meta);
  return ours ?? { title: commandLine(request), input: "none", hasPty: false };
}

/** Command line for the user: of `sh -c LINE`, the line. */
function commandLine({ command, args = [] }: CreateTerminalRequest): string {
  return args[0] === "-c" && args.length === 2 ? (args[1] ?? command) : [command, ...args].join(" ");
}

/** Rejects with the message of the error, where the protocol would say "internal error". */
export function refuse(error: unknown): never {
  throw RequestError.internalError(undefined, messageOf(error));
}
