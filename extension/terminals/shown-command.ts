/** A command of the agent that a terminal of VS Code shows, whichever way it runs. */
import type * as vscode from "vscode";
import type { ProcessTree } from "../../agent-core/platform/children/process-tree.ts";
import type { ChildExit } from "../../agent-core/platform/children/start-child.ts";
import type { OutputRing } from "./output-ring.ts";

export type ShownCommand = {
  readonly terminal: vscode.Terminal;
  /** Undefined when its processes cannot be told from others. */
  readonly tree: ProcessTree | undefined;
  /** Settles when it has ended and its output is all there; rejects when that could not be kept. */
  readonly exit: Promise<ShownExit>;
  /** Types for the agent, where the user sees it; gives why not when that cannot be done. */
  type(text: string): Promise<string | undefined>;
  /** Ends it with all it started; resolves when that is gone. */
  kill(): Promise<void>;
  /** Nobody needs what it showed any more. */
  discard(): void;
};

/** `folder` is where a shell that outlives the command stands now. */
export type ShownExit = ChildExit & { readonly folder?: string | undefined };

/** Where its output goes, besides the file that the agent named. */
export type CommandSink = {
  readonly ring: OutputRing;
  /** What the panel shows. */
  show(text: string): void;
};
