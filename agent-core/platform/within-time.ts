/** Time limit for synchronous work on foreign input: a pattern or a schema of others may need hours for a short text. */
import { type Context, createContext, Script } from "node:vm";

const script = new Script("work()");
let context: Context | undefined;

/** Result of the work; undefined when it needs longer. The timer costs 0.3 ms, so cheap work does not belong here. */
export function withinTime<Value>(limitMs: number, work: () => Value): { readonly value: Value } | undefined {
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
