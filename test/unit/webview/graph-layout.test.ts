import { describe, expect, test } from "vitest";
import { type GraphTask, layOutGraph } from "../../../webview/views/delegation/graph-layout.ts";

const SPACING = { across: 10, down: 20 };

/** `b: "a"` means that b depends on a. */
const graph = (dependencies: Readonly<Record<string, string>>): readonly GraphTask[] =>
  Object.entries(dependencies).map(([id, after]) => ({ id, dependsOn: after === "" ? [] : after.split(" ") }));

const layersOf = (tasks: readonly GraphTask[]): readonly string[] => {
  const layers: string[] = [];
  const inOrder = layOutGraph(tasks, SPACING).nodes.toSorted((one, other) => one.x - other.x);
  for (const { id, y } of inOrder) {
    const depth = Math.floor(y / SPACING.down);
    layers[depth] = `${layers[depth] ?? ""}${id}`;
  }
  return layers;
};

describe("the layout of a graph of tasks", () => {
  test("places each task one layer below the deepest of its dependencies", () => {
    expect(layersOf(graph({ a: "", b: "a", c: "a", d: "b c", e: "a d" }))).toEqual(["a", "bc", "d", "e"]);
  });

  test("does not depend on the order of the call", () => {
    expect(layersOf(graph({ d: "b c", c: "a", b: "a", a: "" }))[0]).toBe("a");
  });

  test("orders a layer like the layer above it", () => {
    expect(layersOf(graph({ a: "", b: "", c: "", x: "c", y: "b", z: "a" }))).toEqual(["abc", "zyx"]);
  });

  test("leads a long line through a free place of each layer", () => {
    const { nodes, edges } = layOutGraph(graph({ a: "", b: "a", c: "b", d: "a c" }), SPACING);
    const long = edges.find(({ from, to }) => from === "a" && to === "d");
    expect(long?.points.map(({ y }) => y)).toEqual([10, 30, 50, 70]);
    const taken = new Set(nodes.map(({ x, y }) => `${x},${y}`));
    expect(long?.points.slice(1, -1).filter(({ x, y }) => taken.has(`${x},${y}`))).toEqual([]);
  });

  test("centres each layer, and gives the size of all", () => {
    const { nodes, width, height } = layOutGraph(graph({ a: "", b: "a", c: "a", d: "a", e: "b c d" }), SPACING);
    expect([width, height]).toEqual([30, 60]);
    expect(nodes.map(({ x }) => x)).toEqual([15, 5, 15, 25, 15]);
  });

  test("ignores a dependency that it does not know, and ends a cycle", () => {
    const { nodes, edges } = layOutGraph(graph({ a: "b nobody", b: "a" }), SPACING);
    expect(nodes).toHaveLength(2);
    expect(edges.every(({ points }) => points.length >= 2)).toBe(true);
  });

  test("has a layer for each task of a long chain", () => {
    const chain = Array.from({ length: 100 }, (_, index) => ({
      id: `t${index}`,
      dependsOn: [1, 2, 7].map((step) => `t${index - step}`),
    }));
    const { nodes, height } = layOutGraph(chain, SPACING);
    expect(nodes).toHaveLength(100);
    expect(height).toBe(2_000);
  });
});
