/** Tool calls that are parts of another call: those of a script, and those of each task of a delegation. */
import type { TaskRef } from "./delegation.ts";
import type { CallParent, NestedCalls, ToolEntry } from "./state.ts";
import { indexOfCall, ownCopy, withChanged, withEntry } from "./transcript.ts";

const NONE: readonly ToolEntry[] = [];

/** Parts of a script, or of a task of a delegation. */
export function partsOf({ groups }: NestedCalls, parent: CallParent): readonly ToolEntry[] {
  return groups.get(keyOf(parent)) ?? NONE;
}

export function findNested({ groups, parents }: NestedCalls, callId: string): ToolEntry | undefined {
  const parent = parents.get(callId);
  const group = parent && groups.get(keyOf(parent));
  const index = group && indexOfCall(group, callId);
  return index === undefined ? undefined : group?.[index];
}

/** Adds a call, or replaces the one with its id. Within a batch its cost does not grow with the number of calls. */
export function withNested(nested: NestedCalls, parent: CallParent, call: ToolEntry): NestedCalls {
  const groups = ownCopy(nested.groups, (shared) => new Map(shared));
  const group = groups.get(keyOf(parent)) ?? [];
  const index = indexOfCall(group, call.id);
  groups.set(keyOf(parent), index === undefined ? withEntry(group, call) : withChanged(group, index, call));
  if (nested.parents.has(call.id)) return { ...nested, groups };
  const parents = ownCopy(nested.parents, (shared) => new Map(shared));
  parents.set(call.id, parent);
  return { groups, parents };
}

/** All calls after `change`. Groups without a changed call keep their object. */
export function mapNested(nested: NestedCalls, change: (call: ToolEntry) => ToolEntry): NestedCalls {
  let groups: Map<string, readonly ToolEntry[]> | undefined;
  for (const [key, group] of nested.groups) {
    const next = group.map(change);
    if (next.every((call, index) => call === group[index])) continue;
    groups ??= new Map(nested.groups);
    groups.set(key, next);
  }
  return groups === undefined ? nested : { ...nested, groups };
}

export function joinNested(first: NestedCalls, second: NestedCalls): NestedCalls {
  if (first.groups.size === 0) return second;
  return {
    groups: new Map([...first.groups, ...second.groups]),
    parents: new Map([...first.parents, ...second.parents]),
  };
}

/** Limit of levels: a script of a sub-agent's sub-agent is on the fourth. */
const MAX_LEVELS = 8;

/** Task that a call belongs to, also as a part of a script of that task. */
export function taskOfCall({ parents }: NestedCalls, callId: string): TaskRef | undefined {
  let parent = parents.get(callId);
  for (let level = 0; parent !== undefined && level < MAX_LEVELS; level += 1) {
    if (parent.taskId !== undefined) return { callId: parent.callId, taskId: parent.taskId };
    parent = parents.get(parent.callId);
  }
  return undefined;
}

/** A call's id has no line break. */
function keyOf({ callId, taskId }: CallParent): string {
  return taskId === undefined ? callId : `${callId}\n${taskId}`;
}
