/** Tasks of a delegation as a graph: their check before anything starts, and the order in which they run. Pure. */
import type { HermesTask } from "../protocol/delegation.ts";

/** Maximum number of tasks of one call. A larger job needs several calls, or tasks that delegate. */
export const MAX_TASKS = 100;

export type TaskSpec = {
  /** Unique in its call. */
  readonly id: string;
  readonly goal: string;
  readonly context: string | undefined;
  /** Toolsets or names of tools; undefined: all that a sub-agent may have. */
  readonly toolsets: readonly string[] | undefined;
  readonly dependsOn: readonly string[];
  /** JSON Schema of the answer. */
  readonly resultSchema: Readonly<Record<string, unknown>> | undefined;
  /** Rubric of the evaluation: `code`, `research`, `writing`, `data` or another word. */
  readonly taskType: string | undefined;
  readonly timeoutSeconds: number | undefined;
  /** Name, or `provider:name`. */
  readonly model: string | undefined;
  /** Name of the custom agent that does the task; default: none. */
  readonly agent?: string | undefined;
  /** Instructions of that agent. */
  readonly role?: string | undefined;
  /** Files that the task will write, relative to the working folder or absolute. */
  readonly files: readonly string[];
};

/** Id of the task at `index` of a call, which may name none. */
export function taskId(given: string | undefined, index: number): string {
  return given ?? `task-${index + 1}`;
}

/** Problems of the graph itself, one sentence each; empty for a valid one. */
export function graphProblems(tasks: readonly TaskSpec[]): readonly string[] {
  if (tasks.length === 0) return ["There is no task. Give a goal, or tasks."];
  if (tasks.length > MAX_TASKS) {
    return [`There are ${tasks.length} tasks; one call takes at most ${MAX_TASKS}. Split the job into several calls.`];
  }
  const doubled = tasks.filter(({ id }, index) => tasks.findIndex((task) => task.id === id) < index);
  if (doubled.length > 0) return [`Several tasks have the id ${quoted(doubled)}. Give each task its own.`];
  const ids = new Set(tasks.map(({ id }) => id));
  const unknown = tasks.flatMap(({ id, dependsOn }) =>
    dependsOn
      .filter((other) => !ids.has(other))
      .map((other) => `${JSON.stringify(id)} depends on ${JSON.stringify(other)}, which is not a task.`),
  );
  if (unknown.length > 0) return unknown;
  const cycle = findCycle(tasks);
  if (cycle !== undefined) return [`The tasks depend on each other in a circle: ${cycle.join(" → ")}.`];
  return sharedFiles(tasks);
}

function quoted(tasks: readonly TaskSpec[]): string {
  return [...new Set(tasks.map(({ id }) => JSON.stringify(id)))].join(", ");
}

/** Ids of a circle, the first one again at its end. */
function findCycle(tasks: readonly TaskSpec[]): readonly string[] | undefined {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const done = new Set<string>();
  const visit = (id: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    if (done.has(id)) return undefined;
    done.add(id);
    for (const other of byId.get(id)?.dependsOn ?? []) {
      const cycle = visit(other, [...path, id]);
      if (cycle !== undefined) return cycle;
    }
    return undefined;
  };
  return tasks.map(({ id }) => visit(id, [])).find((cycle) => cycle !== undefined);
}

/** Two tasks that may run at the same time must not declare the same file. */
function sharedFiles(tasks: readonly TaskSpec[]): readonly string[] {
  const before = ancestors(tasks);
  const inOrder = (one: string, other: string): boolean =>
    before.get(one)?.has(other) === true || before.get(other)?.has(one) === true;
  return tasks.flatMap((task, index) =>
    tasks.slice(0, index).flatMap((earlier) =>
      task.files
        .filter((file) => earlier.files.includes(file) && !inOrder(task.id, earlier.id))
        .map((file) => {
          const both = `${JSON.stringify(earlier.id)} and ${JSON.stringify(task.id)}`;
          return `${both} both write ${file}. Let one depend on the other, or give the file to one of them.`;
        }),
    ),
  );
}

/** All tasks that each task waits for, at any distance. The graph has no circle. */
function ancestors(tasks: readonly TaskSpec[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const found = new Map<string, ReadonlySet<string>>();
  const of = (id: string): ReadonlySet<string> => {
    const known = found.get(id);
    if (known !== undefined) return known;
    const own = byId.get(id)?.dependsOn ?? [];
    const all = new Set([...own, ...own.flatMap((other) => [...of(other)])]);
    found.set(id, all);
    return all;
  };
  for (const { id } of tasks) of(id);
  return found;
}

/** State in which a task stays. */
export type EndStatus = Exclude<HermesTask["status"], "waiting" | "running" | "checking">;

type TaskState = { readonly status: "waiting" | "running" | EndStatus; readonly reason?: string };

/** States by id, in the order of the call. */
export type GraphState = ReadonlyMap<string, TaskState>;

export type GraphEvent =
  | { readonly type: "started"; readonly id: string }
  | { readonly type: "ended"; readonly id: string; readonly status: EndStatus; readonly reason?: string };

export function initialState(tasks: readonly TaskSpec[]): GraphState {
  return new Map(tasks.map(({ id }) => [id, { status: "waiting" }]));
}

/** Applies an event. The end of a task without a result skips all that wait for it. */
export function reduceGraph(state: GraphState, event: GraphEvent, tasks: readonly TaskSpec[]): GraphState {
  const next = new Map(state);
  if (event.type === "started") return next.set(event.id, { status: "running" });
  const { id, status, reason } = event;
  next.set(id, { status, ...(reason !== undefined && { reason }) });
  for (const [skipped, why] of skippedBy(next, tasks)) next.set(skipped, { status: "skipped", reason: why });
  return next;
}

/** Waiting tasks whose dependencies have results, in the order of the call. */
export function startable(state: GraphState, tasks: readonly TaskSpec[]): readonly TaskSpec[] {
  return tasks.filter(
    ({ id, dependsOn }) =>
      state.get(id)?.status === "waiting" && dependsOn.every((other) => hasResult(state.get(other)?.status)),
  );
}

/** Dependants of a partial task run, and their prompts say that it is partial. */
function hasResult(status: TaskState["status"] | undefined): boolean {
  return status === "completed" || status === "partial";
}

function skippedBy(state: GraphState, tasks: readonly TaskSpec[]): ReadonlyMap<string, string> {
  const skipped = new Map<string, string>();
  let before = -1;
  while (skipped.size > before) {
    before = skipped.size;
    for (const { id, dependsOn } of tasks) {
      if (state.get(id)?.status !== "waiting" || skipped.has(id)) continue;
      const why = dependsOn.map((other) => whyNoResult(other, state, skipped)).find((reason) => reason !== undefined);
      if (why !== undefined) skipped.set(id, why);
    }
  }
  return skipped;
}

const ENDINGS: Readonly<Record<"failed" | "timeout" | "skipped" | "cancelled", string>> = {
  failed: "failed",
  timeout: "ran out of time",
  skipped: "was skipped",
  cancelled: "was stopped",
};

/** Undefined for a dependency that has a result, or may get one. */
function whyNoResult(id: string, state: GraphState, skipped: ReadonlyMap<string, string>): string | undefined {
  const { status, reason }: TaskState = skipped.has(id)
    ? { status: "skipped", reason: skipped.get(id) ?? "" }
    : (state.get(id) ?? { status: "waiting" });
  if (status === "waiting" || status === "running" || hasResult(status)) return undefined;
  const ending = ENDINGS[status as keyof typeof ENDINGS];
  return `It depends on ${JSON.stringify(id)}, which ${ending}${reason ? `: ${reason}` : "."}`;
}
