/** Graph of the tasks of a delegation: a node for each task, and a line for each dependency. */
import { useMemo, useState } from "preact/hooks";
import { visibleText } from "../../../agent-core/platform/visible-text.ts";
import type { HermesTask } from "../../../agent-core/protocol/delegation.ts";
import { taskLooks } from "../../state/delegation.ts";
import { t } from "../../texts.ts";
import { Icon } from "../icon.tsx";
import { type GraphLayout, layOutGraph, type Point } from "./graph-layout.ts";

/** Room for a node with its label, as in delegation.css. Pixels. */
const SPACING = { across: 68, down: 46 };
/** Distance from a node's centre to the ends of its lines. Pixels. */
const NODE_PX = 17;
/** Larger graphs cannot be read. */
const MAX_NODES = 100;

type TaskGraphProps = {
  readonly tasks: readonly HermesTask[];
  /** Leads to the row of a task. */
  readonly onSelect: (taskId: string) => void;
};

/** Nothing without dependencies. */
export function TaskGraph({ tasks, onSelect }: TaskGraphProps) {
  const shape = tasks.map(({ id, dependsOn }) => JSON.stringify([id, dependsOn])).join();
  const layout = useMemo(() => layOutGraph(tasks, SPACING), [shape]);
  const [current, setCurrent] = useState(0);
  if (layout.edges.length === 0 || tasks.length > MAX_NODES) return null;
  const move = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    const nodes = event.currentTarget instanceof HTMLElement ? event.currentTarget.querySelectorAll("button") : [];
    const next = step === undefined ? undefined : nodes[current + step];
    if (step === undefined) return;
    // Else the transcript moves to another entry.
    event.preventDefault();
    next?.focus();
  };
  return (
    <div class="graph-scroll">
      {/* biome-ignore lint/a11y/useSemanticElements: a group of buttons, not of form fields */}
      <div
        class="graph"
        role="group"
        aria-label={t("Graph of the tasks")}
        style={{ width: `${layout.width}px`, height: `${layout.height}px` }}
        onKeyDown={move}
      >
        <Edges layout={layout} tasks={tasks} />
        {layout.nodes.map(({ id, x, y }, index) => (
          <GraphNode
            key={id}
            task={tasks[index]}
            at={{ x, y }}
            isTabStop={index === current}
            onFocus={() => setCurrent(index)}
            onSelect={() => onSelect(id)}
          />
        ))}
      </div>
    </div>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

type GraphNodeProps = {
  readonly task: HermesTask | undefined;
  readonly at: Point;
  readonly isTabStop: boolean;
  readonly onFocus: () => void;
  readonly onSelect: () => void;
};

function GraphNode({ task, at, isTabStop, onFocus, onSelect }: GraphNodeProps) {
  if (task === undefined) return null;
  const { icon, word } = taskLooks[task.status];
  const goal = visibleText(task.goal);
  return (
    <button
      type="button"
      class={`graph-node task-${task.status}`}
      tabIndex={isTabStop ? 0 : -1}
      style={{ left: `${at.x}px`, top: `${at.y}px` }}
      title={`${goal}: ${word}`}
      aria-label={t("Show {0}: {1}", goal, word)}
      onFocus={onFocus}
      onClick={onSelect}
    >
      <Icon name={icon} spin={task.status === "running"} />
      <span class="graph-label">{visibleText(task.id)}</span>
    </button>
  );
}

function Edges({ layout, tasks }: { readonly layout: GraphLayout; readonly tasks: readonly HermesTask[] }) {
  const completed = new Set(tasks.filter(({ status }) => status === "completed").map(({ id }) => id));
  return (
    <svg class="graph-edges" width={layout.width} height={layout.height} aria-hidden="true">
      {layout.edges.map(({ from, to, points }) => (
        <path
          key={`${from} ${to}`}
          class={completed.has(from) ? "graph-edge graph-edge-done" : "graph-edge"}
          d={curve(points)}
        />
      ))}
    </svg>
  );
}

/** A smooth line from the lower side of the first point's node to the upper side of the last one's. */
function curve(points: readonly Point[]): string {
  return points.slice(1).reduce(({ path, from }, to, index) => {
    const isLast = index === points.length - 2;
    const end = isLast ? { x: to.x, y: to.y - NODE_PX } : to;
    const middle = (from.y + end.y) / 2;
    return { path: `${path}C${from.x} ${middle} ${end.x} ${middle} ${end.x} ${end.y}`, from: end };
  }, startOf(points)).path;
}

function startOf([first = { x: 0, y: 0 }]: readonly Point[]): { readonly path: string; readonly from: Point } {
  const from = { x: first.x, y: first.y + NODE_PX };
  return { path: `M${from.x} ${from.y}`, from };
}
