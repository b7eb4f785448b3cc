/** Where commands run. A backend says which program of this machine carries a command out; a runner starts that. */
import type { Launch } from "./runner.ts";
import type { CommandRequest, ShellState } from "./terminals.ts";

/** A command made ready to start. */
export type Plan = {
  readonly launch: Launch;
  /** The shell as the command left it; asked once, after its end. */
  shellAfter(): Promise<ShellState | undefined>;
  /** Files that its shell reads and folders that it writes to, besides what the command itself does. Absolute. */
  readonly shellFiles?: { readonly read: readonly string[]; readonly written: readonly string[] };
  /** Looks through what it did, after its end; gives a sentence for people and the model for each thing put right. */
  readonly inspect?: () => Promise<readonly string[]>;
  /** Ends what the launched program's end does not; undefined when there is nothing of the kind. */
  readonly killElsewhere: (() => Promise<void>) | undefined;
};

export type Backend = {
  /** See `HostTerminals.place`. */
  readonly place: string | undefined;
  /** See `HostTerminals.sandboxes`. */
  readonly sandboxes?: boolean;
  /** See `HostTerminals.open`. */
  open(cwd: string, signal: AbortSignal): Promise<string>;
  /** `givesPty`: whatever starts it does so on a pseudo-terminal. Rejects with a sentence for people. */
  plan(request: CommandRequest, givesPty: boolean, signal: AbortSignal): Promise<Plan>;
  /** After every command has ended. */
  dispose(): Promise<void>;
};
