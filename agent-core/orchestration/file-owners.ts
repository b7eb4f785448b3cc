/**
 * Owners of the files that the sub-agents of a session write: the first writer of a path owns it until its task ends. Other
 * tasks are refused by their host and by their policy.
 */
import { homedir } from "node:os";
import type { CommandScope } from "../approval/command-scope.ts";
import type { Effect } from "../approval/decision.ts";
import type { Host } from "../host/host.ts";
import { resolvePath } from "../platform/paths.ts";

/** Identity of a task in its session. */
export type TaskKey = { readonly callId: string; readonly taskId: string };

export class FileOwners {
  readonly #owners = new Map<string, TaskKey>();

  /**
   * Makes the task the owner of a file unless another one is. Returns the reason, in a sentence, when another one is.
   * `path`: real and absolute.
   */
  claim(path: string, task: TaskKey): string | undefined {
    const refusal = this.refusal(path, task);
    if (refusal === undefined && !this.#owners.has(path)) this.#owners.set(path, task);
    return refusal;
  }

  /** Reason why the task must not write the file, in a sentence. A task may write the files of the task that delegated it. */
  refusal(path: string, task: TaskKey): string | undefined {
    const owner = this.#owners.get(path);
    if (owner === undefined || isSame(owner, task) || isWithin(task, owner)) return undefined;
    const name = JSON.stringify(owner.taskId);
    return `${path} belongs to the task ${name}, which has written it and still runs. Leave the file to it, and say in your answer what should change in it.`;
  }

  /** True for a file that the task has written. `path`: real and absolute. */
  isOwner(path: string, task: TaskKey): boolean {
    const owner = this.#owners.get(path);
    return owner !== undefined && isSame(owner, task);
  }

  /** Frees the files of a task that has ended. */
  release(task: TaskKey): void {
    for (const [path, owner] of this.#owners) if (isSame(owner, task)) this.#owners.delete(path);
  }
}

/** A task, and the owners of the files of all tasks of its session. */
export type Ownership = { readonly owners: FileOwners; readonly task: TaskKey };

/** Writes of one task, in the parent's terminals and files. The parent disposes of the terminals. */
export function ownedHost(host: Host, { owners, task }: Ownership): Host {
  const refused = (path: string) => {
    const message = owners.claim(resolvePath(path), task);
    return message === undefined ? undefined : ({ ok: false, reason: "denied", message } as const);
  };
  return {
    ...host,
    files: {
      ...host.files,
      guardedWrite: async (write, signal) => refused(write.path) ?? host.files.guardedWrite(write, signal),
      rename: async (move, signal) => refused(move.from) ?? refused(move.to) ?? host.files.rename(move, signal),
    },
    terminals: { ...host.terminals, dispose: () => Promise.resolve() },
  };
}

type Denial = { readonly kind: "deny"; readonly text: string };
type Decide<Decision> = (effect: Effect) => Promise<Decision | Denial>;

/** Decides as `decide`, but also denies writes to files of other tasks. */
export function ownedDecide<Decision extends { readonly kind: string }>(
  decide: Decide<Decision>,
  { owners, task }: Ownership,
  scope: Pick<CommandScope, "roots" | "hermesHome" | "language">,
): Decide<Decision> {
  return async (effect) => {
    const decision = await decide(effect);
    if (decision.kind === "deny") return decision;
    const paths = (await writtenBy(effect, scope)).filter((path) => path !== "");
    const refusal = paths.map((path) => owners.refusal(path, task)).find((reason) => reason !== undefined);
    if (refusal !== undefined) return { kind: "deny", text: refusal };
    if (effect.kind === "command") for (const path of paths) owners.claim(path, task);
    return decision;
  };
}

async function writtenBy(
  effect: Effect,
  scope: Pick<CommandScope, "roots" | "hermesHome" | "language">,
): Promise<readonly string[]> {
  if (effect.kind === "edit") return effect.paths.map(resolvePath);
  if (effect.kind !== "command") return [];
  const { judgeCommand } = await import("../approval/command-verdict.ts");
  return [...judgeCommand(effect.command, { ...scope, cwd: effect.cwd, home: homedir(), resolvePath }).writes];
}

/** The ids of nested calls begin with the ids of the call and the task around them. */
function isWithin({ callId }: TaskKey, outer: TaskKey): boolean {
  return callId.startsWith(`${outer.callId}/${outer.taskId}/`);
}

function isSame(one: TaskKey, other: TaskKey): boolean {
  return one.callId === other.callId && one.taskId === other.taskId;
}
