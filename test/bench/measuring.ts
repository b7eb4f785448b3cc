/** Shared by the measurements: rows, medians, an agent with a model server. */
import { AcpProcess } from "../support/acp-process.ts";
import { type ModelServer, startModelServer } from "../support/model-server/model-server.ts";

export type Row = {
  readonly what: string;
  readonly ours: number;
  readonly floor?: number;
  /** Time on a processor, ours and the floor's, in milliseconds: it hardly depends on the load of the machine. */
  readonly processor?: { readonly ours: number; readonly floor: number };
  /** Largest ratio to the floor; the goal, where it is given. */
  readonly ratio?: number;
  /** Largest value, in `unit`; the goal of a row without `ratio`. */
  readonly target?: number;
  /** Floor that `target` was set beside: their ratio counts on a slower machine. */
  readonly targetFloor?: number;
  readonly unit: string;
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export async function times(count: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < count; round += 1) values.push(await measure());
  return median(values);
}

/**
 * Runs ours and the floor by turns, so that a change of the machine's load concerns both, and gives what each run
 * measured. One run of each before is not counted: it fills the caches.
 */
export async function byTurns<Value>(
  rounds: number,
  ours: () => Promise<Value>,
  floor: () => Promise<Value>,
): Promise<{ readonly ours: readonly Value[]; readonly floor: readonly Value[] }> {
  await ours();
  await floor();
  const runs = { ours: [] as Value[], floor: [] as Value[] };
  for (let round = 0; round < rounds; round += 1) {
    runs.floor.push(await floor());
    runs.ours.push(await ours());
  }
  return runs;
}

/** Environment of an agent whose model is the server. */
export const environmentOf = ({ baseUrl }: ModelServer): Readonly<Record<string, string>> => ({
  HERMES_BASE_URL: baseUrl,
  HERMES_MODEL: "bench",
  HERMES_API_KEY: "sk-bench-123456",
});

export async function withAgent<Value>(
  work: (agent: AcpProcess, model: ModelServer, sessionId: string) => Promise<Value>,
): Promise<Value> {
  const model = await startModelServer();
  const agent = new AcpProcess(environmentOf(model));
  await agent.initialize();
  try {
    return await work(agent, model, await agent.newSession());
  } finally {
    await agent.stop();
    await model.stop();
  }
}
