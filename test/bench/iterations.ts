/** Own time between an answer's end and the next request, beside the floor that does the same. */
import { call, type ModelServer, say } from "../support/model-server/model-server.ts";
import { byTurns, median, type Row } from "./measuring.ts";
import { type Programs, withPrograms } from "./programs.ts";

const ITERATIONS = 50;
const MANY = 200;
/** More iterations than are measured. */
const CONFIG = "agent:\n  max_turns: 1000\n";
const ROUNDS = 5;
const MANY_ROUNDS = 3;

export async function measureIterations(): Promise<readonly Row[]> {
  const few = await withPrograms((programs) => gaps(programs, ITERATIONS, ROUNDS), CONFIG);
  const many = await withPrograms((programs) => gaps(programs, MANY, MANY_ROUNDS), CONFIG);
  const gapOf = (runs: readonly (readonly number[])[], part: (gaps: readonly number[]) => readonly number[]) =>
    median(runs.flatMap(part));
  const tenth = MANY / 10;
  const [first, last] = [
    gapOf(many.ours, (run) => run.slice(tenth, 2 * tenth)),
    gapOf(many.ours, (run) => run.slice(-tenth)),
  ];
  const floorFirst = gapOf(many.floor, (run) => run.slice(tenth, 2 * tenth));
  const floorLast = gapOf(many.floor, (run) => run.slice(-tenth));
  return [
    {
      what: `own time an iteration, median of ${ITERATIONS}`,
      ours: gapOf(few.ours, (run) => run),
      floor: gapOf(few.floor, (run) => run),
      ratio: 1.8,
      unit: "ms",
    },
    { what: `the same, last tenth of ${MANY}`, ours: last, floor: floorLast, ratio: 1.8, unit: "ms" },
    {
      what: `growth from the second tenth to the last tenth of ${MANY}`,
      ours: last - first,
      floor: floorLast - floorFirst,
      target: 0.5,
      unit: "ms",
    },
  ];
}

/** Own times of each run, in their order. */
function gaps({ model, file, ours, floor }: Programs, iterations: number, rounds: number) {
  const measured = async (run: () => Promise<unknown>): Promise<readonly number[]> => {
    let asked = 0;
    // A different part of the file each time: the agent stops a call that is repeated over and over.
    model.respondWith(() => {
      asked += 1;
      return asked > iterations ? say("done") : { parts: [call("read_file", { path: file, limit: asked })] };
    });
    await run();
    return gapsOf(model);
  };
  return byTurns(
    rounds,
    () => measured(ours),
    () => measured(floor),
  );
}

/** Times from the moment an answer was written to the arrival of the next request, as the server sees them. */
function gapsOf({ requests }: ModelServer): readonly number[] {
  return requests.slice(1).map(({ at }, index) => at - (requests[index]?.answer.writtenAt ?? at));
}
