/** Layout of a graph of tasks: a layer for each depth, from the top down, with the dependencies as lines between them. */

/** Distance between the centres of neighbouring nodes. Pixels. */
export type Spacing = { readonly across: number; readonly down: number };

export type Point = { readonly x: number; readonly y: number };

export type GraphLayout = {
  /** In the order of the tasks. */
  readonly nodes: readonly ({ readonly id: string } & Point)[];
  /** Points of a line lie one layer apart, from the dependency to the dependent. */
  readonly edges: readonly { readonly from: string; readonly to: string; readonly points: readonly Point[] }[];
  readonly width: number;
  readonly height: number;
};

export type GraphTask = { readonly id: string; readonly dependsOn: readonly string[] };

/** A place in a layer: a task, or a line that passes the layer. */
type Place = { readonly above: readonly Place[]; index: number };

type Line = { readonly from: string; readonly to: string; readonly places: readonly Place[] };

/** Tasks without a path between them share layers. Unknown dependencies are ignored. */
export function layOutGraph(tasks: readonly GraphTask[], { across, down }: Spacing): GraphLayout {
  const { layers, placeOf, lines } = placesOf(tasks);
  for (const layer of layers) orderByParents(layer);
  const widest = Math.max(0, ...layers.map(({ length }) => length));
  const points = new Map<Place | undefined, Point>();
  for (const [depth, layer] of layers.entries()) {
    const margin = (widest - layer.length) / 2;
    for (const place of layer) points.set(place, { x: (margin + place.index + 0.5) * across, y: (depth + 0.5) * down });
  }
  const pointOf = (place: Place | undefined): Point => points.get(place) ?? { x: 0, y: 0 };
  return {
    nodes: tasks.map(({ id }) => ({ id, ...pointOf(placeOf.get(id)) })),
    edges: lines.map(({ from, to, places }) => ({ from, to, points: places.map(pointOf) })),
    width: widest * across,
    height: layers.length * down,
  };
}

/** The layers from the top down, with a place for each task and for each line that passes the layer. */
function placesOf(tasks: readonly GraphTask[]) {
  const depths = depthsOf(tasks);
  const depthOf = (id: string): number => depths.get(id) ?? 0;
  const layers = Array.from({ length: Math.max(-1, ...depths.values()) + 1 }, (): Place[] => []);
  const placeOf = new Map<string, Place>();
  const lines: Line[] = [];
  const add = (depth: number, above: readonly Place[]): Place => {
    const place = { above, index: layers[depth]?.length ?? 0 };
    layers[depth]?.push(place);
    return place;
  };
  for (const { id, dependsOn } of tasks.toSorted((one, other) => depthOf(one.id) - depthOf(other.id))) {
    const arriving = [...new Set(dependsOn)].flatMap((from): Line[] => {
      const start = placeOf.get(from);
      if (start === undefined) return [];
      const places = [start];
      for (let depth = depthOf(from) + 1; depth < depthOf(id); depth += 1) places.push(add(depth, places.slice(-1)));
      return [{ from, to: id, places }];
    });
    const place = add(
      depthOf(id),
      arriving.flatMap(({ places }) => places.slice(-1)),
    );
    placeOf.set(id, place);
    lines.push(...arriving.map((line) => ({ ...line, places: [...line.places, place] })));
  }
  return { layers, placeOf, lines };
}

/** Length of the longest path of dependencies to each task. A cycle, which no agent accepts, ends at its first task. */
function depthsOf(tasks: readonly GraphTask[]): ReadonlyMap<string, number> {
  const known = new Map(tasks.map((task) => [task.id, task]));
  const depths = new Map<string, number>();
  const visit = ({ id, dependsOn }: GraphTask): number => {
    const depth = depths.get(id);
    if (depth !== undefined) return depth;
    depths.set(id, 0);
    const parents = dependsOn.flatMap((other) => known.get(other) ?? []);
    const found = Math.max(-1, ...parents.map(visit)) + 1;
    depths.set(id, found);
    return found;
  };
  for (const task of tasks) visit(task);
  return depths;
}

/** Sorts a layer by the mean place of what is above each place, so that fewer lines cross. */
function orderByParents(layer: Place[]): void {
  const wanted = new Map(
    layer.map((place) => {
      const { above, index } = place;
      return [place, above.length === 0 ? index : above.reduce((sum, one) => sum + one.index, 0) / above.length];
    }),
  );
  layer.sort((one, other) => (wanted.get(one) ?? 0) - (wanted.get(other) ?? 0));
  for (const [index, place] of layer.entries()) place.index = index;
}
