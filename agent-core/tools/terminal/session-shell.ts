/** The session's shell as the next command finds it: folder and exported variables outlive a command. */
import type { ShellState } from "../../host/terminals/terminals.ts";

export class SessionShell {
  #first: string;
  #state: ShellState;

  /** `folder` is where the session starts. */
  constructor(folder: string) {
    this.#first = folder;
    this.#state = { folder, variables: undefined };
  }

  /** Commands start in this folder: it was not known before the place where they run was reached. */
  begin(folder: string): void {
    this.#first = folder;
    this.#state = { ...this.#state, folder };
  }

  get folder(): string {
    return this.#state.folder;
  }

  /** As the next command finds it when it starts in `folder`. */
  stateIn(folder: string): ShellState {
    return { ...this.#state, folder };
  }

  /**
   * Takes over what a command that began with `before` changed; of commands that ran together each one's own changes.
   * Gives the folder when it is another one now.
   */
  adopt(before: ShellState, after: ShellState): string | undefined {
    const moved = after.folder !== before.folder && after.folder !== this.#state.folder;
    this.#state = {
      folder: after.folder === before.folder ? this.#state.folder : after.folder,
      variables: after.variables === before.variables ? this.#state.variables : after.variables,
      confined: after.confined === before.confined ? this.#state.confined : after.confined,
    };
    return moved ? after.folder : undefined;
  }

  /** Back to where the session started, for a folder that is gone. */
  reset(): string {
    this.#state = { ...this.#state, folder: this.#first };
    return this.#first;
  }
}
