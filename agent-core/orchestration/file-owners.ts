/** Owners of the files that the sub-agents of a session write: the first writer of a path owns it until its task ends. */

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

/** The ids of nested calls begin with the ids of the call and the task around them. */
function isWithin({ callId }: TaskKey, outer: TaskKey): boolean {
  return callId.startsWith(`${outer.callId}/${outer.taskId}/`);
}

function isSame(one: TaskKey, other: TaskKey): boolean {
  return one.callId === other.callId && one.taskId === other.taskId;
}
