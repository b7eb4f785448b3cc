/** Worktree of a session, which its first task may make. Commands, and messages that the user did not type, make none. */
import { existsSync } from "node:fs";
import { join, sep } from "node:path";
import { RequestError, type SessionUpdate } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { pathBelow, resolvePath } from "../../agent-core/platform/paths.ts";
import type { HermesFaultData } from "../../agent-core/protocol/conversation.ts";
import { commandIn } from "../../agent-core/protocol/conversation.ts";
import type { HermesOpenedMeta } from "../../agent-core/protocol/sessions.ts";
import { updateMeta } from "../../agent-core/protocol/update-meta.ts";
import { type MadeWorktree, WORKTREES } from "../../agent-core/protocol/worktrees.ts";
import type { EventLog } from "./event-log.ts";
import type { Turn } from "./session-state.ts";

type Wanted = { readonly cwd: string; readonly name: string };

/** Makes a worktree of the repository around `cwd`; the signal discards it. Rejects with an Error in one line. */
export type MakeWorktree = (wanted: Wanted, signal: AbortSignal) => Promise<MadeWorktree>;

export class SessionWorktree {
  isWanted: boolean = false;
  /** The session's only folder. Undefined: those of the window. */
  folder: string | undefined;
  readonly #make: MakeWorktree;
  #isTask: boolean = false;
  /** Names of the agent's commands; undefined until it has sent them. */
  #commands: readonly string[] | undefined;
  #started = new AbortController();

  constructor(make: MakeWorktree) {
    this.#make = make;
  }

  opened(opened: HermesOpenedMeta | undefined): void {
    this.isWanted = opened?.startsInWorktree === true;
    this.folder = opened?.worktree ?? this.folder;
  }

  receive(update: SessionUpdate): void {
    if (update.sessionUpdate === "available_commands_update")
      this.#commands = update.availableCommands.map(({ name }) => name);
    // A conversation stays where it has begun.
    if (updateMeta(update._meta).position !== undefined) this.isWanted = false;
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

  /** Resolves to problems of its set-up, one line each. */
  async make(cwd: string, task: string): Promise<MadeWorktree["problems"]> {
    this.#started = new AbortController();
    const name = /[\p{L}\p{N}]/u.test(task) ? task : "session";
    const { path, base, problems } = await this.#make({ cwd, name }, this.#started.signal);
    this.isWanted = false;
    this.folder = join(path, pathBelow(resolvePath(base), resolvePath(cwd)) ?? "");
    return problems;
  }

  /** Throws for a folder that is gone: its files would be made again. */
  check(): void {
    if (this.folder === undefined || existsSync(this.folder)) return;
    const text = vscode.l10n.t("The folder of this session is gone: {0}", nameOf(this.folder));
    throw new RequestError(-32603, text, { kind: "folder-gone" } satisfies HermesFaultData);
  }

  /** Tells the panel the worktree's name. */
  show(log: Pick<EventLog, "push">): void {
    const [, below] = nameOf(this.folder ?? "").split(WORKTREES + sep);
    const [name = ""] = below?.split(sep) ?? [];
    if (name !== "") log.push({ kind: "worktree", name });
  }

  stop(): void {
    this.#started.abort();
  }
}

/** `shop.worktrees/fix-it`: a narrow panel would break the whole path. */
function nameOf(folder: string): string {
  const at = folder.indexOf(`${WORKTREES}${sep}`);
  return at < 0 ? folder : folder.slice(folder.lastIndexOf(sep, at) + 1);
}
