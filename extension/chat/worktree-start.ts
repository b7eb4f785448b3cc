/** Start of a session in a worktree: its first task makes one. Commands, and messages that the user did not type, do not. */
import { join } from "node:path";
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { pathBelow } from "../../agent-core/platform/paths.ts";
import { commandIn, HermesMessageMeta } from "../../agent-core/protocol/conversation.ts";
import { readMeta } from "../../agent-core/protocol/method.ts";
import type { MadeWorktree } from "../../agent-core/protocol/worktrees.ts";
import type { Turn } from "./session-state.ts";

type Wanted = { readonly cwd: string; readonly name: string };

/** Makes a worktree of the repository around `cwd`; the signal discards it. Rejects with an Error in one line. */
export type MakeWorktree = (wanted: Wanted, signal: AbortSignal) => Promise<MadeWorktree>;

export class WorktreeStart {
  isWanted: boolean = false;
  readonly #make: MakeWorktree;
  #isTask: boolean = false;
  /** Names of the agent's commands; undefined until it has sent them. */
  #commands: readonly string[] | undefined;
  #started = new AbortController();

  constructor(make: MakeWorktree) {
    this.#make = make;
  }

  receive(update: SessionUpdate): void {
    if (update.sessionUpdate === "available_commands_update")
      this.#commands = update.availableCommands.map(({ name }) => name);
    // A conversation stays where it has begun.
    if (readMeta(HermesMessageMeta, update._meta) !== undefined) this.isWanted = false;
  }

  /** True for a message that the agent takes as a command. */
  isCommand(text: string): boolean {
    const { name, argument } = commandIn(text);
    return name !== undefined && (argument === "" || this.#commands?.includes(name) !== false);
  }

  /** True when the session opens again for the message that starts a turn. */
  begin(isTask: boolean): boolean {
    this.#isTask = isTask;
    return isTask && this.isWanted;
  }

  /** The first task, while it waits for its worktree. */
  taskIn(turn: Turn): string | undefined {
    const isWaiting = turn.kind === "starting" && turn.isStopped !== true;
    return isWaiting && this.#isTask && this.isWanted ? turn.text : undefined;
  }

  /** `folder`: that of the session in the new worktree. */
  async make(cwd: string, task: string): Promise<Pick<MadeWorktree, "problems"> & { readonly folder: string }> {
    this.#started = new AbortController();
    const name = /[\p{L}\p{N}]/u.test(task) ? task : "session";
    const { path, base, problems } = await this.#make({ cwd, name }, this.#started.signal);
    this.isWanted = false;
    return { folder: join(path, pathBelow(base, cwd) ?? ""), problems };
  }

  stop(): void {
    this.#started.abort();
  }
}
