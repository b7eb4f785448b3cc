/** What the measurements share: rows, medians, an agent with a model server. */
import { AcpProcess } from "../support/acp-process.ts";
import { type ModelServer, startModelServer } from "../support/model-server/model-server.ts";

export type Row = {
  readonly what: string;
  readonly ours: number;
  readonly floor?: number;
  /** What the floor was where the target was measured: on a slower machine the ratio of the two is what counts. */
  readonly targetFloor?: number;
  /** At most; figures from the project's targets. */
  readonly target: number;
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

export async function withAgent<Value>(
  work: (agent: AcpProcess, model: ModelServer, sessionId: string) => Promise<Value>,
): Promise<Value> {
  const model = await startModelServer();
  const agent = new AcpProcess({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "bench",
    HERMES_API_KEY: "sk-bench-123456",
  });
  await agent.initialize();
  try {
    return await work(agent, model, await agent.newSession());
  } finally {
    await agent.stop();
    await model.stop();
  }
}
