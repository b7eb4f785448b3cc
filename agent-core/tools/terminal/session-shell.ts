/** State of the session's shell between commands: folder and exported variables. */
import type { ShellState } from "../../host/terminals/terminals.ts";

export class SessionShell {
  #first: string;
  #state: ShellState;

  /** `folder` is the folder in which the session starts. */
  constructor(folder: string) {
    this.#first = folder;
    this.#state = { folder, variables: undefined };
  }

  /** Sets the first folder, which is known only after the connection to the remote machine. */
  begin(folder: string): void {
    this.#first = folder;
    this.#state = { ...this.#state, folder };
  }

  get folder(): string {
    return this.#state.folder;
  }

  /** Name of the file with the variables that commands exported; undefined when they changed none. */
  get variables(): string | undefined {
    return this.#state.variables;
  }

  /** State for a command that starts in `folder`. */
  stateIn(folder: string): ShellState {
    return { ...this.#state, folder };
  }

  /**
   * Applies the changes of a command that began with `before`. Commands that ran at the same time each contribute their
   * own changes. Returns the folder when it is another one now.
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

  /** Returns to the first folder, when the present one no longer exists. */
  reset(): string {
    this.#state = { ...this.#state, folder: this.#first };
    return this.#first;
  }
}
