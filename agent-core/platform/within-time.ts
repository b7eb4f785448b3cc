/** Time limit for synchronous work on foreign input: a pattern or a schema of others may need hours for a short text. */
import { type Context, createContext, Script } from "node:vm";

const script = new Script("work()");
let context: Context | undefined;

/** Runs of work whose thread got too little of the processor, because the machine is busy. */
const MAX_RUNS = 10;

/**
 * Result of the work; undefined when it needs more than `limitMs` of the processor. Work may run again, so it has no
 * effects. The timer costs 0.3 ms, so cheap work does not belong here.
 */
export function withinTime<Value>(limitMs: number, work: () => Value): { readonly value: Value } | undefined {
  for (let runs = 0; runs < MAX_RUNS; runs += 1) {
    const start = processorMs();
    const result = runOnce(limitMs, work);
    if (result !== undefined || processorMs() - start >= limitMs / 2) return result;
  }
  return undefined;
}

function runOnce<Value>(limitMs: number, work: () => Value): { readonly value: Value } | undefined {
  const slot = context ?? createContext({});
  context = slot;
  let result: { readonly value: Value } | undefined;
  slot["work"] = () => {
    result = { value: work() };
  };
  try {
    script.runInContext(slot, { timeout: limitMs });
  } catch (error) {
    if (Object(error).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error; // an Error of the script's own realm
  } finally {
    slot["work"] = undefined;
  }
  return result;
}

/** Time on the processor of this thread, in milliseconds; of all threads before Node 23.9. */
function processorMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage).call(process);
  return (user + system) / 1_000;
}
